#include "position_code.hpp"

#include <algorithm>
#include <bit>

namespace posy::overlay {
namespace {

unsigned low_bits(std::uint64_t bits, std::uint64_t number) {
    const std::uint64_t mean = bits * 45426 / (number * 65536);  // 45426 = ln 2 · 2^16
    return mean < 2 ? 0 : static_cast<unsigned>(std::bit_width(mean)) - 1;
}

// Bits from the lowest of each byte on.
class bit_writer {
  public:
    explicit bit_writer(std::vector<std::byte>& to) : to_(to) {}
    // Precondition: count ≤ 32, value < 2^count.
    void put(std::uint64_t value, unsigned count) {
        held_ |= value << filled_;
        filled_ += count;
        for (; filled_ >= 8; filled_ -= 8, held_ >>= 8) to_.push_back(static_cast<std::byte>(held_));
    }
    void unary(std::uint64_t zeros) {
        for (; zeros >= 32; zeros -= 32) put(0, 32);
        put(std::uint64_t{1} << zeros, static_cast<unsigned>(zeros) + 1);
    }
    void finish() {
        if (filled_ > 0) put(0, 8 - filled_);
    }

  private:
    std::vector<std::byte>& to_;
    std::uint64_t held_ = 0;
    unsigned filled_ = 0;
};

// Past the end it reads zeros and says so.
class bit_reader {
  public:
    explicit bit_reader(byte_view from) : from_(from) {}
    std::uint64_t take(unsigned count) {
        refill();
        const std::uint64_t value = held_ & ((std::uint64_t{1} << count) - 1);
        drop(count);
        return value;
    }
    // The zeros before the next one; more than `most`, or the end, is an end, too.
    std::uint64_t unary(std::uint64_t most) {
        std::uint64_t zeros = 0;
        while (!ended_) {
            refill();
            if (held_ != 0) {
                const auto here = static_cast<unsigned>(std::countr_zero(held_));
                drop(here + 1);
                return zeros + here;
            }
            zeros += filled_;
            if (zeros > most || filled_ == 0) ended_ = true;
            drop(filled_);
        }
        return 0;
    }
    bool ended() const { return ended_; }
    // Whole bytes that were touched; the bits left over in the last of them must be zeros.
    std::size_t bytes() const { return at_ - filled_ / 8; }
    bool clean() const { return (held_ & ((std::uint64_t{1} << filled_ % 8) - 1)) == 0; }

  private:
    void refill() {
        for (; filled_ <= 56 && at_ < from_.size(); filled_ += 8) {
            held_ |= std::to_integer<std::uint64_t>(from_[at_++]) << filled_;
        }
    }
    void drop(unsigned count) {
        if (count > filled_) ended_ = true, count = filled_;
        held_ = count == 64 ? 0 : held_ >> count;
        filled_ -= count;
    }

    byte_view from_;
    std::size_t at_ = 0;
    std::uint64_t held_ = 0;
    unsigned filled_ = 0;
    bool ended_ = false;
};

}  // namespace

void unite(std::vector<position>& positions) {
    std::ranges::sort(positions);
    positions.erase(std::unique(positions.begin(), positions.end()), positions.end());
}

void put_positions(std::vector<std::byte>& to, std::span<const position> positions, std::uint64_t bits) {
    base::put_varint(to, positions.size());
    if (positions.empty()) return;
    const unsigned low = low_bits(bits, positions.size());
    bit_writer code(to);
    std::uint64_t next = 0;
    for (const position p : positions) {
        const std::uint64_t gap = p - next;
        code.put(gap & ((std::uint64_t{1} << low) - 1), low);
        code.unary(gap >> low);
        next = std::uint64_t{p} + 1;
    }
    code.finish();
}

std::vector<position> take_positions(base::reader& from, std::uint64_t bits) {
    const std::uint64_t number = from.varint(bits);
    if (from.wrong() || number == 0) return {};
    base::reader ahead = from;
    const byte_view rest = ahead.rest();
    const unsigned low = low_bits(bits, number);
    if (number * (low + 1) > rest.size() * 8) {
        from.fail("more positions than there are bits for");
        return {};
    }
    std::vector<position> positions;
    positions.reserve(number);
    bit_reader code(rest);
    std::uint64_t next = 0;
    for (std::uint64_t i = 0; i < number; ++i) {
        const std::uint64_t below = code.take(low);
        const std::uint64_t p = next + (code.unary(bits >> low) << low) + below;
        if (code.ended() || p >= bits) {
            from.fail("a position beyond the array, or cut off");
            return {};
        }
        positions.push_back(static_cast<position>(p));
        next = p + 1;
    }
    if (!code.clean()) from.fail("stray bits after the positions");
    from.take(code.bytes());
    return from.wrong() ? std::vector<position>() : positions;
}

}  // namespace posy::overlay
