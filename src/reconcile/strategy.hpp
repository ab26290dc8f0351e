// What the exact way sends next: symbols, or the list of the set itself. Session and plan both use this, so
// the plan predicts what the session does.
//
// d differences cost about 1.36 d symbols, n elements a list of n digests; with 64 bits the list is shorter
// from d = 0.45 n on. Sketches know d to 18 %, which is not enough to choose near that place, and symbols are
// no help with a list. The other way round they are: an element that was listed is out of the sets that are
// left, whatever comes then. So where the choice is open, a part of the list is sent first. It tells d more
// closely, and costs nothing if the rest of the list follows; if symbols do, it costs what its elements'
// differences would not have cost by symbols, at most half of that part.
//
// From symbols to the list there is a way back where the rest of the symbols would cost more than the whole
// list, so that nothing takes more than 2.5 lists, however badly the symbols decode.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "reconcile/coded_symbols.hpp"
#include "reconcile/theory.hpp"

namespace posy::reconcile {

class strategy {
  public:
    explicit strategy(digest_width width)
        : symbol_(static_cast<double>(symbol_bytes(width))), element_(static_cast<double>(bytes_of(width))) {}

    // How much of a list of this many elements to send first, when two sketches estimate the difference at d:
    // nothing, a part, or all.
    std::uint64_t first_listed(double d, std::uint64_t items) const {
        constexpr double clearly_less = 0.5, clearly_more = 1.3;
        const double share = cost(d, items);
        if (share < clearly_less) return 0;
        if (share > clearly_more) return items;
        const auto n = static_cast<double>(items);
        return std::min(items, static_cast<std::uint64_t>(std::ceil(n / 16 + 2 * std::sqrt(n))));
    }

    // How many symbols there should be in all, or 0: the list of the `left` elements that are not listed.
    std::uint64_t first_symbols(double d, std::uint64_t left) const {
        return cost(d, left) < 1 ? static_cast<std::uint64_t>(std::ceil(theory::first_symbols(d))) : 0;
    }
    // The same when `have` symbols estimate d and were not enough. Where a few elements block each other's
    // decoding, only many more symbols help: the steps grow with the number of questions.
    std::uint64_t more_symbols(double d, std::uint64_t have, unsigned questions, std::uint64_t left) const {
        const auto now = static_cast<double>(have);
        const double step = std::ldexp(std::max(now / 32, 4.0), static_cast<int>(std::min(questions, 6u)));
        const double until = std::ceil(std::max(theory::enough_symbols(d, now), now + step));
        const double list = static_cast<double>(left) * element_;
        const bool dear = (until - now) * symbol_ >= list || until * symbol_ > longest * list;
        return dear ? 0 : static_cast<std::uint64_t>(until);
    }
    // No more symbols than this many times the bytes of the list.
    static constexpr double longest = 1.5;

  private:
    // What symbols cost, as a share of the list. Few differences are sent more symbols than they need.
    double cost(double d, std::uint64_t items) const {
        const double symbols = std::max(theory::symbols_needed(d), std::ceil(theory::first_symbols(d)));
        return symbols * symbol_ / (static_cast<double>(items) * element_);
    }

    double symbol_, element_;
};

}  // namespace posy::reconcile
