#include "posy/typed/counts.hpp"

namespace posy::typed {

result<count_min> make_counts(double epsilon, double delta, update_rule rule,
                              const std::optional<hasher>& hash, counter_width counters) {
    const auto chosen = hasher_for(hash, many_keys, delta);
    if (!chosen) return chosen.error();
    return count_min::with_guarantee(*chosen, epsilon, delta, rule, counters);
}

}  // namespace posy::typed
