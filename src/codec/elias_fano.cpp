#include "codec/elias_fano.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <string>

#include "base/varint.hpp"
#include "posy/base/wide.hpp"
#include "posy/geometry.hpp"

namespace posy::codec {
namespace {

using base::u128;

constexpr unsigned max_low_bits = 40, max_block_log2 = 40;
constexpr unsigned step = 56;  // bits of the highs that are looked at together

// A block has about this many ones, or up to twice as many.
constexpr std::uint64_t ones_per_block = 80;

// The size of the lows that makes highs and lows the smallest; 0, plain bits, when that gains no more than
// the directory costs.
unsigned best_low_bits(std::uint64_t bits, std::uint64_t ones) {
    const auto size = [&](unsigned low) {
        return low == 0 ? u128{bits - bits / 32} : u128{ones} * (low + 1) + ((bits - 1) >> low) + 1;
    };
    unsigned best = 0;
    for (unsigned low = 1; low <= max_low_bits; ++low) {
        if (size(low) < size(best)) best = low;
    }
    return best;
}

}  // namespace

std::vector<std::byte> encode_elias_fano(bit_view in) {
    const unsigned low = best_low_bits(in.bits, in.ones);
    std::vector<std::byte> bytes;
    if (low == 0) {
        bytes.assign(2, std::byte{0});
        base::put_varint(bytes, in.ones);
        bit_writer plain(bytes);
        for (std::uint64_t i = 0; i < in.bits; i += 32) {
            const auto size = static_cast<unsigned>(std::min<std::uint64_t>(32, in.bits - i));
            plain.put(low_bits(in.words[i / 64] >> i % 64, size), size);
        }
        plain.finish();
        bytes.resize(bytes.size() + load_slack);
        return bytes;
    }
    const std::uint64_t buckets = ((in.bits - 1) >> low) + 1;
    unsigned block_log2 = 0;
    while (block_log2 < max_block_log2 && buckets > std::uint64_t{1} << block_log2 &&
           (u128{in.ones} << block_log2) < u128{ones_per_block} * buckets) {
        ++block_log2;
    }
    std::vector<std::byte> highs, lows;
    highs.reserve(bytes_of(in.ones + buckets));
    lows.reserve(bytes_of(in.ones * low));
    bit_writer high_out(highs), low_out(lows);
    std::vector<std::uint64_t> ranks;
    std::uint64_t bucket = 0, rank = 0;
    const auto close_buckets = [&](std::uint64_t up_to) {  // each with a zero; a block starts at its first
        while (bucket < up_to) {
            const std::uint64_t next_block = ((bucket >> block_log2) + 1) << block_log2;
            if (low_bits(bucket, block_log2) == 0 && ranks.size() == bucket >> block_log2)
                ranks.push_back(rank);
            const std::uint64_t to = std::min(next_block, up_to);
            high_out.put_zeros(to - bucket);
            bucket = to;
        }
        if (low_bits(bucket, block_log2) == 0 && ranks.size() == bucket >> block_log2 && bucket < buckets) {
            ranks.push_back(rank);
        }
    };
    close_buckets(0);
    each_one(in.words, 0, [&](std::uint64_t position) {
        if (position >> low != bucket) close_buckets(position >> low);
        high_out.put(1, 1);
        low_out.put(low_bits(position, low), low);
        ++rank;
    });
    close_buckets(buckets);
    high_out.finish();
    low_out.finish();

    bytes.push_back(static_cast<std::byte>(low));
    bytes.push_back(static_cast<std::byte>(block_log2));
    base::put_varint(bytes, in.ones);
    line_table::encode(ranks, in.ones, bytes);
    bytes.insert(bytes.end(), highs.begin(), highs.end());
    bytes.insert(bytes.end(), lows.begin(), lows.end());
    bytes.resize(bytes.size() + load_slack);
    return bytes;
}

result<elias_fano> elias_fano::open(byte_view bytes, std::uint64_t bits, base::instruction_set set) {
    if (bits == 0 || bits > max_bits) return error::damaged("an array of " + std::to_string(bits) + " bits");
    byte_view rest = bytes;
    const auto wrong = [&](const char* what) {
        return error::damaged(std::string(what) + "; the message is damaged or from another program",
                              bytes.size() - rest.size());
    };
    elias_fano it;
    it.bits_ = bits;
    if (rest.size() < 2) return wrong("coded bits that end in their header");
    it.low_bits_ = std::to_integer<std::uint8_t>(rest[0]);
    it.block_log2_ = std::to_integer<std::uint8_t>(rest[1]);
    if (it.low_bits_ > max_low_bits || it.block_log2_ > (it.low_bits_ == 0 ? 0 : max_block_log2)) {
        return wrong("an impossible block size or width");
    }
    rest = rest.subspan(2);
    const auto ones = base::take_varint(rest);
    if (!ones) return wrong("a number that is cut off or not in its shortest form");
    if (*ones > bits) return wrong("more ones than bits");
    it.ones_ = *ones;
    it.highs_bits_ = it.low_bits_ == 0 ? bits : it.ones_ + it.buckets();
    const std::uint64_t blocks = ((it.buckets() - 1) >> it.block_log2_) + 1;
    if (it.low_bits_ != 0) {
        // A block that our encoder writes has dozens of ones. With more blocks than bytes, going through the
        // directory would take longer than reading the bytes.
        if (blocks > bytes.size()) return wrong("more blocks than bytes");
        const auto ranks = line_table::take(rest, blocks);
        if (!ranks) return wrong("a directory that is cut off or malformed");
        it.ranks_ = *ranks;
    }
    const std::uint64_t lows_bits = it.ones_ * it.low_bits_;
    const std::uint64_t lows_from = bytes_of(it.highs_bits_);
    const std::uint64_t end = lows_from + bytes_of(lows_bits);
    if (rest.size() != end + load_slack) return wrong("coded bits of another size than they say");
    it.highs_ = rest.data();
    it.lows_ = rest.data() + lows_from;
    if (!ends_in_zeros(it.highs_, it.highs_bits_) || !ends_in_zeros(it.lows_, lows_bits) ||
        load_little<std::uint64_t>(rest.data() + end) != 0) {
        return wrong("padding that is not zero");
    }
    if (it.low_bits_ != 0) {
        std::uint64_t before = 0;
        if (it.ranks_[0] != 0) return wrong("a directory that does not start at zero");
        for (std::uint64_t b = 1; b < blocks; ++b) {
            const std::uint64_t rank = it.ranks_[b];
            if (rank < before || rank > it.ones_) return wrong("a directory that does not grow");
            before = rank;
        }
        it.fields_ = static_cast<std::uint8_t>(max_width / it.low_bits_);
        for (unsigned i = 0; i < it.fields_; ++i) it.each_low_ |= std::uint64_t{1} << i * it.low_bits_;
    }
    it.lookup_ = choose(it.low_bits_, set);
    return it;
}

void elias_fano::prefetch(std::uint64_t position) const {
    if (low_bits_ == 0) {
        __builtin_prefetch(highs_ + position / 8);
        return;
    }
    const std::uint64_t bucket = position >> low_bits_;
    const std::uint64_t block = bucket >> block_log2_;
    const std::uint64_t rank = std::min(ranks_[block], ones_);
    const std::byte* high = highs_ + std::min(rank + (block << block_log2_), highs_bits_) / 8;
    const std::byte* low = lows_ + rank * low_bits_ / 8;
    __builtin_prefetch(high);
    __builtin_prefetch(high + 64);
    __builtin_prefetch(low);
    __builtin_prefetch(low + 64);
}

result<void> elias_fano::unpack(bit_room room) const {
    const auto wrong = [](const char* what) {
        return error::damaged(std::string(what) + "; the message is damaged or from another program");
    };
    if (low_bits_ == 0) {
        std::uint64_t ones = 0;
        for (std::uint64_t i = 0; i < bits_; i += 64) {
            auto word = load_little<std::uint64_t>(highs_ + i / 8);
            if (bits_ - i < 64) word = low_bits(word, bits_ - i);
            room.words[i / 64] = word;
            ones += static_cast<unsigned>(std::popcount(word));
        }
        if (ones != ones_) return wrong("another number of ones than the header says");
        return {};
    }
    std::uint64_t bucket = 0, rank = 0, next = 0;
    for (std::uint64_t at = 0; at < highs_bits_; at += step) {
        const auto size = static_cast<unsigned>(std::min<std::uint64_t>(step, highs_bits_ - at));
        const std::uint64_t piece = low_bits(bits_at(highs_, at), size);
        for (unsigned i = 0; i < size; ++i) {
            if ((piece >> i & 1) == 0) {
                ++bucket;
                if (low_bits(bucket, block_log2_) == 0 && bucket < buckets() &&
                    ranks_[bucket >> block_log2_] != rank) {
                    return wrong("a directory that does not fit");
                }
                continue;
            }
            if (rank == ones_) return wrong("too many ones");
            const std::uint64_t position =
                bucket << low_bits_ | number_at(lows_, rank * low_bits_, low_bits_);
            if (position < next || position >= bits_) return wrong("a position out of order");
            room.words[position / 64] |= std::uint64_t{1} << position % 64;
            next = position + 1;
            ++rank;
        }
    }
    if (rank != ones_) return wrong("another number of ones than the header says");
    return {};
}

// ---- Looking up
// ---------------------------------------------------------------------------------------------

struct elias_fano::kernels {
    // The position of one number `index` (from 0) of a word that has more ones than that.
    template <bool Bmi2>
    [[gnu::always_inline]] static unsigned select(std::uint64_t word, std::uint64_t index) {
#if defined(__x86_64__)
        if constexpr (Bmi2) {
            std::uint64_t one;
            asm("pdep %2, %1, %0" : "=r"(one) : "r"(std::uint64_t{1} << index), "r"(word));
            return static_cast<unsigned>(std::countr_zero(one));
        }
#endif
        for (; index != 0; --index) word &= word - 1;
        return static_cast<unsigned>(std::countr_zero(word));
    }

