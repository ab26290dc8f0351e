// Groups of nodes under leaders (Ledlie et al. 2002; Broder & Mitzenmacher 2004, 5.1): the leaders form a
// gossip mesh, and what they gossip is the union of their group's filters.
//
//     leader ═══ gossip ═══ leader         A member tells its leader which bits of its filter change. The
//     /  |  \               /  |  \        leader keeps a filter for each member, and counts for each bit how
//    m   m   m             m   m   m       many members have it: so whoever leaves is taken out again.
//
// Who has X: the node that asks gets the answer of its leader, which members' filters say yes and which other
// leaders' unions do, and goes on from there, one question at a time, until a holder has said yes. Nobody
// else keeps a state of it. All filters have the geometry of the union, in which a member's is nearly empty:
// a false positive of a union, made of bits of several members, seldom is one of any member, so it ends at
// the leader.
//
// Members send a beat, and the leader's answer names its heir, the member that has been there longest, and
// some other leaders. When the leader is silent, the heir becomes leader and the others go to it; if it is
// silent, too, to the leaders they know, one after the other. One that reaches none leads a group of its own,
// and goes on trying them as a leader does.
//
// What is being repaired is not absent. A silent member is kept for longer than it takes to start anew. A
// leader says nothing, so that it is asked again, in place of that something is nowhere: while it has just
// come to lead and the members are on their way, and of what a leader had that is gone since a short time.
//
// A state machine (posy/overlay/mail.hpp). Memory: a leader holds about 5 bytes for each one of each member's
// filter, an array of counters, and the unions of the other leaders. Thread safety: none.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "posy/overlay/allowance.hpp"
#include "posy/overlay/filter_link.hpp"
#include "posy/overlay/gossip_node.hpp"
#include "posy/overlay/lookup_table.hpp"
#include "posy/overlay/own_objects.hpp"

namespace posy::overlay {

enum class group_kind : std::uint8_t {
    update = 0x30,  // member to leader: changed bits
    beat,           // member to leader: what it has sent so far
    family,         // leader to member: what it has of that, its heir, other leaders
    leave,          // member to leader
    elsewhere,      // no leader, or no room: ask these
    ask,            // to a leader: who has this object?
    told,           // its answer: members, and other leaders
    have,           // to a member: do you have it?
    has,            // its answer
};

struct group_settings {
    link_terms terms;                // of a member's filter: all of one geometry; most_fill limits a member
    gossip_settings mesh;            // among the leaders
    std::uint64_t beat = 10'000;     // ms
    unsigned silent_beats = 3;       // before a silent leader is given up
    unsigned kept_beats = 9;         // before a silent member is dropped
    std::size_t most_members = 512;  // of a group
    double burst = 20;               // updates of a member at once; then one per terms.batch
    lookup_terms lookups;
};

class group_node {
  public:
    // A leader if it has no `leader` to turn to. `life` grows with every start.
    static result<group_node> make(node_id self, std::string address, const group_settings&,
                                   std::optional<node_id> leader, std::uint32_t life, std::uint64_t seed,
                                   std::uint64_t now, shared_filters* pool = nullptr);

    // What this node has. False if it is there already, or not there.
    bool insert(digest, std::uint64_t now);
    bool remove(digest, std::uint64_t now);
    bool has(const digest& key) const { return objects_.contains(key); }

    // Asks who has it. The answer is among take_answers() now or later.
    std::optional<std::uint32_t> look_up(digest, std::uint64_t now, outbox&);
    std::vector<lookup_answer> take_answers();
    // Another leader, for a leader; or a member of another group, which names its leader.
    void add_contact(node_id);
    // Says so; a leader leaves its group to the heir. Afterwards the node is silent.
    void leave(std::uint64_t now, outbox&);

    void receive(node_id from, byte_view message, std::uint64_t now, outbox&);
    void tick(std::uint64_t now, outbox&);
    std::optional<std::uint64_t> next_tick() const;

