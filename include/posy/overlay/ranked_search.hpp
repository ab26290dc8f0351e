// Ranked search over a mesh of keyword filters (PlanetP: Cuenca-Acuna, Peery, Martin and Nguyen 2003, 5).
//
// A node's summary holds the words of its documents beside the names of its objects, so it tells which peers
// may have documents with a word. TF-IDF needs the number of documents with each word, which nobody knows;
// the number of peers with it takes its place. For the words t of a query, with N peers and N_t of them with
// t,
//     inverse peer frequency   IPF_t = ln(1 + N/N_t)
//     rank of a peer           Σ IPF_t over the words in its filter
//     score of a document      Σ IPF_t (1 + ln f_t) / √L, f_t times the word among L words
// Peers are asked in the order of their ranks, and asking ends when several in a row added nothing to the k
// best documents: p = ⌊2 + N/300⌋ + 2⌊k/50⌋ of them. A filter has no false negatives, so a peer that has all
// words is never ranked below one that has fewer of them.
//
// A search is a state machine: it says whom to ask, and takes the answers. Thread safety: none.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "posy/overlay/gossip_directory.hpp"

namespace posy::overlay {

// The key of a word in a summary: no name of an object is one.
std::string keyword_key(std::string_view word);

// ln(1 + all/some), 0 if there is none: the weight of a word by how few peers, or documents, have it.
double inverse_frequency(double all, double some);

// How often a document has each word of a query, and how many words it has.
double document_score(std::span<const double> weights, std::span<const std::uint32_t> counts,
                      std::uint64_t length);

struct peer_ranking {
    struct peer {
        node_id id;
        double rank;
    };
    std::vector<double> weights;  // one per word of the query
    std::vector<peer> peers;      // those with a word at least, the highest rank first
    std::size_t members = 0;      // with a summary
};
peer_ranking rank_peers(const gossip_directory&, std::span<const std::string> words);

// A document that a peer offers.
struct ranked_document {
    double score = 0;
    node_id peer = 0;
    std::uint64_t document = 0;  // as the peer calls it
};

class ranked_search {
  public:
    // For the `wanted` best documents.
    ranked_search(peer_ranking, std::size_t wanted);

    // What a peer needs to score its documents.
    const std::vector<double>& weights() const { return ranking_.weights; }
    std::size_t wanted() const { return wanted_; }
    // The peer to ask now; nothing when the search has ended.
    std::optional<node_id> next() const;
    // What that peer offers, or nothing from a peer that does not answer. At most `wanted` documents are
    // looked at, and scores that cannot be are ignored.
    void answer(std::span<const ranked_document>);

    // The best so far, the best first.
    const std::vector<ranked_document>& best() const { return best_; }
    std::size_t asked() const { return asked_; }
    // How many peers in a row may add nothing.
    std::size_t patience() const { return patience_; }

  private:
    peer_ranking ranking_;
    std::size_t wanted_, patience_, asked_ = 0, in_vain_ = 0;
    std::vector<ranked_document> best_;
};

}  // namespace posy::overlay
