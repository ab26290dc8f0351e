// The most frequent keys of each group, such as the busiest pages of each country.
//
// One sketch counts pairs of group and key; another one counts groups, and keeps the most frequent of them
// (posy/heavy_hitters.hpp). Each group that is kept has a set of candidates of its own. Counts are never too
// low, and the list of a group says from which frequency on it is complete: a key that is not in it came
// before its group was kept, or was dropped from its candidates.
//
// Cost: two sketches, and as many candidates as groups times keys have room, at most eight times. Thread
// safety: none; const calls may run together.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "posy/candidate_set.hpp"
#include "posy/heavy_hitters.hpp"

namespace posy {

class group_hitters {
  public:
    struct rooms {
        std::uint64_t groups = 400;
        std::uint64_t keys = 40;  // of each group
    };
    // The sketch is to be empty; a second one of its shape counts groups.
    static result<group_hitters> make(count_min sketch, rooms);

    struct member {
        std::string_view group{};
        digest of_group{};
        std::string_view key{};
        digest of_both{};  // of group and key together
    };
    void add(const member&, std::uint64_t weight = 1);

    struct group {
        std::string name{};
        std::uint64_t count = 0;           // of all its keys, at least
        std::vector<heavy_hitter> keys{};  // most frequent first, equals by text
        std::uint64_t complete_from = 0;   // every key of the group seen this often is in the list
    };
    // The groups that come most often, each with its most frequent keys.
    std::vector<group> report(std::uint64_t groups, std::uint64_t keys) const;
    // Every group seen at least this often is kept.
    std::uint64_t groups_complete_from() const;

    // Of the pairs.
    const count_min& sketch() const { return pairs_; }
    hasher hash() const { return pairs_.hash(); }

  private:
    struct digest_hash {
        std::size_t operator()(const digest& d) const { return d.low ^ d.high; }
    };
    struct members {
        candidate_set keys;
        std::uint64_t missed = 0;  // what its group counted before it was kept, at most
    };
    group_hitters(count_min pairs, heavy_hitters groups, std::uint64_t room)
        : pairs_(std::move(pairs)), groups_(std::move(groups)), room_(room) {}
    group list_of(const heavy_hitter& name, const members&, std::uint64_t most) const;

    count_min pairs_;
    heavy_hitters groups_;
    std::uint64_t room_;  // of a group
    std::unordered_map<digest, members, digest_hash> members_;
};

}  // namespace posy
