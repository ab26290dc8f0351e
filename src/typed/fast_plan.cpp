#include "typed/fast_plan.hpp"

namespace posy::typed {
namespace {

constexpr unsigned fast_hashes = 8;
constexpr double worth_the_speed = 1.06;  // times the bits

}  // namespace

result<plan> choose_fast(wishes want) {
    auto small = choose(want);
    const bool in_one_line = want.layout == layout_id::blocked || want.layout == layout_id::narrow;
    if (!small || want.hashes || !in_one_line) return small;
    want.hashes = fast_hashes;
    auto fast = choose(want);
    if (!fast || static_cast<double>(fast->bits) > worth_the_speed * static_cast<double>(small->bits))
        return small;
    return fast;
}

}  // namespace posy::typed
