#include "codec/rice_blocks.hpp"

#include <algorithm>
#include <bit>
#include <string>

#include "base/varint.hpp"
#include "posy/base/wide.hpp"
#include "posy/geometry.hpp"

namespace posy::codec {
namespace {

using base::u128;

constexpr unsigned min_block_log2 = 6, max_block_log2 = 40;
constexpr unsigned max_remainder_bits = 40;
constexpr unsigned max_ones_width = 41;
constexpr unsigned step = 56;  // unary bits looked at together: no more ones than a plane's load has bits

// A block has this many ones or up to twice as many, on average.
constexpr std::uint64_t ones_per_block = 640;

constexpr std::uint64_t ceil_shift(std::uint64_t n, unsigned log2) {
    return (n >> log2) + (low_bits(n, log2) != 0);
}

// The best remainder size of Rice's code for gaps that are geometric with q = 1 − ones / bits: a remainder of
// r bits costs r + 1 / (1 − Q) bits per gap, Q = q^(2^r), so one bit more pays exactly while Q > (√5 − 1) /
// 2.
unsigned best_remainder_bits(std::uint64_t bits, std::uint64_t ones) {
    if (ones == 0) return 1;
    constexpr std::uint64_t golden = 0x9e3779b97f4a7c15;  // 2^64 (√5 − 1) / 2
    auto q = static_cast<std::uint64_t>((u128{bits - ones} << 64) / bits);
    unsigned r = 0;
    for (; q > golden && r < max_remainder_bits; ++r) q = base::scale(q, q);
    return r;
}

unsigned best_block_log2(bit_view in, unsigned remainder_bits) {
    const auto all = std::max(width_of(in.bits - 1), min_block_log2);
    if (remainder_bits == 0 || in.ones == 0) return all;
    unsigned log2 = min_block_log2;
    while (log2 < all && (u128{in.ones} << log2) < u128{ones_per_block} * in.bits) ++log2;
    return log2;
}

}  // namespace

std::vector<std::byte> encode_rice_blocks(bit_view in) {
    const unsigned r = best_remainder_bits(in.bits, in.ones);
    const unsigned block_log2 = best_block_log2(in, r);
    const std::uint64_t blocks = ceil_shift(in.bits, block_log2);
    const std::uint64_t block_words = std::uint64_t{1} << block_log2 >> 6;

    std::vector<std::byte> payload;
    payload.reserve(bytes_of(in.ones * (r + 2)) + in.bits / 8 / (std::uint64_t{1} << r) + load_slack);
    bit_writer out(payload);
    std::vector<std::uint64_t> offsets, counts, gaps;
    for (std::uint64_t b = 0; b < blocks; ++b) {
        const std::uint64_t first_word = b * block_words;
        const auto words =
            in.words.subspan(first_word, std::min<std::uint64_t>(block_words, in.words.size() - first_word));
        gaps.clear();
        std::uint64_t next = 0;
        each_one(words, 0, [&](std::uint64_t position) {
            gaps.push_back(position - next);
            next = position + 1;
        });
        offsets.push_back(out.bits());
        counts.push_back(gaps.size());
        for (unsigned plane = 0; plane < r; ++plane) {
            for (std::size_t i = 0; i < gaps.size(); i += 32) {
                std::uint64_t piece = 0;
                const auto size = std::min<std::size_t>(32, gaps.size() - i);
                for (std::size_t j = 0; j < size; ++j) piece |= (gaps[i + j] >> plane & 1) << j;
                out.put(piece, static_cast<unsigned>(size));
            }
        }
        for (const std::uint64_t gap : gaps) {
            const std::uint64_t quotient = gap >> r;
            if (quotient < step) {
                out.put(std::uint64_t{1} << quotient, static_cast<unsigned>(quotient) + 1);
            } else {
                out.put_zeros(quotient);
                out.put(1, 1);
            }
        }
    }
    out.finish();

    const auto [least, most] = std::ranges::minmax(counts);
    const unsigned ones_width = width_of(most - least);
    std::vector<std::byte> bytes;
    for (const unsigned field : {block_log2, r, ones_width}) bytes.push_back(static_cast<std::byte>(field));
    for (const std::uint64_t number : {in.ones, least, out.bits()}) base::put_varint(bytes, number);
    line_table::encode(offsets, out.bits(), bytes);
    bit_writer ones(bytes);
    for (const std::uint64_t count : counts) ones.put(count - least, ones_width);
    ones.finish();
    bytes.insert(bytes.end(), payload.begin(), payload.end());
    bytes.resize(bytes.size() + load_slack);
    return bytes;
}

[[gnu::always_inline]] inline rice_blocks::block rice_blocks::find(std::uint64_t number) const {
    return {offsets_[number], least_ + number_at(counts_, number * ones_width_, ones_width_)};
}

// Are the planes, and at least one unary bit per one, inside the payload? No product overflows: ones < 2^42.
[[gnu::always_inline]] inline bool rice_blocks::fits(block b) const {
    return b.first <= payload_bits_ && b.ones * (remainder_bits_ + 1u) <= payload_bits_ - b.first;
}

result<rice_blocks> rice_blocks::open(byte_view bytes, std::uint64_t bits, base::instruction_set set) {
    if (bits == 0 || bits > max_bits) return error::damaged("an array of " + std::to_string(bits) + " bits");
    byte_view rest = bytes;
    const auto wrong = [&](const char* what) {
        return error::damaged(std::string(what) + "; the message is damaged or from another program",
                              bytes.size() - rest.size());
    };
    rice_blocks it;
    it.bits_ = bits;
    if (rest.size() < 3) return wrong("coded bits that end in their header");
    it.block_log2_ = std::to_integer<std::uint8_t>(rest[0]);
    it.remainder_bits_ = std::to_integer<std::uint8_t>(rest[1]);
    it.ones_width_ = std::to_integer<std::uint8_t>(rest[2]);
    if (it.block_log2_ < min_block_log2 || it.block_log2_ > max_block_log2 ||
        it.remainder_bits_ > max_remainder_bits || it.ones_width_ > max_ones_width) {
        return wrong("an impossible block size or width");
    }
    it.blocks_ = ceil_shift(bits, it.block_log2_);
    if (it.remainder_bits_ == 0 && it.blocks_ != 1) return wrong("plain bits in more than one block");
    rest = rest.subspan(3);
    for (std::uint64_t* number : {&it.ones_, &it.least_, &it.payload_bits_}) {
        const auto taken = base::take_varint(rest);
        if (!taken) return wrong("a number that is cut off or not in its shortest form");
        *number = *taken;
    }
    if (it.ones_ > bits || it.least_ > bits) return wrong("more ones than bits");
    if (it.payload_bits_ / 8 > bytes.size()) return wrong("coded bits that are cut off");
    // A block that our encoder writes has hundreds of ones. With more blocks than bytes, going through the
    // directory would take longer than reading the bytes.
    if (it.blocks_ > bytes.size()) return wrong("more blocks than bytes");
    const auto offsets = line_table::take(rest, it.blocks_);
    if (!offsets) return wrong("a directory that is cut off or malformed");
    it.offsets_ = *offsets;
    const std::uint64_t counts_bits = it.blocks_ * it.ones_width_;
    const std::uint64_t payload_from = bytes_of(counts_bits);
    const std::uint64_t payload_end = payload_from + bytes_of(it.payload_bits_);
    if (rest.size() != payload_end + load_slack) return wrong("coded bits of another size than they say");
    it.counts_ = rest.data();
    it.payload_ = rest.data() + payload_from;
    if (!ends_in_zeros(it.counts_, counts_bits) || !ends_in_zeros(it.payload_, it.payload_bits_) ||
        load_little<std::uint64_t>(rest.data() + payload_end) != 0) {
        return wrong("padding that is not zero");
    }
    if (const char* what = it.fault_of_directory()) return wrong(what);
    it.lookup_ = lookup_for(it.remainder_bits_, set);
    return it;
}

// What is wrong with it: blocks have to come in order, with the number of their ones.
const char* rice_blocks::fault_of_directory() const {
    std::uint64_t ones = 0;
    block here = find(0);
    if (here.first != 0) return "a first block that does not come first";
    for (std::uint64_t b = 0; b < blocks_; ++b) {
        const block next = b + 1 < blocks_ ? find(b + 1) : block{payload_bits_, 0};
        if (!fits(here) || next.first < here.first || here.ones > end_of(b) - (b << block_log2_) ||
            here.ones * (remainder_bits_ + 1u) > next.first - here.first) {
            return "a directory whose blocks overlap";
        }
        ones += here.ones;
        here = next;
    }
    return ones == ones_ ? nullptr : "blocks that do not have as many ones as the whole";
}

std::uint64_t rice_blocks::end_of(std::uint64_t number) const {
    return std::min(bits_, (number + 1) << block_log2_);
}

void rice_blocks::prefetch(std::uint64_t position) const {
    if (remainder_bits_ == 0) {
        __builtin_prefetch(payload_ + std::min(position, payload_bits_) / 8);
        return;
    }
    const block b = find(position >> block_log2_);
    if (!fits(b)) return;
    constexpr std::uint64_t line = 64, most_lines = 16;
    const std::byte* from = payload_ + b.first / 8;
    const std::uint64_t size = std::min(bytes_of(b.ones * (remainder_bits_ + 1u)), line * most_lines);
    for (std::uint64_t at = 0; at <= size; at += line) __builtin_prefetch(from + at);
}

result<void> rice_blocks::unpack(bit_room room) const {
    const auto wrong = [](const char* what) {
        return error::damaged(std::string(what) + "; the message is damaged or from another program");
    };
    const unsigned r = remainder_bits_;
    for (std::uint64_t b = 0; b < blocks_; ++b) {
        const block here = find(b);
        const std::uint64_t unary_end = b + 1 < blocks_ ? offsets_[b + 1] : payload_bits_;
        const std::uint64_t end = end_of(b);
        if (!fits(here) || unary_end > payload_bits_) return wrong("a directory that changed");
        std::uint64_t unary = here.first + r * here.ones;
        std::uint64_t position = b << block_log2_;
        for (std::uint64_t i = 0; i < here.ones; ++i) {
            std::uint64_t quotient = 0, ahead = 0;
            while (unary < unary_end && (ahead = low_bits(bits_at(payload_, unary), step)) == 0) {
                quotient += step;
                unary += step;
            }
            const auto zeros = ahead == 0 ? 0u : static_cast<unsigned>(std::countr_zero(ahead));
            quotient += zeros;
            unary += zeros + 1;
            if (unary > unary_end || quotient > (end - position) >> r) return wrong("a gap beyond its block");
            position += quotient << r;
            for (unsigned plane = 0; plane < r; ++plane) {
                position += (bits_at(payload_, here.first + plane * here.ones + i) & 1) << plane;
            }
            if (position >= end) return wrong("a gap beyond its block");
            room.words[position / 64] |= std::uint64_t{1} << position % 64;
            ++position;
        }
        if (unary != unary_end) return wrong("bits left over in a block");
    }
    return {};
}

// ---- Looking up
// ---------------------------------------------------------------------------------------------
//
// Up to any unary bit, the gaps (each with the one that ends it) add up to
//
//     zeros · 2^r + ones + Σ_j 2^j · (ones among the first `ones` bits of plane j)
//
// which is r + 2 popcounts for as many gaps as there are in 56 unary bits, about 25. So a lookup walks over
// steps of 56 bits until the sum passes the position, and halves the last step with the same formula. Bits
// after the block's own unary part are read as further gaps; they come after all true ones and are recognised
// by their number.
//
// R is the remainder size as a constant, so that the planes stay in registers; 0 reads it from the object.

struct rice_blocks::kernels {
    // Distance covered by the `width` unary bits of `unary`, whose ones own the first bits of the planes.
    template <class Planes>
    [[gnu::always_inline]] static std::uint64_t covered(std::uint64_t unary, unsigned width, unsigned r,
                                                        const Planes& planes) {
        const auto ones = static_cast<unsigned>(std::popcount(unary));
        std::uint64_t sum = (std::uint64_t{width - ones} << r) + ones;
#pragma GCC unroll 8
        for (unsigned j = 0; j < r; ++j) {
            sum += static_cast<std::uint64_t>(std::popcount(low_bits(planes[j], ones))) << j;
        }
        return sum;
    }

