// A node that finds near copies by attenuated filters (Rhea & Kubiatowicz 2002; Broder & Mitzenmacher 2004,
// 6.2): for every neighbour an array of d filters, of what the neighbour itself has, of what is one hop
// behind it, two hops …
//
//                 ┌ level 0: objects of b               A request goes to the neighbour whose array says yes
//     a ── b ──┬── level 1: objects of c, d             at the lowest level: the nearest copy. A node that
//              c    level 2: of what is behind c, d     cannot go on, or the d-th, sends it the sure way:
//              d                                        to the object's home, which knows its holders
//                                                       (posy/overlay/home_ring.hpp).
//
// What a node tells a neighbour: its objects as level 0, and as level i + 1 the union of level i of all other
// neighbours. A bit of that union is asked of its parts and is nowhere itself. What travels is changed bits
// (posy/overlay/filter_link.hpp); a change goes d hops far.
//
// Nodes keep no state of requests that pass; each sends at most one message per request. The node that asks
// repeats its own. Holders tell the home of every object they get or lose, and the home the next node on the
// ring, until that has answered. A home that started anew may not have heard of all objects again: it asks
// the next node before it says that there is none.
//
// A state machine (posy/overlay/mail.hpp). Memory: the objects, d arrays of bits for each neighbour, and the
// pointers of a home. Thread safety: none.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "posy/overlay/filter_link.hpp"
#include "posy/overlay/home_ring.hpp"
#include "posy/overlay/lookup_table.hpp"
#include "posy/overlay/mail.hpp"
#include "posy/overlay/own_objects.hpp"

namespace posy::overlay {

enum class attenuated_kind : std::uint8_t {
    update = 1,  // to a neighbour: changed bits
    have,        // to a neighbour: what it has of them
    beat,        // to a neighbour: still here?
    here,        // the answer to it, otherwise as `have`
    full,        // no room for another neighbour
    leave,       // to neighbours
    ask,         // a request
    found,       // its answers, to the node that asked
    absent,
    publish,  // towards the home: an object is here, or is gone
    kept,     // the answer to it
    copy,     // from the home to the next on the ring: as `publish`, and the next one answers
};

struct attenuated_settings {
    link_terms terms;  // as many levels as hops
    std::size_t most_neighbours = 32;
    std::uint64_t beat = 30'000;  // ms between two beats
    unsigned silent_beats = 4;    // before a silent neighbour is given up
    unsigned most_hops = 256;     // of a request on the sure way
    lookup_terms lookups;
    lookup_terms publications{.patience = 30'000, .attempts = 1000, .most = 10'000'000};
    std::size_t most_pointers = 10'000'000;
    std::uint64_t republish = 3'600'000;  // ms until homes are told again, which may have lost it; 0: never
};

class attenuated_node {
  public:
    // `life` grows whenever the node starts anew; `secret` is known to nobody else.
    attenuated_node(node_id me, const attenuated_settings&, std::uint32_t life, std::uint64_t secret);

    // Links are mutual: it is enough that one side connects.
    void connect(node_id neighbour, std::uint64_t now, outbox&);
    // Tells the neighbours. Nothing else may be called after it.
    void leave(outbox&);
    // All nodes, for the sure way. Objects are published anew.
    void set_members(std::span<const node_id>, std::uint64_t now, outbox&);

    // False if it is there already, or not there.
    bool insert(digest, std::uint64_t now, outbox&);
    bool remove(digest, std::uint64_t now, outbox&);

    std::optional<std::uint32_t> look_up(digest, std::uint64_t now, outbox&);
    std::vector<lookup_answer> take_answers() { return lookups_.take_answers(); }

    void receive(node_id from, byte_view message, std::uint64_t now, outbox&);
    void tick(std::uint64_t now, outbox&);
    std::optional<std::uint64_t> next_tick() const;