    template <bool Bmi2>
    [[gnu::always_inline]] static bool find(const elias_fano& in, std::uint64_t position) {
        const unsigned low_bits_each = in.low_bits_;
        const std::uint64_t bucket = position >> low_bits_each;
        const std::uint64_t block = bucket >> in.block_log2_;
        // The bucket's ones start after the zero that closes the bucket before.
        std::uint64_t at = in.ranks_[block] + (block << in.block_log2_);
        std::uint64_t zeros = low_bits(bucket, in.block_log2_);
        if (zeros != 0) {
            for (;;) {
                if (at >= in.highs_bits_) return false;
                const std::uint64_t absent = low_bits(~bits_at(in.highs_, at), step);
                const auto here = static_cast<unsigned>(std::popcount(absent));
                if (zeros <= here) {
                    at += select<Bmi2>(absent, zeros - 1) + 1;
                    break;
                }
                zeros -= here;
                at += step;
            }
        }
        if (at >= in.highs_bits_) return false;
        // A bucket's lows, as many as a load holds at once. A field of `different` that is all zeros is a
        // match: adding all ones below its top bit does not reach the top, and the top itself is not set.
        const std::uint64_t wanted = low_bits(position, low_bits_each) * in.each_low_;
        const std::uint64_t tops = in.each_low_ << (low_bits_each - 1);
        const std::uint64_t below = tops - in.each_low_;
        std::uint64_t rank = at - bucket;
        for (;;) {
            const auto run = static_cast<unsigned>(std::countr_one(low_bits(bits_at(in.highs_, at), step)));
            const unsigned fields = std::min<unsigned>(run, in.fields_);
            if (rank > in.ones_) return false;
            const std::uint64_t different = bits_at(in.lows_, rank * low_bits_each) ^ wanted;
            const std::uint64_t match = ~(((different & below) + below) | different) & tops;
            if (low_bits(match, fields * low_bits_each) != 0) return true;
            if (fields == run && run < step) return false;
            at += fields;
            rank += fields;
            if (at >= in.highs_bits_) return false;
        }
    }

    static bool plain(const elias_fano& in, std::uint64_t position) {
        return (bits_at(in.highs_, position) & 1) != 0;
    }
    static bool portable(const elias_fano& in, std::uint64_t position) { return find<false>(in, position); }
    POSY_BMI2 static bool bmi2(const elias_fano& in, std::uint64_t position) {
        return find<true>(in, position);
    }
};

elias_fano::lookup* elias_fano::choose(unsigned low_bits, base::instruction_set set) {
    if (low_bits == 0) return kernels::plain;
    return bmi2_among(set) ? kernels::bmi2 : kernels::portable;
}

}  // namespace posy::codec
