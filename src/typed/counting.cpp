#include "posy/typed/counting.hpp"

#include "typed/fast_plan.hpp"

namespace posy::typed {
namespace {

// Layout narrow is taken if its array is at most this much larger than that of layout blocked.
constexpr double worth_one_line = 1.5;
// Counters of 4 bits are taken if it is at most this probable that any of them will stick.
constexpr double rarely = 1e-3;

result<plan> plan_counters(wishes want) {
    const auto in_layout = [&](layout_id layout) {
        want.layout = layout;
        return choose_fast(want);
    };
    const auto narrow = in_layout(layout_id::narrow), blocked = in_layout(layout_id::blocked);
    if (!blocked) return in_layout(layout_id::spread);
    const double most = worth_one_line * static_cast<double>(blocked->bits);
    return narrow && static_cast<double>(narrow->bits) <= most ? narrow : blocked;
}

}  // namespace

result<counting_filter> blank<counting_filter>::make() const {
    auto made = counting_filter::make(geometry, counter_bits);
    if (made) made->set_planned(planned);
    return made;
}

result<counting_filter> make_counting(std::uint64_t items, double rate, const std::optional<hasher>& hash) {
    wishes want{.items = items, .rate = rate};
    if (hash) want.hash = hash->family();
    const auto chosen = plan_counters(want);
    if (!chosen) return chosen.error();
    const unsigned counter_bits = predict_counters(*chosen, 4).overflow <= rarely ? 4 : 8;
    return blank<counting_filter>{geometry_of(*chosen, hash), counter_bits, chosen->promise()}.make();
}

}  // namespace posy::typed
