#include "choose.hpp"

#include "bytes.hpp"
#include "gaps.hpp"

#include <algorithm>
#include <array>

#include "base/machine.hpp"

namespace posy {
namespace {

constexpr std::array names{
    std::pair{codec_id::raw, std::string_view("raw")},
    std::pair{codec_id::adaptive, std::string_view("adaptive")},
    std::pair{codec_id::range, std::string_view("range")},
    std::pair{codec_id::bytes, std::string_view("bytes")},
    std::pair{codec_id::gaps, std::string_view("gaps")},
    std::pair{codec_id::counters, std::string_view("counters")},
};

}  // namespace

std::string_view name_of(codec_id id) {
    const auto* found = std::ranges::find(names, id, [](const auto& entry) { return entry.first; });
    return found == names.end() ? "unknown" : found->second;
}

std::optional<codec_id> codec_named(std::string_view name) {
    const auto* found = std::ranges::find(names, name, [](const auto& entry) { return entry.second; });
    if (found == names.end()) return std::nullopt;
    return found->first;
}

namespace codec {
namespace {

// Up to here the bit-by-bit coder takes no more than a tenth of a second, and its few bytes less count.
constexpr std::uint64_t small_array = std::uint64_t{1} << 23;
// Below this density of ones, or of zeros, gaps are few, and the coder of bytes has little to do but escape.
constexpr double sparse = 0.01;

// All cores, where there is enough for them to do; the bytes are the same.
how run_for(std::uint64_t bits) { return {.threads = bits < small_array ? 1 : base::usable_cores()}; }

}  // namespace

codec_id choose(bit_view in, coding want) {
    if (want == coding::raw) return codec_id::raw;
    if (want == coding::smallest && in.bits <= small_array) return codec_id::range;
    const std::uint64_t rarer = std::min(in.ones, in.bits - in.ones);
    return static_cast<double>(rarer) < sparse * static_cast<double>(in.bits) ? codec_id::gaps
                                                                              : codec_id::bytes;
}

void encode(codec_id id, bit_view bits, std::vector<std::byte>& out) {
    switch (id) {
        case codec_id::adaptive:
            return encode_adaptive(bits, out);
        case codec_id::bytes:
            return encode_bytes(bits, out, run_for(bits.bits));
        case codec_id::gaps:
            return encode_gaps(bits, out, run_for(bits.bits));
        default:
            return encode_range(bits, out);
    }
}

result<void> decode(codec_id id, byte_view in, bit_room out) {
    switch (id) {
        case codec_id::adaptive:
            return decode_adaptive(in, out);
        case codec_id::bytes:
            return decode_bytes(in, out, run_for(out.bits));
        case codec_id::gaps:
            return decode_gaps(in, out, run_for(out.bits));
        default:
            return decode_range(in, out);
    }
}

}  // namespace codec
}  // namespace posy
