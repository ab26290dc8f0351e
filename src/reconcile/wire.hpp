// How many bytes the messages of a session take, without making them.
#pragma once

#include <cmath>
#include <cstdint>
#include <numbers>

#include "posy/message.hpp"
#include "reconcile/coded_symbols.hpp"
#include "reconcile/difference_sketch.hpp"

namespace posy::reconcile {

class wire {
  public:
    wire(digest_width width, const hasher& hash)
        : width_(width),
          frame_(static_cast<double>(to_bytes(envelope(kind::more, hash, {})).size()) - varint(1)) {}

    static double varint(double number) {
        double bytes = 1;
        for (; number >= 128; number /= 128) ++bytes;
        return bytes;
    }
    // The kind is in the frame.
    double message(double payload) const { return frame_ + varint(payload + 1) + payload; }

    double symbols(double items, double first, double count) const {
        return run(items, first, count, static_cast<double>(symbol_bytes(width_)));
    }
    double part(double items, double first, double count) const {
        return run(items, first, count, element());
    }
    double more(double until) const { return message(varint(until)); }
    double list(double count) const { return message(1 + varint(count) + count * element()); }
    double element() const { return static_cast<double>(bytes_of(width_)); }

    // On average: a sum misses half of the items by √items / 2, and takes a byte from −64 to 63, two from
    // −8192 to 8191, and so on.
    double sketch(double items) const {
        double each = 1;
        const double odd = items / 2 - std::floor(items / 2);
        for (double limit = 64; limit <= items; limit *= 128)
            each += above(limit - 0.5 - odd, items) + above(limit + 0.5 + odd, items);
        return message(1 + varint(items) + static_cast<double>(difference_sketch::size) * each);
    }
    double longest_sketch(double items) const {
        return message(1 + varint(items) + static_cast<double>(difference_sketch::size) * varint(items + 1));
    }

  private:
    double run(double items, double first, double count, double each) const {
        return message(1 + varint(items) + varint(first) + varint(count) + count * each);
    }
    // P(a sum of `items` coin tosses is above its mean by x), by the normal distribution.
    static double above(double x, double items) {
        return std::erfc(x / (std::sqrt(items) / 2) / std::numbers::sqrt2) / 2;
    }

    digest_width width_;
    double frame_;
};

}  // namespace posy::reconcile
