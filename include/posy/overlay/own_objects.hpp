// What a node of an overlay has: the digests of its objects, and how many of them have each bit of its
// filter, so that a bit goes when the last of them does.
//
// A change costs O(k). The tables hash under a salt that is handed in: strangers who choose objects cannot
// choose those of one slot. Thread safety: none; const calls may run together.
#pragma once

#include <cstdint>
#include <unordered_set>
#include <vector>

#include "posy/digest.hpp"
#include "posy/geometry.hpp"
#include "posy/overlay/ones.hpp"

namespace posy::overlay {

class own_objects {
    struct salted_hash {
        std::uint64_t salt;
        std::size_t operator()(const digest&) const;
    };

  public:
    own_objects(const posy::geometry& filter, std::uint64_t salt)
        : filter_(filter), all_(0, salted_hash{salt}), counts_(salt) {}

    // False if it is there already, or not there. Calls flip(position) for each bit that changes.
    template <class Flip>
    bool insert(const digest& key, const Flip& flip) {
        if (!all_.insert(key).second) return false;
        for (const std::uint64_t at : positions_of(filter_, key)) {
            const auto p = static_cast<position>(at);
            if (counts_[p]++ == 0) flip(p);
        }
        return true;
    }
    template <class Flip>
    bool remove(const digest& key, const Flip& flip) {
        if (all_.erase(key) == 0) return false;
        for (const std::uint64_t at : positions_of(filter_, key)) {
            const auto p = static_cast<position>(at);
            if (--counts_[p] == 0) flip(p);
        }
        return true;
    }

    bool contains(const digest& key) const { return all_.contains(key); }
    bool empty() const { return all_.empty(); }
    std::size_t size() const { return all_.size(); }
    auto begin() const { return all_.begin(); }
    auto end() const { return all_.end(); }

    bool test(position p) const { return counts_.at(p) != 0; }
    // The positions of all ones, ascending.
    std::vector<position> ones() const;
    std::size_t memory() const { return counts_.memory() + all_.size() * 40; }

  private:
    posy::geometry filter_;
    std::unordered_set<digest, salted_hash> all_;
    position_counts<std::uint32_t> counts_;
};

}  // namespace posy::overlay
