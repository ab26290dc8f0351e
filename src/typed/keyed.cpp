#include "posy/typed/keyed.hpp"

#include "posy/plan.hpp"

namespace posy::typed {

result<hasher> hasher_for(const std::optional<hasher>& asked, double items, double rate) {
    if (!asked) return hasher(fastest_hash(items, rate));
    if (auto valid = check(*asked); !valid) return valid.error();
    return *asked;
}

}  // namespace posy::typed
