// A node of a tree that finds objects by filters (Czerwinski et al. 1999; Broder & Mitzenmacher 2004, 6.1).
//
//           root               A node knows its own objects, the filter of everything below each child,
//          /    \              and the union of them all, which is what its parent holds of it. A request
//        a        b  ← ask     goes up until a child's filter says yes, and down from there. Where nothing
//       / \      / \           below has it after all, it comes back, and the next child is tried.
//      c   d    e   f
//
// Objects are counted into the union, and a child's bit leaves it when nobody else below has it: removals
// reach the root. What travels is changed bits (posy/overlay/filter_link.hpp). The union itself is nowhere:
// a bit of it is asked of its parts, and a request asks the parts, too, which are right more often.
//
// A node keeps no state of requests that pass: the request has the highest node it has reached and the child
// it came from there, and the children of a node have an order for each object. So a request costs each node
// O(children), and a flood of requests no memory. The node that asks keeps its own and repeats them.
//
// Children send a beat; one that is silent is dropped with all that it had. A node whose parent is silent
// goes to its grandparent and further up, then to the heirs of the root, then to the seeds; until one takes
// it, it is the root of what is below it.
//
// What is being repaired is not absent. A child is kept two beats longer than a parent, so that those below
// it are elsewhere before their bits go. A child that starts anew has lost its own children until their next
// beat: its parent keeps what was below it for a while, and a request that meets this gets no answer rather
// than a wrong one, so that whoever asks asks again.
//
// A state machine (posy/overlay/mail.hpp). Memory: the objects, and for each child at most two arrays of the
// filter's bits. Thread safety: none.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "posy/overlay/filter_link.hpp"
#include "posy/overlay/lookup_table.hpp"
#include "posy/overlay/mail.hpp"
#include "posy/overlay/own_objects.hpp"

namespace posy::overlay {

enum class tree_kind : std::uint8_t {
    update = 1,  // child to parent: changed bits
    have,        // parent to child: what it has of the child's updates
    beat,        // child to parent: what it has sent so far
    family,      // parent to child: as `have`, and whom to turn to when the parent fails
    leave,       // to parent and children: where to go instead
    full,        // no room for another child, or it would close a circle
    ask,         // a request
    found,       // its answers, to the node that asked
    absent,
};

struct tree_settings {
    link_terms terms;
    std::size_t most_children = 64;
    std::uint64_t beat = 30'000;        // ms between two beats
    unsigned silent_beats = 4;          // before a silent neighbour is given up
    std::uint64_t answer_time = 5'000;  // ms that a new parent has for its answer
    unsigned most_hops = 4096;          // of a request
    lookup_terms lookups;
    std::vector<node_id> seeds;  // where a node without a parent asks; the root is the first of them
};

class tree_node {
  public:
    // `life` grows whenever the node starts anew; `secret` is known to nobody else.
    tree_node(node_id me, const tree_settings&, std::uint32_t life, std::uint64_t secret);

    // Becomes a child of that node, or tries to; nothing is known of it before it answers.
    void join(node_id parent, std::uint64_t now, outbox&);
    // Tells parent and children. Nothing else may be called after it.
    void leave(outbox&);

    // False if it is there already, or not there.
    bool insert(digest, std::uint64_t now, outbox&);
    bool remove(digest, std::uint64_t now, outbox&);

    // Asks who has it. The answer is among take_answers() later.
    std::optional<std::uint32_t> look_up(digest, std::uint64_t now, outbox&);
    std::vector<lookup_answer> take_answers() { return lookups_.take_answers(); }

    void receive(node_id from, byte_view message, std::uint64_t now, outbox&);
    void tick(std::uint64_t now, outbox&);
    std::optional<std::uint64_t> next_tick() const;

