// The search for the best plan: every number of hashes, and for each the array that the wishes want.
//
// At a given number of hashes the rate falls as the array grows, and coded sizes rise with it, beyond half
// full as below. So for a given number of hashes, a highest rate determines the smallest array and a budget
// the largest, and no other array can be better. Only the number of hashes has to be searched.
#pragma once

#include <optional>
#include <string>
#include <tuple>

#include "posy/plan.hpp"

namespace posy {

struct plan_search {
    const wishes& want;
    layout_id layout;
    goal aim;
    hash_family hash = hash_family::xxh3;

    // The wishes with the layout and the goal that they imply; or why they contradict each other.
    static result<plan_search> make(const wishes&);

    // The numbers of hashes to try, and the plan for one of them, or why there is none.
    unsigned first() const { return want.hashes.value_or(1); }
    unsigned last() const;
    result<plan> with(unsigned hashes) const;
    // Which wish this plan breaks, or nothing.
    std::optional<std::string> broken(const plan&) const;

    result<plan> best() const;

  private:
    std::uint64_t limit() const;  // bits of the largest array allowed
    std::uint64_t largest(unsigned hashes) const;
    std::optional<std::uint64_t> bits_for(unsigned hashes) const;
    bool budgeted() const { return want.message_bits_per_item || want.delta_bits_per_item; }
    bool travels() const { return aim == goal::message || aim == goal::delta; }
    bool rate_is_open() const { return !want.rate && !budgeted() && (want.bits_per_item || want.max_memory); }
    double total(const std::optional<double>& per_item) const {
        return *per_item * static_cast<double>(want.items);
    }
    hash_family enough_hash() const;
    std::tuple<bool, bool, double> excess(const plan&) const;
    double cost(const plan&) const;
    bool better(const plan&, const plan& than) const;
};

}  // namespace posy