    node_id id() const { return me_; }
    bool has(const digest& key) const { return objects_.contains(key); }
    std::size_t objects() const { return objects_.size(); }
    std::vector<node_id> neighbours() const;
    // Precondition: it is a neighbour.
    const one_set& level(node_id neighbour, unsigned i) const { return links_.at(neighbour).in.level(i); }
    // Whether the filters of the two are of other terms, so that they know nothing of each other.
    bool differs(node_id neighbour) const { return links_.at(neighbour).in.other_terms(); }
    bool settled() const;
    std::size_t memory() const;
    std::size_t pointers() const { return home_.pointers(); }
    std::size_t unpublished() const { return publications_.waiting(); }

    struct counters {
        std::uint64_t by_filter = 0;  // requests sent on because an array said yes
        std::uint64_t gave_up = 0;    // requests sent the sure way from here
        std::uint64_t misled = 0;     // those of them that an array had sent here
        std::uint64_t disowned = 0;   // a home sent one here, and the object was gone
        std::uint64_t strangers = 0, damaged = 0, refused = 0;  // messages that changed nothing
        std::uint64_t lost_neighbours = 0;
    };
    const counters& counted() const { return counted_; }

  private:
    struct edge {
        filter_receiver in;
        filter_sender out;
        std::uint64_t heard, next_beat;
    };
    enum class stage : std::uint8_t { by_filter, to_home, to_holder, disowned, to_copy };
    struct request : lookup_request {
        attenuated_node::stage stage = stage::by_filter;
    };
    using link_map = std::map<node_id, edge>;

    // The filters.
    void flip_everywhere(position, std::uint64_t now);
    void spread(node_id from, unsigned level, std::span<const position> flips, std::uint64_t now);
    std::vector<position> content_for(node_id neighbour, unsigned level) const;
    void send_updates(std::uint64_t now, outbox&);

    // The neighbours.
    link_map::iterator link_of(node_id, std::uint64_t now, outbox&);
    void take_update(node_id from, byte_view body, std::uint64_t now, outbox&);
    void take_have(node_id from, byte_view body, std::uint64_t now);
    void drop(link_map::iterator, std::uint64_t now);
    void beat_and_drop(std::uint64_t now, outbox&);

    // Requests.
    void take_request(node_id from, byte_view body, std::uint64_t now, outbox&);
    void pass_on(request, node_id from, std::uint64_t now, outbox&);
    void go_home(request, std::uint64_t now, outbox&);
    void go_to_holder(request, std::uint64_t now, outbox&);
    std::optional<node_id> nearest(const digest&, unsigned hops_left, node_id but) const;
    void send(const request&, node_id to, outbox&);
    void begin(std::uint32_t id, digest, std::uint64_t now, outbox&);

    // The home.
    void publish(digest, std::uint64_t now, outbox&);
    void send_publication(std::uint32_t id, const digest&, std::uint64_t now, outbox&);
    void take_publication(byte_view body, std::uint64_t now, outbox&);
    void route_publication(std::uint32_t id, std::uint16_t hops, node_id holder, const digest&, bool there,
                           std::uint64_t now, outbox&);
    void take_copy(byte_view body, std::uint64_t now, outbox&);
    bool note_holder(const digest&, node_id holder, bool there);
    void confirm(std::uint32_t id, node_id holder, const digest&, bool there, std::uint64_t now, outbox&);
    void take_kept(byte_view body, std::uint64_t now, outbox&);
    void publish_again(std::uint64_t now, outbox&);
    void was_kept(std::uint32_t id, const digest&, bool there, std::uint64_t now, outbox&);

    node_id me_;
    attenuated_settings settings_;
    std::uint32_t life_;
    std::uint64_t secret_;
    own_objects objects_;
    link_map links_;
    home_ring home_;
    lookup_table lookups_, publications_;
    std::uint64_t republish_at_ = 0;
    std::optional<std::uint64_t> complete_at_;  // when all holders have told this home again
    counters counted_;
};

}  // namespace posy::overlay
