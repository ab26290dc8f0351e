// The set a node tells others about: a publisher under a lock, whose filter grows with the set.
//
// Its geometry is the planner's for the chosen way of sharing: of all numbers of hashes that give the rate,
// the one with the smallest array, message or delta (Mitzenmacher 2002, Table VI). It is not changed lightly,
// because every change costs each peer a whole message: only when the set has outgrown it twofold, and then
// to twice the set.
//
// With `rehash` the seed changes with the clock, so that a key that is a false positive does not stay one
// (Broder & Mitzenmacher 2004, 7.2). The seed of a period follows from the node's own seed and the number of
// the period since 1970: after a restart it is the same again, and nodes that were told the same have the
// same, so that their followers hash a key once.
//
// Time is handed in as a clock, so that a simulation runs the same code. Thread safety: all calls from any
// thread. Cost: a lock and an insertion; one call in a generation also publishes, a pass over the array.
#pragma once

#include <atomic>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "options.hpp"
#include "posy/plan.hpp"
#include "posy/publisher.hpp"
#include "summary_protocol.hpp"

namespace posy::node {

// The shape for `items`, shared and updated as the options say.
result<plan> shape_for(std::uint64_t items, const options&);
// The hash of the summary at a time in milliseconds since 1970.
hasher hash_at(std::uint64_t now, const options&);

class local_set {
  public:
    using visit = std::function<void(std::string_view key)>;
    // Calls visit with every key of the set. Others may change the set meanwhile, from other threads.
    using key_source = std::function<void(const visit&)>;

    // Milliseconds since 1970, never less than before.
    using clock = std::function<std::uint64_t()>;

    // The keys of `all` are in the set from the start. Throws std::runtime_error.
    local_set(const options&, key_source all, clock now);

    void insert(std::string_view key);
    void remove(std::string_view key);
    bool may_contain(std::string_view key) const;
    // The key is looked for, here or by a peer: with `misled` that may be a reason to publish.
    void asked(std::string_view key);

    // Publishes if it is time, and builds the filter anew if that is due, which takes a pass over all keys;
    // true if a new generation came of it. insert() and remove() publish themselves. One call at a time.
    bool tick();
    // Called after every publication, on the thread that made it, perhaps under a lock of the caller that
    // changed the set.
    std::function<void()> on_publish;

    publisher::reply summary(const question&);
    std::uint64_t generation() const { return generation_; }

    struct facts {
        std::uint64_t items, bits, generation, rebuilt, rehashed;
        unsigned hashes;
        double fill, rate;
        std::uint64_t saturated;
    };
    facts describe() const;

  private:
    void change(std::string_view key, bool enters);
    void changed(std::unique_lock<std::mutex>&);
    void rebuild();

    options how_;
    key_source all_;
    clock now_;
    hasher hash_;  // of the filter; if it could not be made anew, the one that it should have
    mutable std::mutex mutex_;
    std::optional<publisher> publisher_;
    std::uint64_t planned_ = 0;  // changed by tick() alone
    std::uint64_t rebuilt_ = 0, rehashed_ = 0;
    std::atomic<std::uint64_t> generation_{0};
    // A key as rebuild() knows it. The secret digest tells keys apart; the public one, which goes into the
    // filter, may be that of many: keys can be chosen so.
    struct known_key {
        digest secret, in_filter;
    };
    // While rebuild() reads the keys, the hash that it reads them by, and what happens to them: enters or
    // leaves, in order.
    std::optional<hasher> rebuilding_;
    std::vector<std::pair<known_key, bool>> meanwhile_;
};

}  // namespace posy::node