    bool leads() const { return mesh_.has_value(); }
    std::optional<node_id> leader() const { return leader_; }
    std::optional<node_id> heir() const { return heir_; }
    // Of a leader: the members, with itself, whose filters may contain the key; the leaders whose unions may.
    std::vector<node_id> members_with(digest) const;
    std::vector<node_id> leaders_with(digest) const;
    std::size_t members() const { return members_.size(); }
    std::vector<node_id> member_ids() const;
    // Precondition: it is a member.
    std::uint64_t ones_of(node_id id) const { return members_.at(id).filter.level(0).ones(); }
    // Whether its filter is of other terms, so that nothing of it is known here. Precondition as above.
    bool differs(node_id id) const { return members_.at(id).filter.other_terms(); }
    // Precondition: leads().
    const gossip_node& mesh() const { return *mesh_; }
    const filter_sender& link() const { return to_leader_; }

    struct counters {
        std::uint64_t bad_messages = 0, throttled = 0, refused = 0, promotions = 0, moves = 0;
        std::uint64_t strangers = 0;  // answers that nobody had asked for, mail for a leader
        std::uint64_t misled = 0;     // questions of lookups from here to nodes that had nothing
        std::uint64_t lost = 0;       // members and leaders that fell silent
    };
    const counters& counted() const { return counted_; }

  private:
    struct member {
        filter_receiver filter;
        std::uint64_t since, heard;
        allowance updates;
    };
    // A lookup from here: whom to ask, one at a time.
    struct search {
        digest key;
        std::vector<node_id> members{}, leaders{};           // still to be asked, the next last
        std::set<node_id> asked_members{}, asked_leaders{};  // a leader can be both
        std::set<node_id> silent{};                          // in an earlier attempt: asked after the others
        std::optional<node_id> guide{};                      // the own leader as it began, who names others
        std::optional<node_id> waits_for{};
        unsigned hops = 0;  // letters, there and back
    };

    group_node(node_id self, std::string address, const group_settings&, std::uint32_t life,
               std::uint64_t seed, shared_filters*);
    bool become_leader(std::uint64_t now);
    void inherit(std::uint64_t now);
    void move_to(node_id leader, std::uint64_t now);
    void flip_own(position, std::uint64_t now);
    void speak_to_leader(std::uint64_t now, outbox&);
    void leader_is_silent(std::uint64_t now);
    void drop_silent_members(std::uint64_t now);
    void drop(node_id);
    void choose_heir();
    member* admit(node_id, std::uint64_t now, outbox&);
    void send_family(node_id to, const member&, outbox&);
    void send_elsewhere(node_id to, std::uint64_t now, outbox&);
    std::vector<node_id> other_leaders() const;

    void on_update(node_id from, byte_view, std::uint64_t now, outbox&);
    void on_beat(node_id from, byte_view, std::uint64_t now, outbox&);
    void on_family(node_id from, byte_view, std::uint64_t now);
    void on_elsewhere(node_id from, byte_view, std::uint64_t now);
    void learn_contacts(node_id from, const std::vector<node_id>& leaders);

    // Lookups (group_lookups.cpp).
    void begin(std::uint32_t id, const digest& key, std::uint64_t now, outbox&);
    bool may_turn_up(const digest& key, std::uint64_t now) const;
    void go_on(std::uint32_t id, search&, std::uint64_t now, outbox&);
    bool ask_next(std::uint32_t id, search&, group_kind, bool silent, outbox&) const;
    search* search_of(std::uint32_t id, const digest& key, node_id from);
    void on_ask(node_id from, byte_view, std::uint64_t now, outbox&);
    void on_told(node_id from, byte_view, std::uint64_t now, outbox&);
    void on_have(node_id from, byte_view, outbox&);
    void on_has(node_id from, byte_view, std::uint64_t now, outbox&);

    node_id self_;
    std::string address_;
    group_settings how_;
    shared_filters* pool_;
    std::mt19937_64 random_;
    bool left_ = false;
    own_objects objects_;
    lookup_table lookups_;
    std::map<std::uint32_t, search> searches_;

    // Of a member.
    std::optional<node_id> leader_, heir_;
    std::vector<node_id> leaders_;  // others, to turn to
    std::vector<node_id> silent_;   // leaders and heirs that did not answer since the last that did
    filter_sender to_leader_;
    std::uint64_t next_beat_ = 0, leader_heard_ = 0;

    // Of a leader.
    std::optional<gossip_node> mesh_;
    std::map<node_id, member> members_;
    std::uint64_t complete_at_ = 0;  // when the members of the leader before it have come
    counters counted_;
};

}  // namespace posy::overlay
