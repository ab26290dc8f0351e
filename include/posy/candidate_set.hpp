// The texts of keys that may be frequent. A sketch knows the count of any key it is asked for; this is the
// list of keys worth asking for, in bounded memory.
//
// A key is offered with its estimate, which is never below the truth, whenever it comes. When there are twice
// as many as the room, those with the smallest counts are dropped. Invariant: no key outside the set was seen
// more often than dropped(), nor more often than the bound below which it was not taken.
//
// Cost: a hash map of at most twice the room. Thread safety: none; const calls may run together.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "posy/digest.hpp"

namespace posy {

struct heavy_hitter {
    std::string key{};
    std::uint64_t count = 0;  // at least its frequency
    friend bool operator==(const heavy_hitter&, const heavy_hitter&) = default;
};

// Most frequent first, equals by text.
bool before_in_list(const heavy_hitter&, const heavy_hitter&);

class candidate_set {
    struct digest_hash {
        std::size_t operator()(const digest& d) const { return d.low ^ d.high; }
    };

  public:
    using map = std::unordered_map<digest, heavy_hitter, digest_hash>;

    static constexpr std::uint64_t max_room = std::uint64_t{1} << 31;
    explicit candidate_set(std::uint64_t room) : room_(room) {}

    std::uint64_t room() const { return room_; }
    std::uint64_t dropped() const { return dropped_; }
    // With the count that each had when it came last.
    const map& keys() const { return keys_; }
    bool contains(digest d) const { return keys_.contains(d); }

    // Takes the key, or its new count, if that is at least `least` and above what was dropped. Candidates
    // that are below `least` by now go first when room is needed.
    void offer(std::string_view key, digest d, std::uint64_t estimate, double least = 0) {
        if (estimate <= dropped_ || static_cast<double>(estimate) < least) return;
        take(key, d, estimate, least);
    }
    // Both sets: keys that are in neither were seen at most `dropped` times. Counts are asked for anew.
    void unite(const candidate_set& from, std::uint64_t dropped, double least,
               const std::function<std::uint64_t(digest)>& estimate);

    // A set with these keys, as read from a message.
    static candidate_set of(map keys, std::uint64_t room, std::uint64_t dropped);

  private:
    void take(std::string_view key, digest d, std::uint64_t estimate, double least);
    void prune(double least);

    std::uint64_t room_;  // what a pruning leaves
    std::uint64_t dropped_ = 0;
    map keys_;
};

}  // namespace posy
