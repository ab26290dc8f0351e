#include "posy/store/rate_watch.hpp"

#include <cmath>

namespace posy::store {

result<rate_watch> rate_watch::make(double rate, double factor) {
    if (!(rate > 0 && factor > 1 && rate * factor < 1))
        return error::invalid(
            "the rate and the drift to watch for must be such that 0 < rate, 1 < drift and rate times drift "
            "< 1");
    return rate_watch(std::log1p(-rate * factor) - std::log1p(-rate), std::log(factor));
}

}  // namespace posy::store
