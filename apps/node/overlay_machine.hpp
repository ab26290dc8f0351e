// A state machine of the overlay as the node runs it: one interface to the mesh, groups, the tree and
// attenuated filters.
//
// Keys come in as text, because each overlay has a hash of its own. Time is in milliseconds. What has to be
// sent goes into the outbox. Thread safety: none; the node runs a machine on one thread.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "options.hpp"
#include "posy/geometry.hpp"
#include "posy/overlay/filter_link.hpp"
#include "posy/overlay/gossip_member.hpp"
#include "posy/overlay/lookup_table.hpp"
#include "posy/overlay/mail.hpp"

namespace posy::node {

using overlay::node_id;
using overlay::outbox;

// What came of a lookup.
struct overlay_answer {
    struct holder {
        node_id node;
        std::uint64_t age = 0;  // ms: of the summary that names it; 0 when the holder itself answered
    };
    std::uint32_t id = 0;
    std::vector<holder> holders;
    bool timed_out = false;
    unsigned hops = 0, attempts = 1;
    std::uint64_t took = 0;
};

// A node as this one sees it.
struct overlay_neighbour {
    node_id node;
    std::string_view relation;  // parent, child, neighbour, member, leader …
    std::string_view state;     // up, joining, other_filters; or of a member: suspect, gone, left
    bool by_gossip = false;     // known from others: no letters need go there
};
// The state of a neighbour whose filters are of another size, hash or seed.
inline constexpr std::string_view other_filters = "other filters";
// The filters that are held of it.
struct overlay_filters {
    std::uint64_t bits = 0, ones = 0;
};

struct overlay_counts {
    std::uint64_t damaged = 0, strangers = 0, refused = 0;  // letters that changed nothing
    std::optional<std::uint64_t> false_forwards{};          // requests that a filter sent in vain
    std::uint64_t lost = 0;                                 // neighbours or members that fell silent
};

class overlay_machine {
  public:
    overlay_machine() = default;
    overlay_machine(const overlay_machine&) = delete;
    overlay_machine& operator=(const overlay_machine&) = delete;
    virtual ~overlay_machine() = default;

    virtual void start(std::uint64_t now, outbox&) = 0;
    // Nothing else may be called after it.
    virtual void leave(std::uint64_t now, outbox&) = 0;

    virtual void insert(std::string_view key, std::uint64_t now, outbox&) = 0;
    virtual void remove(std::string_view key, std::uint64_t now, outbox&) = 0;
    // Nothing if too many wait. The answer is among take_answers() now or later.
    virtual std::optional<std::uint32_t> look_up(std::string_view key, std::uint64_t now, outbox&) = 0;
    virtual std::vector<overlay_answer> take_answers() = 0;

    virtual void receive(node_id from, byte_view message, std::uint64_t now, outbox&) = 0;
    virtual void tick(std::uint64_t now, outbox&) = 0;
    virtual std::optional<std::uint64_t> next_tick() const = 0;

    // The nodes that a message names, whose addresses have to go with it; and addresses that the machine
    // itself has learnt.
    virtual std::vector<node_id> named_in(byte_view) const { return {}; }
    virtual std::optional<std::string> address_of(node_id) const { return std::nullopt; }

    virtual std::vector<overlay_neighbour> neighbours() const = 0;
    // Precondition: it is one of them. Costs a pass over the filters.
    virtual overlay_filters filters_of(const overlay_neighbour&) const = 0;
    virtual overlay_counts counts() const = 0;
};

// Throws std::runtime_error for options that fit no filter. `secret` is known to nobody else.
std::unique_ptr<overlay_machine> make_mesh(const options&, node_id self, std::uint64_t now,
                                           std::uint64_t secret);
std::unique_ptr<overlay_machine> make_tree(const options&, node_id self, std::uint64_t now,
                                           std::uint64_t secret);
std::unique_ptr<overlay_machine> make_attenuated(const options&, node_id self, std::uint64_t now,
                                                 std::uint64_t secret);
std::unique_ptr<overlay_machine> make_groups(const options&, node_id self, std::uint64_t now,
                                             std::uint64_t secret);
// The one that the options name. Precondition: they name one.
std::unique_ptr<overlay_machine> make_machine(const options&, node_id self, std::uint64_t now,
                                              std::uint64_t secret);

// The numbers of options.overlay.contacts.
std::vector<node_id> contacts_of(const options&);
// The filter that all members of an overlay agree on, for `items` keys: the smallest for the rate.
geometry shared_geometry(const options&, std::uint64_t items);
// How a mesh gossips, with generations that begin at this time.
overlay::gossip_settings gossip_settings_of(const options&, std::uint64_t now);
// Answers of a lookup table, as the node shows them; and the terms of one that answers in the time allowed.
std::vector<overlay_answer> shown(const std::vector<overlay::lookup_answer>&);
overlay::lookup_terms lookup_terms_of(const options&);
// How a link to a neighbour keeps its filters up to date.
overlay::link_terms link_terms_of(const options&, unsigned levels);

// Keys with equal digests, which anyone can make for some hashes, are one object of the overlay; it is gone
// when the last of them is.
class twin_counts {
  public:
    // Whether the object enters: `there` is whether it was there.
    bool enters(const digest& d, bool there) {
        if (there) ++more_[{d.low, d.high}];
        return !there;
    }
    // Whether the object leaves.
    bool leaves(const digest& d) {
        const auto found = more_.find({d.low, d.high});
        if (found == more_.end()) return true;
        if (--found->second == 0) more_.erase(found);
        return false;
    }

  private:
    std::map<std::pair<std::uint64_t, std::uint64_t>, std::uint64_t> more_;  // keys beyond the first
};

}  // namespace posy::node
