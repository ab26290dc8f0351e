// Long because the loops of decode() share one state, and a call between them would spill it.
#include "gap_coder.hpp"

#include <algorithm>
#include <bit>

namespace posy::codec {
namespace {

__extension__ using wide = unsigned __int128;

constexpr std::uint64_t state_floor = std::uint64_t{1} << 32;

// Large chunks have four states that take turns, so that four gaps are under way at a time. Like the bytes'
// lanes, a lane has to begin between 2^32 and 2^64. So the last gaps of a chunk are left to lane 0, and the
// words they make are what the other lanes begin with (2^32 + word); a lane for which there is none begins at
// 2^33.
constexpr unsigned lanes = 4;
constexpr std::uint64_t no_word = 2 * state_floor;
constexpr std::uint64_t tail_gaps = 64;
constexpr std::uint64_t enough_for_lanes = 1 << 16;

constexpr std::uint64_t low(unsigned bits) { return (std::uint64_t{1} << bits) - 1; }

}  // namespace

gap_coder::gap_coder(std::uint64_t ones, std::uint64_t bits) {
    const auto p = static_cast<std::uint64_t>((wide{ones} << 64) / bits);
    const std::uint64_t spread = bits / ones / 16;
    const unsigned s = spread > 1 ? static_cast<unsigned>(std::bit_width(spread)) - 1 : 0;
    low_bits_ = std::min(s, 20u);
    more_bits_ = std::min(s - low_bits_, 32u);
    std::uint64_t ratio = ~p + 1;  // (1−p)^(2^s)
    for (unsigned i = 0; i < low_bits_ + more_bits_; ++i)
        ratio = static_cast<std::uint64_t>(wide{ratio} * ratio >> 64);

    // start_[h] is 4096 (1 − ratio^h), rounded. K is where a share would fall below 2 slots.
    std::uint64_t power = ratio;
    for (last_ = 0; last_ < 255; ++last_) {
        const auto left = static_cast<unsigned>(((power >> 51) + 1) / 2);
        const unsigned next = last_ == 0 ? std::clamp(4096 - left, 1u, 4095u) : 4096 - left;
        if (next > 4095 || (last_ > 0 && next < start_[last_] + 2u)) break;
        start_[last_ + 1] = static_cast<std::uint16_t>(next);
        power = static_cast<std::uint64_t>(wide{power} * ratio >> 64);
    }
    start_[last_ + 1] = 4096;
    for (std::uint32_t symbol = 0; symbol <= last_; ++symbol)
        for (std::uint32_t slot = start_[symbol]; slot < start_[symbol + 1]; ++slot)
            owner_[slot] =
                (start_[symbol + 1] - start_[symbol]) | (slot - start_[symbol]) << 12 | symbol << 24;
}

// Backwards, as rANS does: the decoder wants "K or more" as often as it is true, the symbol with the low bits
// under it, then more bits.
inline void gap_coder::put(std::uint64_t& x, std::uint64_t gap, std::vector<std::uint32_t>& words) const {
    const auto renormalise = [&](std::uint64_t above) {
        if (x >> 32 < above) return;
        words.push_back(static_cast<std::uint32_t>(x));
        x >>= 32;
    };
    const auto share = [&](std::uint64_t symbol) {
        return std::uint64_t{start_[symbol + 1]} - start_[symbol];
    };
    const auto encode = [&](std::uint64_t symbol) {
        const std::uint64_t f = share(symbol);
        x = (x / f << 12) + x % f + start_[symbol];
    };
    std::uint64_t h = gap >> low_bits_ >> more_bits_;
    if (more_bits_ > 0) {
        renormalise(std::uint64_t{1} << (32 - more_bits_));
        x = x << more_bits_ | (gap >> low_bits_ & low(more_bits_));
    }
    const std::uint64_t symbol = h % last_;
    renormalise(share(symbol) << (20 - low_bits_));
    x = x << low_bits_ | (gap & low(low_bits_));
    encode(symbol);
    for (; h >= last_; h -= last_) {
        renormalise(share(last_) << 20);
        encode(last_);
    }
}

// False if the gap would be above `limit`, or if a word is needed and there is none. `refill` takes a word if
// x needs one and says whether it could.
template <class Refill>
inline bool gap_coder::take(std::uint64_t& x, std::uint64_t& gap, std::uint64_t limit,
                            const Refill& refill) const {
    std::uint64_t h = 0;
    std::uint32_t owner = owner_[x & 4095];
    while (owner >> 24 == last_) [[unlikely]] {
            x = (owner & 4095) * (x >> 12) + (owner >> 12 & 4095);
            h += last_;
            if (h > limit || !refill(x)) return false;
            owner = owner_[x & 4095];
        }
    x = (owner & 4095) * (x >> 12) + (owner >> 12 & 4095);
    gap = (h + (owner >> 24)) << more_bits_ << low_bits_ | (x & low(low_bits_));
    x >>= low_bits_;
    if (!refill(x)) return false;
    if (more_bits_ > 0) [[unlikely]] {
        gap |= (x & low(more_bits_)) << low_bits_;
        x >>= more_bits_;
        if (!refill(x)) return false;
    }
    return gap <= limit;
}

void gap_coder::encode(std::span<const std::uint64_t> array, std::uint64_t from, std::uint64_t to,
                       std::uint64_t ones, std::vector<std::byte>& out, scratch& spare) const {
    if (ones == 0) return;
    auto& gaps = spare.gaps;
    gaps.resize(ones);
    std::uint64_t count = 0, next = from;  // next: the first place where the next one may be
    for (std::uint64_t i = from / 64; i < (to + 63) / 64; ++i) {
        for (std::uint64_t word = array[i]; word != 0; word &= word - 1) {
            const std::uint64_t at = 64 * i + static_cast<unsigned>(std::countr_zero(word));
            gaps[count++] = at - next;
            next = at + 1;
        }
    }

    auto& words = spare.words;
    words.clear();
    std::array<std::uint64_t, lanes> x;
    const bool many = ones >= enough_for_lanes;
    x[0] = many ? state_floor : 1;
    for (const std::uint64_t rows_end = many ? (ones - tail_gaps) / lanes * lanes : 0; count > rows_end;)
        put(x[0], gaps[--count], words);
    if (many) {
        for (unsigned lane = 1; lane < lanes; ++lane) {
            x[lane] = words.empty() ? no_word : state_floor | words.back();
            if (!words.empty()) words.pop_back();
        }
        for (; count > 0; count -= lanes)
            for (unsigned lane = lanes; lane-- > 0;) put(x[lane], gaps[count - lanes + lane], words);
    }

    const std::size_t state_bytes = many ? 8 * lanes : (static_cast<unsigned>(std::bit_width(x[0])) + 7) / 8;
    std::size_t at = out.size();
    out.resize(at + state_bytes + 4 * words.size());
    for (std::size_t i = 0; i < state_bytes; ++i) out[at++] = static_cast<std::byte>(x[i / 8] >> i % 8 * 8);
    for (std::size_t i = words.size(); i-- > 0; at += 4) store_little(out.data() + at, words[i]);
}

const char* gap_coder::decode(byte_view chunk, std::span<std::uint64_t> array, std::uint64_t from,
                              std::uint64_t to, std::uint64_t ones) const {
    constexpr const char* damaged = "the gaps are cut off or damaged";
    const auto size = chunk.size();
    if (ones == 0) return size == 0 ? nullptr : "the chunk is too long";
    const bool many = ones >= enough_for_lanes;
    // One state travels without its leading zero bytes. Unless it is all there is, it is above 2^32 and the
    // rest are words of four bytes: the size tells how long it is.
    const std::size_t state_bytes = many ? 8 * lanes : size <= 8 ? size : 5 + (size - 1) % 4;
    if (size < state_bytes || size == 0 || (many && size % 4 != 0)) return damaged;
    if (!many && chunk[state_bytes - 1] == std::byte{0}) return damaged;
    std::array<std::uint64_t, lanes> x{};
    for (std::size_t i = 0; i < state_bytes; ++i)
        x[i / 8] |= std::to_integer<std::uint64_t>(chunk[i]) << i % 8 * 8;
    const std::byte *words = chunk.data() + state_bytes, *const end = chunk.data() + size;

    std::uint64_t next = from, gap;
    const auto set = [&](std::uint64_t zeros) {
        next += zeros;
        array[next / 64] |= std::uint64_t{1} << next % 64;
        ++next;
    };
    std::uint64_t done = 0;
    std::array<std::uint32_t, lanes - 1> carried;  // words in the other lanes, the first one last
    std::size_t carried_count = 0;
    if (many) {
        for (const std::uint64_t state : x) {
            if (state < state_floor) return damaged;  // an encoder leaves none below
        }
        const auto refill = [&](std::uint64_t& state) {
            if (state >= state_floor) return true;
            if (words == end) return false;
            state = state << 32 | load_little<std::uint32_t>(words);
            words += 4;
            return true;
        };
        for (const std::uint64_t rows_end = (ones - tail_gaps) / lanes * lanes; done < rows_end;
             done += lanes) {
            for (std::uint64_t& state : x) {
                if (next >= to || !take(state, gap, to - 1 - next, refill)) return damaged;
                set(gap);
            }
        }
        // Lanes are given words from the first on; one goes without only when there were no more.
        for (unsigned lane = lanes; lane-- > 1;) {
            if (x[lane] >> 32 == 1)
                carried[carried_count++] = static_cast<std::uint32_t>(x[lane]);
            else if (x[lane] != no_word || carried_count > 0 || words != end)
                return damaged;
        }
    }
    // The last gaps, or all of a small chunk. Here a state may be below 2^32 for good: see below.
    const auto refill = [&](std::uint64_t& state) {
        if (state >= state_floor) return true;
        if (carried_count > 0) {
            state = state << 32 | carried[--carried_count];
        } else if (words != end) {
            state = state << 32 | load_little<std::uint32_t>(words);
            words += 4;
        }
        return true;
    };
    for (; done < ones; ++done) {
        if (next >= to || !take(x[0], gap, to - 1 - next, refill)) return damaged;
        set(gap);
    }
    // The encoder began with 2^32, or, alone, with 1: it grew from there before the first word was written.
    if (x[0] != (many ? state_floor : 1) || words != end || carried_count > 0) return damaged;
    return nullptr;
}

}  // namespace posy::codec
