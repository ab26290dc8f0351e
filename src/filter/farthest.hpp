// The end of an interval by inverting a test: the integer farthest from a start that the test still accepts.
#pragma once

#include <algorithm>
#include <cmath>

namespace posy {

// Looks at start + direction · i, i = 0 … limit. No number farther out than one that is not `possible` is
// accepted, and all up to the last that is `sure` are; what lies between is tried from outside, in at most 64
// steps, because acceptance may come and go there by the weight of one value. O(log) calls, and those 64.
template <class Possible, class Sure, class Accepted>
double farthest(double start, double direction, double limit, Possible possible, Sure sure,
                Accepted accepted) {
    // The last i in [good, bad) of which `holds` is true, when it is true up to some i and false from there.
    const auto last = [&](double good, double bad, auto holds) {
        while (bad - good > 1 && bad - good > 1e-12 * bad) {
            const double middle = std::floor(good + (bad - good) / 2);
            (holds(start + direction * middle) ? good : bad) = middle;
        }
        return good;
    };
    double beyond = 1;
    while (beyond <= limit && possible(start + direction * beyond)) beyond *= 2;
    const double outer = last(0, std::min(beyond, limit + 1), possible);
    const double inner = last(0, outer + 1, sure);
    const double step = std::max(1.0, std::ceil((outer - inner) / 64));
    for (double i = outer; i > inner; i -= step) {
        if (accepted(start + direction * i))
            return start + direction * (i == outer || step == 1 ? i : last(i, i + step, accepted));
    }
    return start + direction * inner;
}

}  // namespace posy
