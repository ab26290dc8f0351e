#include "nested.hpp"

#include "bits/array_memory.hpp"
#include "choose.hpp"

namespace posy::codec {
namespace {

std::vector<std::byte> raw_bytes(const bit_array& bits) {
    std::vector<std::byte> bytes(bits.words().size() * 8);
    for (std::size_t i = 0; i < bits.words().size(); ++i) store_little(&bytes[8 * i], bits.words()[i]);
    return bytes;
}

result<void> read_raw(byte_view in, bit_room out) {
    if (in.size() != out.words.size() * 8) {
        return error::damaged(std::to_string(in.size()) + " bytes for " + std::to_string(out.words.size()) +
                                  " words; the bytes are damaged",
                              0);
    }
    for (std::size_t i = 0; i < out.words.size(); ++i) out.words[i] = load_little<std::uint64_t>(&in[8 * i]);
    if (const std::uint64_t used = out.bits % 64; used != 0 && out.words.back() >> used != 0)
        return error::damaged("bits are set past the end of the array; the bytes are damaged", in.size() - 1);
    return {};
}

}  // namespace

void append_bits(const bit_array& bits, std::vector<std::byte>& out) {
    const bit_view view{bits.words(), bits.size(), bits.ones()};
    std::vector<std::byte> coded;
    const codec_id id = encode_for_reader(view, coding::smallest, std::nullopt, for_part, 0, coded);
    if (id == codec_id::raw) coded = raw_bytes(bits);
    out.push_back(static_cast<std::byte>(id));
    base::put_varint(out, coded.size());
    out.insert(out.end(), coded.begin(), coded.end());
}

result<bit_array> take_bits(base::reader& in, std::uint64_t bits, std::uint64_t max_bytes) {
    const std::uint64_t memory = bits::array_memory(bits);
    if (memory > max_bytes) in.fail_above_limit("an array", memory, max_bytes);
    const auto id = static_cast<codec_id>(in.byte());
    if (!is_member(id)) in.fail_unsupported("an unknown codec");
    if (id > codec_id::gaps || id == codec_id::adaptive)
        in.fail("a codec that is not for parts of a message");
    const byte_view coded = in.take(in.varint(bit_array::word_count(bits) * 8));
    if (in.wrong()) return *in.wrong();
    if (auto fair = check_work(id, coded, bits, for_part); !fair)
        return in.fail_inside(fair.error()), *in.wrong();
    auto array = bit_array::make(bits);
    if (!array) return array;
    const bit_room room{array->words(), bits};
    if (auto done = id == codec_id::raw ? read_raw(coded, room) : decode(id, coded, room); !done)
        return in.fail_inside(done.error()), *in.wrong();
    return array;
}

}  // namespace posy::codec
