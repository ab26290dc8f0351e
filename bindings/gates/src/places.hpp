// Where the keys of a query are among its answers. Sorted and not hashed: nobody can choose keys that make it
// slow.
#pragma once

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <optional>
#include <span>
#include <vector>

namespace posy::gates {

template <class Key>
class places {
  public:
    explicit places(std::span<const Key> keys) : keys_(keys), order_(keys.size()) {
        std::iota(order_.begin(), order_.end(), std::size_t{0});
        std::sort(order_.begin(), order_.end(),
                  [&](std::size_t a, std::size_t b) { return keys_[a] < keys_[b]; });
    }
    template <class View>
    std::optional<std::size_t> of(const View& key) const {
        const auto at = std::lower_bound(order_.begin(), order_.end(), key,
                                         [&](std::size_t a, const View& b) { return keys_[a] < b; });
        if (at == order_.end() || keys_[*at] != key) return std::nullopt;
        return *at;
    }

  private:
    std::span<const Key> keys_;
    std::vector<std::size_t> order_;
};

}  // namespace posy::gates
