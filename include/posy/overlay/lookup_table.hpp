// The lookups of a node that wait for an answer: each is asked again after a while, a few times, and then
// given up. Shared by the overlays in which a request travels from node to node and keeps no state there.
//
// Memory: at most `most` lookups wait; beyond that they are refused. Thread safety: none.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "posy/digest.hpp"
#include "posy/overlay/mail.hpp"

namespace posy::overlay {

struct lookup_terms {
    std::uint64_t patience = 10'000;  // ms before a lookup is asked again
    unsigned attempts = 4;
    std::size_t most = 100'000;  // that wait at a time
};

// A lookup as it travels.
struct lookup_request {
    std::uint32_t id = 0;
    std::uint16_t hops = 0;
    node_id origin = 0;
    digest key;
};

struct lookup_answer {
    std::uint32_t id = 0;
    digest key;
    std::optional<node_id> holder;
    bool timed_out = false;  // without a holder: nobody answered
    unsigned hops = 0;       // of the request, from the node that asked to the one that answered
    unsigned attempts = 1;
    std::uint64_t took = 0;  // ms
};

class lookup_table {
  public:
    explicit lookup_table(const lookup_terms& terms) : terms_(terms) {}

    // Nothing if too many wait.
    std::optional<std::uint32_t> add(digest, std::uint64_t now);
    // Answers that nobody waits for, and those about another key, are ignored: false.
    bool answer(std::uint32_t id, const digest&, std::optional<node_id> holder, unsigned hops,
                std::uint64_t now);
    // Calls again(id, key) for those that are due; gives up what was asked often enough.
    template <class Again>
    void tick(std::uint64_t now, const Again& again) {
        for (const auto& [id, key] : take_due(now)) again(id, key);
    }
    std::optional<std::uint64_t> next_tick() const;
    std::vector<lookup_answer> take_answers() { return std::exchange(answers_, {}); }
    std::size_t waiting() const { return waiting_.size(); }

  private:
    struct pending {
        digest key;
        std::uint64_t began, due;
        unsigned attempts;
    };
    std::vector<std::pair<std::uint32_t, digest>> take_due(std::uint64_t now);

    lookup_terms terms_;
    std::uint32_t last_ = 0;
    std::map<std::uint32_t, pending> waiting_;
    std::set<std::pair<std::uint64_t, std::uint32_t>> due_;  // when, and which
    std::vector<lookup_answer> answers_;
};

}  // namespace posy::overlay
