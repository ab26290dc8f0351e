#include "posy/theory/fair_blue.hpp"

#include <cmath>

namespace posy::theory {

double fair_blue_accident(unsigned levels, double bins, double unyielding) {
    return std::pow(-std::expm1(unyielding * std::log1p(-1 / bins)), levels);
}

}  // namespace posy::theory
