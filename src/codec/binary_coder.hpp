// Binary arithmetic coding: the number line narrowed by every bit, in 64-bit integers.
//
// The coder holds an interval [low, low + range) of a number between 0 and 1. A bit that is zero with
// probability p takes the lower share p of it, a one the rest; what is left after m bits has the size of the
// product of all probabilities, and log2 of its inverse bits name a number inside it. That is optimal to a
// fraction of a byte, whatever the probabilities are: they may change from bit to bit.
//
// Three surprises. (1) `low` can overflow after bytes have left: the carry runs back through them, which is
// an increment of bytes already written. (2) Range is kept above 2^56, so a 32-bit probability costs no
// precision that could be measured. (3) The end needs no fixed number of bytes: of all numbers in the last
// interval we send the one with the most zero bytes at its end, and leave those out; a decoder reads zeros
// past the end.
#pragma once

#include <cstdint>
#include <vector>

#include "posy/bytes.hpp"

namespace posy::codec {

// Of the numbers in [low, low + range), the one with the most zero bytes at its end; it may wrap around 2^64.
inline std::uint64_t shortest_end(std::uint64_t low, std::uint64_t range) {
    for (int zeros = 56;; zeros -= 8) {
        const std::uint64_t mask = (std::uint64_t{1} << zeros) - 1, rounded = (low + mask) & ~mask;
        if (rounded - low < range) return rounded;
    }
}

class binary_encoder {
  public:
    explicit binary_encoder(std::vector<std::byte>& out) : out_(out), start_(out.size()) {}

    // `zero` of 2^32 is the probability that the bit is 0; 0 < zero < 2^32.
    void put(bool bit, std::uint64_t zero) {
        const std::uint64_t share = (range_ >> 32) * zero;
        if (bit) {
            const std::uint64_t before = low_;
            low_ += share;
            if (low_ < before) carry();
            range_ -= share;
        } else {
            range_ = share;
        }
        while (range_ >> 56 == 0) {
            out_.push_back(static_cast<std::byte>(low_ >> 56));
            low_ <<= 8;
            range_ <<= 8;
        }
    }

    // The shortest end. Call once; nothing can be put afterwards.
    void finish() {
        const std::uint64_t end = shortest_end(low_, range_);
        if (end < low_) carry();
        for (std::uint64_t rest = end; rest != 0; rest <<= 8)
            out_.push_back(static_cast<std::byte>(rest >> 56));
        while (out_.size() > start_ && out_.back() == std::byte{0}) out_.pop_back();
    }

  private:
    void carry() {
        for (std::size_t i = out_.size(); i-- > start_;) {
            out_[i] = static_cast<std::byte>(std::to_integer<unsigned>(out_[i]) + 1);
            if (out_[i] != std::byte{0}) return;
        }
    }

    std::vector<std::byte>& out_;
    std::size_t start_;
    std::uint64_t low_ = 0;
    std::uint64_t range_ = ~std::uint64_t{0};
};

class binary_decoder {
  public:
    explicit binary_decoder(byte_view in) : in_(in) {
        for (int i = 0; i < 8; ++i) shift();
    }

    bool get(std::uint64_t zero) {
        const std::uint64_t share = (range_ >> 32) * zero;
        const bool bit = offset_ >= share;
        if (bit) {
            offset_ -= share;
            low_ += share;
            range_ -= share;
        } else {
            range_ = share;
        }
        while (range_ >> 56 == 0) {
            range_ <<= 8;
            low_ <<= 8;
            shift();
        }
        return bit;
    }

    // Was the input the one an encoder writes: all of it read, no zero byte at its end, the shortest number?
    bool ended_well() const {
        return at_ >= in_.size() && (in_.empty() || in_.back() != std::byte{0}) &&
               offset_ == shortest_end(low_, range_) - low_;
    }

  private:
    void shift() {
        offset_ = offset_ << 8 | (at_ < in_.size() ? std::to_integer<std::uint64_t>(in_[at_]) : 0);
        ++at_;
    }

    byte_view in_;
    std::size_t at_ = 0;
    std::uint64_t range_ = ~std::uint64_t{0};
    std::uint64_t low_ = 0;     // as the encoder has it, without what has left
    std::uint64_t offset_ = 0;  // of the number in the interval
};

}  // namespace posy::codec