    node_id id() const { return me_; }
    std::optional<node_id> parent() const { return parent_; }
    bool is_root() const { return !parent_ && reigns_; }
    std::vector<node_id> children() const;
    std::size_t objects() const { return objects_.size(); }
    bool has(const digest& key) const { return objects_.contains(key); }
    bool settled() const { return !parent_ || up_.settled(); }
    // Whether the filter of a child says yes. Precondition: it is a child.
    bool may_be_below(node_id child, digest) const;
    std::vector<position> ones_of(node_id child) const { return children_.at(child).held.level(0).sorted(); }
    // Whether the filters of the two are of other terms, so that nothing of the one below is known above.
    bool parent_differs() const { return parent_ && up_.other_terms(); }
    bool differs(node_id child) const { return children_.at(child).held.other_terms(); }
    // Whether a child that started anew may get back more than it has.
    bool is_restoring(node_id child) const { return children_.at(child).former.has_value(); }
    std::size_t memory() const;

    struct counters {
        std::uint64_t asked = 0;     // requests that came here
        std::uint64_t returned = 0;  // came back from a child: its filter was wrong
        std::uint64_t strangers = 0, damaged = 0, refused = 0;  // messages that changed nothing
        std::uint64_t lost_children = 0, lost_parents = 0;
    };
    const counters& counted() const { return counted_; }
    const filter_sender::counters& updates() const { return up_.counted(); }

  private:
    struct branch {
        filter_receiver held;
        std::uint64_t heard;
        std::optional<one_set> former{};  // what it had in its last life, and has not got back
        std::uint64_t former_until = 0;
        bool was_below(position p) const { return former && former->test(p); }
        bool test(position p) const { return held.level(0).test(p) || was_below(p); }
    };
    struct request : lookup_request {
        node_id apex = 0, below = 0;  // the highest node so far, and where it came from there
        bool unsure = false;          // it may be at a node that is being repaired
    };
    using children_map = std::map<node_id, branch>;

    // The filter.
    void flip_own(position, std::uint64_t now);
    bool below_has(position, const branch* but) const;
    // What changes in the union when these bits of a child have changed, or of one that is gone.
    void merge(const branch* from, const std::vector<position>& flips, std::uint64_t now);
    std::vector<position> union_ones() const;
    void send_update(std::uint64_t now, outbox&);

    // The family.
    void take_update(node_id from, byte_view body, std::uint64_t now, outbox&);
    void take_beat(node_id from, byte_view body, std::uint64_t now, outbox&);
    void take_have(node_id from, byte_view body, std::uint64_t now);
    void take_family(node_id from, byte_view body, std::uint64_t now);
    void take_leave(node_id from, byte_view body, std::uint64_t now, outbox&);
    void take_refusal(node_id from, std::uint64_t now, outbox&);
    children_map::iterator child_of(node_id from, std::uint64_t now, outbox&);
    void keep_former(branch&, const std::vector<position>& flips, std::uint64_t now);
    void forget_former(std::uint64_t now);
    void drop(children_map::iterator, std::uint64_t now);
    void drop_silent(std::uint64_t now);
    void lose_parent(std::uint64_t now, outbox&);
    void try_next(std::uint64_t now, outbox&);
    void send_beat(node_id to, outbox&) const;
    std::uint64_t silence() const { return settings_.beat * settings_.silent_beats; }
    std::uint64_t silence_of_a_child() const { return silence() + 2 * settings_.beat; }

    // Requests.
    void take_request(node_id from, byte_view body, std::uint64_t now, outbox&);
    void pass_on(request, node_id from, std::uint64_t now, outbox&);
    std::optional<node_id> next_child(const request&, std::optional<node_id> after) const;
    bool may_come_back(const digest&) const;
    void begin(std::uint32_t id, digest, std::uint64_t now, outbox&);

    node_id me_;
    tree_settings settings_;
    std::uint64_t secret_;
    own_objects objects_;
    children_map children_;

    std::optional<node_id> parent_;
    filter_sender up_;
    std::uint64_t parent_heard_ = 0, next_beat_ = 0;
    std::vector<node_id> ancestors_, heirs_;  // of the parent, the nearest first; its oldest children

    // While there is no parent: who may become it, the next of them to try, and how often the last was.
    std::vector<node_id> relatives_;
    std::size_t next_relative_ = 0;
    unsigned tries_ = 0;
    std::optional<node_id> candidate_;
    std::optional<std::uint64_t> try_at_;
    bool reigns_ = true;  // without a parent, and not on the way to one: what is not below is nowhere

    lookup_table lookups_;
    counters counted_;
};

}  // namespace posy::overlay