    template <unsigned R>
    [[gnu::always_inline]] static bool find_gap(const rice_blocks& in, std::uint64_t position) {
        const unsigned r = R != 0 ? R : in.remainder_bits_;
        const block b = in.find(position >> in.block_log2_);
        if (b.ones == 0 || !in.fits(b)) return false;
        std::uint64_t left = low_bits(position, in.block_log2_);
        std::uint64_t unary_at = b.first + r * b.ones;
        std::uint64_t index = 0;  // of the first gap that has not ended yet
        std::uint64_t unary;
        std::array<std::uint64_t, R != 0 ? R : max_remainder_bits> planes;
        const auto load = [&] [[gnu::always_inline]] (std::uint64_t at, std::uint64_t gap) {
            unary = low_bits(bits_at(in.payload_, at), step);
#pragma GCC unroll 8
            for (unsigned j = 0; j < r; ++j) planes[j] = bits_at(in.payload_, b.first + j * b.ones + gap);
        };
        for (;;) {
            if (index >= b.ones || unary_at >= in.payload_bits_) return false;
            load(unary_at, index);
            const std::uint64_t sum = covered(unary, step, r, planes);
            if (left < sum) break;
            left -= sum;
            index += static_cast<unsigned>(std::popcount(unary));
            unary_at += step;
        }
#pragma GCC unroll 6
        for (unsigned half = 32; half != 0; half /= 2) {
            const std::uint64_t lower = low_bits(unary, half);
            const std::uint64_t sum = covered(lower, half, r, planes);
            const std::uint64_t skip =
                0 - std::uint64_t{left >= sum};  // a mask: a branch would be a coin toss
            const std::uint64_t ones = static_cast<std::uint64_t>(std::popcount(lower)) & skip;
            left -= sum & skip;
            unary >>= half & skip;
#pragma GCC unroll 8
            for (unsigned j = 0; j < r; ++j) planes[j] >>= ones;
            index += ones;
        }
        // One unary bit is left, and the position lies in what it covers.
        std::uint64_t remainder = 0;
#pragma GCC unroll 8
        for (unsigned j = 0; j < r; ++j) remainder += (planes[j] & 1) << j;
        return (unary & 1) != 0 && left == remainder && index < b.ones;
    }

    static bool plain(const rice_blocks& in, std::uint64_t position) {
        return position < in.payload_bits_ && (bits_at(in.payload_, position) & 1) != 0;
    }
    static bool portable(const rice_blocks& in, std::uint64_t position) { return find_gap<0>(in, position); }
    template <unsigned R>
    POSY_BMI2 static bool bmi2(const rice_blocks& in, std::uint64_t position) {
        return find_gap<R>(in, position);
    }
};

rice_blocks::lookup* rice_blocks::lookup_for(unsigned remainder_bits, base::instruction_set set) {
    if (remainder_bits == 0) return kernels::plain;
    if (!bmi2_among(set)) return kernels::portable;
    constexpr std::array<lookup*, 9> table{kernels::bmi2<0>, kernels::bmi2<1>, kernels::bmi2<2>,
                                           kernels::bmi2<3>, kernels::bmi2<4>, kernels::bmi2<5>,
                                           kernels::bmi2<6>, kernels::bmi2<7>, kernels::bmi2<8>};
    return table[remainder_bits < table.size() ? remainder_bits : 0];
}

}  // namespace posy::codec
