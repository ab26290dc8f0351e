#include "choose.hpp"

#include <algorithm>
#include <array>
#include <string>

#include "base/varint.hpp"
#include "bytes.hpp"
#include "gaps.hpp"
#include "posy/base/machine.hpp"

namespace posy {
namespace codec {
namespace {

// Below this density of ones, or of zeros, there are few gaps. The coder of bytes would mostly code escapes,
// and the bit-by-bit coder would spend its time on bits that carry almost no information.
constexpr double sparse = 0.01;

constexpr std::uint64_t slow_bits_per_byte = 128, fast_bytes_per_byte = 128, ones_per_byte = 64;

// All cores, where there is enough for them to do; the bytes are the same.
base::how run_for(std::uint64_t bits) {
    constexpr std::uint64_t enough = std::uint64_t{1} << 23;
    return {.threads = bits < enough ? 1 : base::usable_cores()};
}

}  // namespace

result<void> check_work(codec_id id, byte_view coded, std::uint64_t array_bits, const allowance& free) {
    const std::uint64_t size = coded.size();
    const auto beyond = [&](std::uint64_t most) {
        return error::too_large(std::string(name_of(id)) + " coding of " + std::to_string(array_bits) +
                                    " bits in " + std::to_string(size) +
                                    " bytes, where a reader takes at most " + std::to_string(most) +
                                    "; code the array in another way",
                                0);
    };
    switch (id) {
        case codec_id::raw:
            return {};
        case codec_id::adaptive:
        case codec_id::range: {
            const std::uint64_t most = std::min(slow_array, free.slow_bits + slow_bits_per_byte * size);
            if (array_bits > most) return beyond(most);
            return {};
        }
        case codec_id::bytes:
        case codec_id::counters: {
            byte_view rest = coded;
            if (base::take_varint(rest) && rest.empty()) return {};  // all are alike: nothing to decode
            const std::uint64_t most = 8 * (free.fast_bytes + fast_bytes_per_byte * size);
            if (array_bits > most) return beyond(most);
            if (!free.small_tables && array_bits <= slow_array) return beyond(0);
            return {};
        }
        case codec_id::gaps: {
            const std::uint64_t ones = base::take_varint(coded).value_or(0);
            const std::uint64_t rarer = std::min(ones, array_bits - std::min(ones, array_bits));
            if (rarer > free.ones + ones_per_byte * size) {
                return error::too_large("gaps between " + std::to_string(rarer) + " bits in " +
                                            std::to_string(size) + " bytes; code the array in another way",
                                        0);
            }
            return {};
        }
    }
    return error::unsupported("an unknown codec", 0);
}

codec_id choose(bit_view in, coding want) {
    if (want == coding::raw) return codec_id::raw;
    const auto rarer = static_cast<double>(std::min(in.ones, in.bits - in.ones));
    const bool few = rarer < sparse * static_cast<double>(in.bits);
    if (want == coding::smallest && in.bits <= (few ? for_part.slow_bits : slow_array))
        return codec_id::range;
    return few ? codec_id::gaps : codec_id::bytes;
}

codec_id encode_for_reader(bit_view bits, coding want, std::optional<codec_id> asked, const allowance& free,
                           std::uint64_t padding, std::vector<std::byte>& out) {
    if (asked == codec_id::counters) asked = choose(bits, coding::smallest);  // these are none
    const codec_id id = asked.value_or(choose(bits, want));
    if (id == codec_id::raw) return id;
    const std::size_t before = out.size();
    const bool slow = id == codec_id::adaptive || id == codec_id::range;
    bool taken = !slow || bits.bits <= slow_array;  // do not start a coding that no reader accepts
    if (taken) {
        encode(id, bits, out);
        const auto coded = byte_view(out).subspan(before);
        taken = check_work(id, coded, bits.bits, free).ok();
        if (taken && coded.size() < bits.words.size_bytes() + padding) return id;
        out.resize(before);
    }
    // The codec asked for may not be acceptable to readers here; the writer's own choice may be.
    return asked && !taken ? encode_for_reader(bits, coding::smallest, std::nullopt, free, padding, out)
                           : codec_id::raw;
}

void encode(codec_id id, bit_view bits, std::vector<std::byte>& out) {
    switch (id) {
        case codec_id::adaptive:
            return encode_adaptive(bits, out);
        case codec_id::bytes:
            return encode_bytes(bits, out, run_for(bits.bits));
        case codec_id::gaps:
            return encode_gaps(bits, out, run_for(bits.bits));
        case codec_id::range:
            return encode_range(bits, out);
        case codec_id::raw:
        case codec_id::counters:
            break;
    }
    __builtin_unreachable();
}

result<void> decode(codec_id id, byte_view in, bit_room out) {
    switch (id) {
        case codec_id::adaptive:
            return decode_adaptive(in, out);
        case codec_id::bytes:
            return decode_bytes(in, out, run_for(out.bits));
        case codec_id::gaps:
            return decode_gaps(in, out, run_for(out.bits));
        case codec_id::range:
            return decode_range(in, out);
        case codec_id::raw:
        case codec_id::counters:
            break;
    }
    __builtin_unreachable();
}

}  // namespace codec
}  // namespace posy
