// All members of a gossip mesh as one node knows them: their standing, address and summary.
//
// Two directories with the same live members in the same versions have the same hash, and equal parts have
// equal hashes: 32 parts, by a hash of the member's number, each the exclusive-or over its live members.
// Members that are gone are remembered for a while, so that an old message does not revive them, but they are
// in no hash: nodes forget them at different times.
//
// A change costs O(log members), a hash nothing, a question who() one lookup per live member. Thread safety:
// none; const calls may run together.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "posy/overlay/allowance.hpp"
#include "posy/overlay/gossip_member.hpp"
#include "posy/subscriber.hpp"

namespace posy::overlay {

class gossip_directory {
  public:
    static constexpr unsigned parts = 32;

    // A delta that was received and can be passed on to whoever holds its base.
    struct kept_delta {
        edition base;
        std::shared_ptr<const std::vector<std::byte>> message;
    };
    struct member {
        member_version version;
        std::string address;               // how to reach it: opaque here
        subscriber summary;                // empty for ourselves
        double summary_rate = 0;           // of false positives
        std::vector<kept_delta> deltas{};  // that lead to the summary, the last one last
        std::uint64_t since = 0;           // when its standing changed
        allowance changes;
        std::size_t live_at = 0;  // among the live

        std::uint64_t bytes() const {
            return summary.filter() ? summary.filter()->bits().words().size_bytes() : 0;
        }
    };

    const member* find(node_id) const;
    member* find(node_id);
    // Precondition: it is not there yet.
    member& add(member);
    void forget(node_id);
    // The standing or the generation of a member changes.
    void change(member&, const member_version&, std::uint64_t now);

    const std::map<node_id, member>& members() const { return members_; }
    const std::vector<node_id>& live() const { return live_; }
    const std::set<node_id>& not_alive() const { return not_alive_; }  // suspect, gone, left

    std::uint64_t hash() const;
    const std::array<std::uint64_t, parts>& part_hashes() const { return hashes_; }
    static unsigned part_of(node_id);

    // The live members whose summaries may contain the key, in the order of their numbers. Summaries that say
    // yes to nearly everything are not asked.
    std::vector<node_id> who(std::string_view key) const;
    static constexpr double absurd_rate = 0.76;  // as in mesh_directory
    // Calls use(member) for every live member with a summary that is worth asking.
    template <class Use>
    void each_summary(const Use& use) const {
        for (const auto& [id, m] : members_) {
            if (is_live(m.version.status) && m.summary.filter() && m.summary_rate <= absurd_rate) use(m);
        }
    }

  private:
    void enter(member&);
    void withdraw(member&);

    std::map<node_id, member> members_;
    std::vector<node_id> live_;
    std::set<node_id> not_alive_;
    std::array<std::uint64_t, parts> hashes_{};
};

}  // namespace posy::overlay
