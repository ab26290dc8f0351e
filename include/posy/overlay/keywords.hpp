// Keyword search over an inverted index that is spread over nodes by keyword (Reynolds & Vahdat 2003; Broder
// & Mitzenmacher 2004, 5.3). A document is known by a digest of 128 bits; the list of a word, the digests of
// the documents with it, lives at one node, which all nodes compute from the word.
//
// A conjunctive query goes from the shortest list to the longest. At each step the node with the documents so
// far sends their filter to the next; that node answers with short names (a few bytes of each digest) of what
// the filter lets through; the first says which of them it has, with the sum of their digests. If the sum is
// that of the digests at the next node, the intersection is exact; if a short name was ambiguous, full
// digests follow. The planner chooses the filter's size (posy/intersection_plan.hpp); for a few documents the
// digests themselves are fewer bytes.
//
// The list is worked off in parts, and the asker asks for the next part only while it wants more answers.
//
// Invariant: a finished answer is exact: documents with all of the words, and all of them unless the asker
// wanted fewer. What is lost is asked for again; the state of a query at a node is bounded and expires.
// Messages that make no sense change nothing and are counted. Thread safety: none.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "posy/digest.hpp"
#include "posy/intersection_plan.hpp"
#include "posy/overlay/mail.hpp"

namespace posy::base {
class reader;
}

namespace posy::overlay {

namespace keyword_mail {
struct context;
}

// What all nodes agree on.
struct keyword_network {
    std::vector<node_id> nodes{};
    std::uint64_t patience = 2'000;  // milliseconds without an answer until a step is repeated
    bool filters = true;             // without them the lists themselves are sent

    node_id home_of(std::string_view word) const;
};

// One step of a query: what is expected to travel between the nodes of two lists, of `mine` and `others`
// documents with `common` ones in both. Without a filter the digests travel.
struct keyword_step {
    intersection_plan filter{};  // no bits: the digests are fewer bytes
    double bits = 0;             // without the words of the query
};
keyword_step plan_keyword_step(std::uint64_t mine, std::uint64_t others, std::uint64_t common = 0);

class keyword_node {
  public:
    keyword_node(std::shared_ptr<const keyword_network>, node_id self);

    // A document and its words: to be found under each of them. Words of more than 64 bytes are left out.
    void publish(digest document, const std::vector<std::string>& words, outbox&);

    // Which documents have all of these words (at most eight)? At least `most` of them, if there are; or all.
    std::uint64_t ask(std::vector<std::string> words, std::uint64_t most, std::uint64_t now, outbox&);
    struct answer {
        std::uint64_t ticket = 0;
        std::vector<digest> documents{};  // ascending
        bool complete = false;            // there are no others
        bool failed = false;              // no answer came in all tries
    };
    std::vector<answer> take_answers() { return std::exchange(answers_, {}); }

    void receive(node_id from, byte_view message, std::uint64_t now, outbox&);
    void tick(std::uint64_t now, outbox&);
    std::optional<std::uint64_t> next_tick() const;

    std::size_t documents_with(const std::string& word) const;
    std::uint64_t refused() const { return refused_; }
    // How often short names were ambiguous.
    std::uint64_t ambiguous() const { return ambiguous_; }

    static constexpr std::uint64_t most_tries = 10;
    static constexpr std::size_t most_pending = 4'096;  // steps of queries that wait at this node
    static constexpr std::uint64_t whole = ~std::uint64_t{0};

  private:
    using list = std::vector<digest>;  // ascending
    struct question {
        std::vector<std::string> words{};
        std::vector<std::optional<std::uint64_t>> sizes{};
        std::uint64_t most = 0, offset = 0, part = 0;
        list found{};
        std::uint64_t repeat_at = 0, tries = 0;
        bool started = false;
    };
    // A step of a query: who asked, the ticket, where its part of the list starts, and the word's number.
    using step_id = std::tuple<node_id, std::uint64_t, std::uint64_t, std::uint64_t>;
    struct pending {
        std::shared_ptr<const keyword_mail::context> about;
        list documents;
        std::uint64_t expires;
    };

    void send_question(std::uint64_t ticket, question&, std::uint64_t now, outbox&);
    void finish(std::uint64_t ticket, bool complete, bool failed);
    void advance(const keyword_mail::context&, list documents, std::uint64_t now, outbox&);
    static void remember(std::map<step_id, pending>&, const keyword_mail::context&, list,
                         std::uint64_t until);
    const list& list_of(const std::string& word) const;

    // What follows the kind of a message; whether it makes sense.
    bool take_posting(base::reader&);
    bool take_size_question(node_id from, base::reader&, outbox&) const;
    bool take_size(node_id from, base::reader&, std::uint64_t now, outbox&);
    bool take_start(node_id from, base::reader&, std::uint64_t now, outbox&);
    bool take_digests(base::reader&, std::uint64_t now, outbox&);
    bool take_filter(node_id from, base::reader&, std::uint64_t now, outbox&);
    bool take_names(node_id from, base::reader&, outbox&);
    bool take_verdict(node_id from, base::reader&, std::uint64_t now, outbox&);
    bool take_doubt(node_id from, base::reader&, outbox&);
    bool take_part(base::reader&, std::uint64_t now, outbox&);

    std::shared_ptr<const keyword_network> net_;
    node_id self_;
    std::unordered_map<std::string, list> index_;
    std::map<std::uint64_t, question> questions_;
    std::map<step_id, pending> sieved_;      // whose filter was sent
    std::map<step_id, pending> candidates_;  // whose short names were sent
    std::uint64_t tickets_ = 0, refused_ = 0, ambiguous_ = 0;
    std::vector<answer> answers_;
};

}  // namespace posy::overlay
