// A node of the gossip mesh: it knows every other node and the summary of what each of them has (PlanetP:
// Cuenca-Acuna, Peery, Martin and Nguyen 2003; Broder & Mitzenmacher 2004, 5.1).
//
// Once per round, at random times, a node greets a random member. The two tell each other their news, and
// each fetches what is new to it: a summary travels to a node once, as the delta from what it holds where
// possible. In every tenth round the two compare their directories by a hash, and where these differ, part by
// part (anti-entropy); so whatever rumours missed arrives as well.
//
// The greeting is the sign of life, too. A member that does not answer is suspected, and the suspicion is
// news. A suspect that lives objects by a higher incarnation; one that does not is gone. Nodes go on trying
// members that are gone now and then, so that the parts of a divided network find each other again.
//
// The waits between rounds are exponential, so contacts are a Poisson process and theory::gossip is exact but
// for latency. Memory: all summaries, within a budget. Other nodes are believed about who is a member and
// what its summary is; whatever they send, memory and the rate of changes are limited, and the rest counted.
// Thread safety: none.
#pragma once

#include <map>
#include <random>

#include "posy/counting_filter.hpp"
#include "posy/overlay/gossip_directory.hpp"
#include "posy/overlay/gossip_news.hpp"

namespace posy {
class shared_filters;
}

namespace posy::overlay {

namespace gossip {
struct greeting;
struct reply;
struct want;
struct record;
struct records;
struct parts;
struct versions;
}  // namespace gossip

class gossip_node {
  public:
    // `set` is what this node has, and its summary's geometry. With a pool, nodes of one process share the
    // summaries that they hold; it must outlive them.
    static result<gossip_node> make(node_id self, std::string address, counting_filter set,
                                    const gossip_settings&, std::uint64_t seed, std::uint64_t now,
                                    shared_filters* pool = nullptr);

    // A node that may know others. It is asked while no other member is known.
    void add_contact(node_id);
    const std::vector<node_id>& contacts() const { return contacts_; }
    // Tells some members. Afterwards the node is silent.
    void leave(std::uint64_t now, outbox&);

    // What this node has. Others hear of it when the publisher is due, at the next round.
    void insert(digest d) { own_.insert(d); }
    bool remove(digest d) { return own_.remove(d); }
    const counting_filter& set() const { return own_.set(); }
    publisher& own_summary() { return own_; }
    const publisher& own_summary() const { return own_; }

    void receive(node_id from, byte_view message, std::uint64_t now, outbox&);
    void tick(std::uint64_t now, outbox&);
    std::optional<std::uint64_t> next_tick() const;

    node_id self() const { return self_; }
    // With this node among the members; its summary is own_summary().
    const gossip_directory& directory() const { return directory_; }
    // The other members that may have the key.
    std::vector<node_id> who(std::string_view key) const { return directory_.who(key); }
    const gossip_news& news() const { return news_; }
    const gossip_counts& counts() const { return counts_; }
    std::uint64_t summary_bytes() const { return summary_bytes_; }

  private:
    using member = gossip_directory::member;
    // A greeting that waits for its reply.
    struct exchange {
        std::uint64_t nonce;
        std::vector<node_id> told;
        std::vector<std::byte> message;
        std::uint64_t until;
        unsigned tries;
    };
    using wishes = std::vector<node_id>;

    gossip_node(node_id self, publisher own, const gossip_settings&, std::uint64_t seed, shared_filters*);

    // Rounds and signs of life (gossip_rounds.cpp).
    void round(std::uint64_t now, outbox&);
    void publish_if_due(std::uint64_t now);
    void forget_and_give_up(std::uint64_t now);
    std::uint64_t suspicion_time() const;
    std::optional<node_id> partner();
    std::optional<node_id> random_gone();
    void greet(node_id, bool compare, std::uint64_t now, outbox&);
    void repeat_greetings(std::uint64_t now, outbox&);
    void suspect(node_id, std::uint64_t now);
    std::uint64_t draw_below(std::uint64_t);
    std::uint64_t draw_wait();

    // What arrives (gossip_node.cpp).
    void on(node_id from, const gossip::greeting&, std::uint64_t now, outbox&);
    void on(node_id from, const gossip::reply&, std::uint64_t now, outbox&);
    void on(node_id from, const gossip::want&, std::uint64_t now, outbox&);
    void on(node_id from, const gossip::records&, std::uint64_t now, outbox&);
    void on(node_id from, const gossip::parts&, std::uint64_t now, outbox&);
    void on(node_id from, const gossip::versions&, std::uint64_t now, outbox&);
    // Where something was heard: rumours go on as rumours. What a comparison of directories brings is old,
    // and only doubts about a member, to which it must be able to object, become rumours.
    enum class source { rumour, comparison };
    // Whether it is news; what has to be fetched joins the wishes.
    bool note(const member_version&, source, std::uint64_t now, wishes&);
    void defend(const member_version&, std::uint64_t now);
    void adopt(member&, const member_version&, source, std::uint64_t now);
    std::vector<member_version> newer_than(const std::vector<member_version>&, std::uint32_t mask) const;

    // Summaries (gossip_summaries.cpp).
    void ask(node_id from, const wishes&, source, std::uint64_t now, outbox&);
    std::vector<std::shared_ptr<const std::vector<std::byte>>> messages_for(const member&,
                                                                            std::optional<edition> held);
    void take(const gossip::record&, source, std::uint64_t now);
    member* admit(const gossip::record&, source, std::uint64_t now);
    bool take_summary(member&, byte_view message, std::uint64_t now);
    static void keep_delta(member&, std::optional<edition> base, byte_view message, std::uint64_t whole);
    void hold_less(member&);

    node_id self_;
    gossip_settings how_;
    publisher own_;
    shared_filters* pool_;
    std::mt19937_64 random_;
    gossip_directory directory_;
    gossip_news news_;
    gossip_counts counts_;
    std::vector<node_id> contacts_;
    std::map<node_id, exchange> waiting_;
    struct question {
        std::uint64_t until;
        source why;
    };
    std::map<node_id, question> asked_;  // whose records were asked for
    std::uint64_t next_round_ = 0, nonce_ = 0, summary_bytes_ = 0;
    bool settled_ = false;  // until a directory equal to its own is found, a newcomer compares in every round
};

}  // namespace posy::overlay
