// The set a node tells others about: a publisher whose answers are kept until the next generation.
//
// Its geometry is the planner's for the chosen way of sharing: of all numbers of hashes that give the rate,
// the one with the smallest array, message or delta (Mitzenmacher 2002, Table VI). It is not changed lightly,
// because every change costs each peer a whole message: only when the set has outgrown it twofold, and then
// to twice the set.
//
// Thread safety: all calls from any thread. Cost: a lock and an insertion; one call in a generation also
// publishes, a pass over the array.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "options.hpp"
#include "posy/plan.hpp"
#include "posy/publisher.hpp"

namespace posy::node {

// The shape for so many items, shared so.
result<plan> shape_for(std::uint64_t items, double rate, double change, sharing);

class local_set {
  public:
    using visit = std::function<void(std::string_view key)>;
    // Calls visit with every key of the set. Others may change the set meanwhile, from other threads.
    using key_source = std::function<void(const visit&)>;

    // The keys of `all` are in the set from the start. Throws std::runtime_error.
    local_set(const options&, key_source all);

    void insert(std::string_view key);
    void remove(std::string_view key);
    bool may_contain(std::string_view key) const;

    // Publishes if it is time; true if a new generation came of it. insert() and remove() do so themselves.
    bool tick();
    // Called after every publication, on the thread that made it: perhaps under a lock of whoever changed the
    // set.
    std::function<void()> on_publish;

    struct answer {
        enum kind { unchanged, whole, changes } what = unchanged;
        std::uint64_t generation = 0;
        std::shared_ptr<const std::vector<std::byte>> message;
    };
    // For someone who holds `have`, and understands deltas or not.
    answer summary(std::optional<std::uint64_t> have, bool deltas);
    std::uint64_t generation() const { return generation_; }

    struct facts {
        std::uint64_t items, bits, generation, rebuilt;
        unsigned hashes;
        double fill, rate;
        std::uint64_t saturated;
    };
    facts describe() const;

  private:
    void change(std::string_view key, bool enters);
    void changed(std::unique_lock<std::mutex>&);
    void grow();

    options how_;
    key_source all_;
    mutable std::mutex mutex_;
    std::optional<publisher> publisher_;
    std::uint64_t planned_ = 0, rebuilt_ = 0;
    std::atomic<std::uint64_t> generation_{0};
    std::map<std::optional<std::uint64_t>, answer> answers_;  // by what the asker holds
    // While grow() reads the keys, what happens to them: enters or leaves, in order.
    bool growing_ = false;
    std::vector<std::pair<digest, bool>> meanwhile_;
};

}  // namespace posy::node
