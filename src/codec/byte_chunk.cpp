#include "byte_chunk.hpp"

#include <bit>

#include "byte_scan.hpp"

namespace posy::codec {
namespace {

constexpr std::uint32_t no_word = 2 * state_floor;  // where a lane begins that carries none

class bit_writer {
  public:
    explicit bit_writer(std::vector<std::byte>& to) : to_(to) {}
    ~bit_writer() {
        if (held_ > 0) to_.push_back(static_cast<std::byte>(bits_));
    }
    void put(std::uint64_t value, unsigned width) {
        bits_ |= value << held_;
        for (held_ += width; held_ >= 8; held_ -= 8, bits_ >>= 8)
            to_.push_back(static_cast<std::byte>(bits_));
    }

  private:
    std::vector<std::byte>& to_;
    std::uint64_t bits_ = 0;
    unsigned held_ = 0;
};

class bit_reader {
  public:
    explicit bit_reader(byte_view from) : from_(from) {}
    // Zeros, and no longer good(), past the end.
    std::uint32_t take(unsigned width) {
        for (; held_ < width; held_ += 8) {
            if (next_ == from_.size()) return good_ = false, 0;
            bits_ |= std::to_integer<std::uint64_t>(from_[next_++]) << held_;
        }
        const auto value = static_cast<std::uint32_t>(bits_ & ((std::uint64_t{1} << width) - 1));
        bits_ >>= width;
        held_ -= width;
        return value;
    }
    bool good() const { return good_ && bits_ == 0; }  // at the end: nothing but zeros in the last byte
    byte_view rest() const { return from_.subspan(next_); }

  private:
    byte_view from_;
    std::size_t next_ = 0;
    std::uint64_t bits_ = 0;
    unsigned held_ = 0;
    bool good_ = true;
};

}  // namespace

std::uint8_t* byte_coder::scratch::at_least(std::size_t bytes) {
    if (size < bytes) {
        memory = std::make_unique_for_overwrite<std::uint8_t[]>(bytes);
        size = bytes;
    }
    return memory.get();
}

byte_coder::byte_coder(const byte_model& model, unsigned lanes, base::instruction_set instructions)
    : model_(model),
      tables_(model),
      side_(model_),
      kernel_(rans_kernel_for(instructions, tables_)),
      lanes_(lanes),
      instructions_(instructions) {}

void byte_coder::encode(std::span<const std::uint8_t> bytes, std::vector<std::byte>& out,
                        scratch& spare) const {
    // Room for the words (at most 12 bits per byte, and what SIMD stores write beyond them); the escaped
    // bytes before that.
    const std::size_t room = bytes.size() / 2 * 3 + 4 * many_lanes + 128;
    std::uint8_t* const memory = spare.at_least(room);
    const std::size_t escaped = collect(instructions_, bytes, model_.escaped, memory);
    encode_side(model_, {memory, escaped}, spare.side);

    std::array<std::uint32_t, many_lanes> states;
    std::size_t carried = 0;
    for (unsigned j = 0; j < lanes_; ++j)
        states[j] = carried < spare.side.size() ? state_floor | spare.side[carried++] : no_word;
    auto* const end = reinterpret_cast<std::byte*>(memory + room);
    std::byte* words = end;
    const std::size_t blocks = lanes_ == many_lanes ? bytes.size() / (2 * many_lanes) : 0;
    encode_scalar(tables_, bytes.data(), bytes.size(), blocks, lanes_, states.data(), words);
    kernel_.encode(tables_, bytes.data(), blocks, states.data(), words);

    {
        bit_writer bits(out);
        for (unsigned j = 0; j < lanes_; ++j) {
            const auto e = static_cast<unsigned>(std::bit_width(states[j])) - 17;
            bits.put(e, 4);
            bits.put(states[j] - (state_floor << e), 16 + e);
        }
    }
    out.insert(out.end(), words, end);
    const std::size_t at = out.size();
    out.resize(at + 2 * (spare.side.size() - carried));
    for (std::size_t i = carried; i < spare.side.size(); ++i)
        store_little(out.data() + at + 2 * (i - carried), spare.side[i]);
}

const char* byte_coder::decode(byte_view chunk, std::span<std::uint8_t> bytes, scratch& spare) const {
    bit_reader bits(chunk);
    std::array<std::uint32_t, many_lanes> states;
    for (unsigned j = 0; j < lanes_; ++j) {
        const unsigned e = bits.take(4);
        states[j] = state_floor << e | bits.take(16 + e);
    }
    if (!bits.good()) return "the states of the coder are cut off or damaged";
    const byte_view coded = bits.rest();
    const std::byte *words = coded.data(), *const end = words + coded.size();
    const std::size_t blocks = lanes_ == many_lanes ? bytes.size() / (2 * many_lanes) : 0;
    const std::size_t done = kernel_.decode(tables_, bytes.data(), blocks, states.data(), words, end);
    if (!decode_scalar(tables_, bytes.data(), bytes.size(), done, lanes_, states.data(), words, end))
        return "the chunk is cut off or damaged";

    spare.side.clear();
    bool more = true;
    for (unsigned j = 0; j < lanes_; ++j) {
        const bool carries = more && states[j] >> 16 == 1;
        if (!carries && states[j] != no_word)
            return "the chunk is damaged: the coder did not end where it began";
        if (carries) spare.side.push_back(static_cast<std::uint16_t>(states[j]));
        more = carries;
    }
    if ((end - words) % 2 != 0 || (!more && words != end)) return "the chunk is too long";
    for (; words != end; words += 2) spare.side.push_back(load_little<std::uint16_t>(words));

    const std::size_t escaped = count_equal(instructions_, bytes, model_.marker);
    std::uint8_t* const memory = spare.at_least(escaped + 64);
    if (!side_.decode(spare.side, {memory, escaped})) return "the chunk's rare bytes are damaged";
    replace_equal(instructions_, bytes, model_.marker, memory);
    return nullptr;
}

}  // namespace posy::codec
