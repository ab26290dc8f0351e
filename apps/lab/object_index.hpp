// Where the objects of a simulated store are: a table from numbers to handles with open addressing, so that a
// lookup reads one cache line instead of three. A hundred stores are far larger than any cache.
//
// Cost: 16 bytes per slot, at most three quarters of them used. Thread safety: none.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

namespace posy::lab {

template <class Handle>
class object_index {
  public:
    // Null if it is not there.
    const Handle* find(std::uint32_t object) const {
        for (auto at = home(object);; at = next(at)) {
            if (slots_[at].object == object) return &slots_[at].handle;
            if (slots_[at].object == none) return nullptr;
        }
    }
    // Precondition: it is not there.
    void insert(std::uint32_t object, Handle handle) {
        if (4 * (used_ + 1) > 3 * slots_.size()) grow();
        auto at = home(object);
        while (slots_[at].object != none) at = next(at);
        slots_[at] = {object, handle};
        ++used_;
    }
    // Precondition: it is there. What stands behind it moves up to where it is looked for.
    void erase(std::uint32_t object) {
        auto gap = home(object);
        while (slots_[gap].object != object) gap = next(gap);
        for (auto at = next(gap); slots_[at].object != none; at = next(at)) {
            if (distance(home(slots_[at].object), at) < distance(gap, at)) continue;
            slots_[gap] = slots_[at];
            gap = at;
        }
        slots_[gap].object = none;
        --used_;
    }
    std::size_t size() const { return used_; }
    template <class Visit>
    void for_each(const Visit& visit) const {
        for (const auto& each : slots_)
            if (each.object != none) visit(each.object);
    }

  private:
    static constexpr std::uint32_t none = ~std::uint32_t{0};
    struct slot {
        std::uint32_t object = none;
        Handle handle{};
    };
    std::size_t home(std::uint32_t object) const {
        return (object * std::uint64_t{0x9e3779b97f4a7c15}) >> 32 & (slots_.size() - 1);
    }
    std::size_t next(std::size_t at) const { return (at + 1) & (slots_.size() - 1); }
    std::size_t distance(std::size_t from, std::size_t to) const { return (to - from) & (slots_.size() - 1); }
    void grow() {
        auto old = std::exchange(slots_, std::vector<slot>(2 * slots_.size()));
        used_ = 0;
        for (const auto& each : old)
            if (each.object != none) insert(each.object, each.handle);
    }

    std::vector<slot> slots_{64};
    std::size_t used_ = 0;
};

}  // namespace posy::lab
