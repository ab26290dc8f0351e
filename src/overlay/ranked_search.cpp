#include "posy/overlay/ranked_search.hpp"

#include <algorithm>
#include <cmath>

namespace posy::overlay {
namespace {

// The best first; equal scores in one order everywhere.
bool is_better(const ranked_document& a, const ranked_document& b) {
    if (a.score != b.score) return a.score > b.score;
    return a.peer != b.peer ? a.peer < b.peer : a.document < b.document;
}

}  // namespace

std::string keyword_key(std::string_view word) { return std::string("keyword\0", 8).append(word); }

double inverse_frequency(double all, double some) { return some > 0 ? std::log1p(all / some) : 0; }

double document_score(std::span<const double> weights, std::span<const std::uint32_t> counts,
                      std::uint64_t length) {
    double sum = 0;
    for (std::size_t i = 0; i < std::min(weights.size(), counts.size()); ++i) {
        if (counts[i] != 0) sum += weights[i] * (1 + std::log(static_cast<double>(counts[i])));
    }
    return length ? sum / std::sqrt(static_cast<double>(length)) : 0;
}

peer_ranking rank_peers(const gossip_directory& directory, std::span<const std::string> words) {
    peer_ranking ranking;
    std::vector<std::string> keys;
    for (const std::string& word : words) keys.push_back(keyword_key(word));
    std::vector<double> peers_with(keys.size(), 0);
    std::vector<std::vector<bool>> found;  // by peer and word
    directory.each_summary([&](const gossip_directory::member& m) {
        ++ranking.members;
        std::vector<bool> has;
        for (std::size_t i = 0; i < keys.size(); ++i) {
            const auto& filter = *m.summary.filter();
            has.push_back(filter.may_contain(filter.hash()(std::string_view(keys[i]))));
            peers_with[i] += has.back();
        }
        if (std::ranges::find(has, true) == has.end()) return;
        ranking.peers.push_back({m.version.id, 0});
        found.push_back(std::move(has));
    });
    for (const double n : peers_with)
        ranking.weights.push_back(inverse_frequency(static_cast<double>(ranking.members), n));
    for (std::size_t p = 0; p < found.size(); ++p) {
        for (std::size_t i = 0; i < keys.size(); ++i)
            if (found[p][i]) ranking.peers[p].rank += ranking.weights[i];
    }
    std::ranges::stable_sort(ranking.peers, std::greater{}, &peer_ranking::peer::rank);
    return ranking;
}

ranked_search::ranked_search(peer_ranking ranking, std::size_t wanted)
    : ranking_(std::move(ranking)),
      wanted_(wanted),
      patience_(2 + ranking_.members / 300 + 2 * (wanted / 50)) {}

std::optional<node_id> ranked_search::next() const {
    if (wanted_ == 0 || asked_ >= ranking_.peers.size() || in_vain_ >= patience_) return std::nullopt;
    return ranking_.peers[asked_].id;
}

void ranked_search::answer(std::span<const ranked_document> offered) {
    const auto peer = next();
    if (!peer) return;
    ++asked_;
    bool added = false;
    for (ranked_document d : offered.first(std::min(offered.size(), wanted_))) {
        d.peer = *peer;
        if (!std::isfinite(d.score) || d.score <= 0) continue;
        if (best_.size() == wanted_ && !is_better(d, best_.back())) continue;
        best_.insert(std::ranges::upper_bound(best_, d, is_better), d);
        if (best_.size() > wanted_) best_.pop_back();
        added = true;
    }
    in_vain_ = added ? 0 : in_vain_ + 1;
}

}  // namespace posy::overlay
