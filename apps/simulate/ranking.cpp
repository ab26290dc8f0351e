// Ranked search over a real corpus: documents spread over the nodes of a mesh, beside one index of them all.
//
// A package's folder under /usr/share/doc is a topic, and its documents are what a query for the topic should
// find. The query is the topic's most characteristic words: those that occur in most of its documents,
// weighed by how rare they are elsewhere. Central index and search answer the same queries.
#include <fmt/format.h>

#include <cmath>
#include <map>
#include <random>
#include <set>

#include "documents.hpp"
#include "network.hpp"
#include "posy/overlay/gossip_node.hpp"
#include "posy/overlay/ranked_search.hpp"
#include "posy/shared_filters.hpp"
#include "posy/theory.hpp"
#include "systems.hpp"

namespace posy::simulate {
namespace {

using overlay::ranked_document;

constexpr std::size_t words_per_query = 3, fewest_relevant = 4;
constexpr double rate = 0.001;  // of the keyword filters

struct query {
    std::vector<std::string> words;
    std::set<std::uint64_t> relevant;
};

struct collection {
    std::vector<document> documents;
    std::unordered_map<std::string, std::uint32_t> frequencies;
    std::map<node_id, std::vector<std::uint64_t>> at;  // which node has which
};

std::vector<query> queries_of(const collection& c) {
    std::map<std::string, query> topics;
    for (std::uint64_t d = 0; d < c.documents.size(); ++d) topics[c.documents[d].topic].relevant.insert(d);
    std::vector<query> all;
    for (auto& [topic, q] : topics) {
        if (q.relevant.size() < fewest_relevant) continue;
        std::map<std::string, double> weight;
        for (const std::uint64_t d : q.relevant) {
            for (const auto& [word, count] : c.documents[d].words) {
                weight[word] += overlay::inverse_frequency(static_cast<double>(c.documents.size()),
                                                           c.frequencies.at(word));
            }
        }
        std::vector<std::pair<double, std::string>> best;
        for (const auto& [word, w] : weight) best.emplace_back(-w, word);
        std::ranges::sort(best);
        for (std::size_t i = 0; i < std::min(words_per_query, best.size()); ++i)
            q.words.push_back(best[i].second);
        all.push_back(std::move(q));
    }
    return all;
}

std::vector<ranked_document> best_of(const collection& c, std::span<const std::uint64_t> among,
                                     const query& q, std::span<const double> weights, std::size_t wanted) {
    std::vector<ranked_document> best;
    for (const std::uint64_t d : among) {
        const auto counts = counts_of(c.documents[d], q.words);
        const double score = overlay::document_score(weights, counts, c.documents[d].length);
        if (score > 0) best.push_back({score, 0, d});
    }
    std::ranges::stable_sort(best, std::greater{}, &ranked_document::score);
    if (best.size() > wanted) best.resize(wanted);
    return best;
}

std::vector<ranked_document> ask_central(const collection& c, const query& q, std::size_t wanted) {
    std::vector<double> weights;
    for (const std::string& word : q.words)
        weights.push_back(
            overlay::inverse_frequency(static_cast<double>(c.documents.size()), c.frequencies.at(word)));
    std::vector<std::uint64_t> all(c.documents.size());
    for (std::uint64_t d = 0; d < all.size(); ++d) all[d] = d;
    return best_of(c, all, q, weights, wanted);
}

overlay::ranked_search ask_peers(const collection& c, const overlay::gossip_directory& directory,
                                 const query& q, std::size_t wanted) {
    overlay::ranked_search search(overlay::rank_peers(directory, q.words), wanted);
    while (const auto peer = search.next())
        search.answer(best_of(c, c.at.at(*peer), q, search.weights(), wanted));
    return search;
}

struct quality {
    double recall = 0, precision = 0;
};

quality judge(const std::vector<ranked_document>& answer, const query& q, std::size_t wanted) {
    double hits = 0;
    for (const ranked_document& d : answer) hits += q.relevant.contains(d.document);
    return {hits / static_cast<double>(q.relevant.size()), hits / static_cast<double>(wanted)};
}

// The nodes with their keywords, in a mesh that has come to rest.
using mesh = network<overlay::gossip_node>;

counting_filter keywords_of(const collection& c, std::span<const std::uint64_t> documents) {
    std::set<std::string> words;
    for (const std::uint64_t d : documents) {
        for (const auto& [word, count] : c.documents[d].words) words.insert(overlay::keyword_key(word));
    }
    const double bits = theory::bloom_bits(std::max<double>(1, static_cast<double>(words.size())), rate);
    constexpr unsigned hashes = 10;
    auto set =
        *counting_filter::make({round_up_bits(static_cast<std::uint64_t>(bits), hashes, layout_id::spread),
                                hashes, layout_id::spread});
    for (const std::string& word : words) set.insert(set.hash()(std::string_view(word)));
    return set;
}

void join_all(mesh& net, const collection& c, shared_filters& pool, std::uint64_t seed) {
    for (const auto& [who, documents] : c.at) {
        auto node = *overlay::gossip_node::make(who, "node-" + std::to_string(who), keywords_of(c, documents),
                                                {}, seed + who, net.now(), &pool);
        if (who > 1) node.add_contact(1 + (seed + who * 7) % (who - 1));
        net.join(who, std::move(node));
        net.run_until(net.now() + 100);
    }
}

}  // namespace

report run_ranking(const options& o) {
    const std::uint64_t nodes = number_of("--nodes", o.nodes, 400, 2);
    collection c{read_documents(o.texts), {}, {}};
    c.frequencies = document_frequencies(c.documents);
    const auto queries = queries_of(c);
    if (queries.empty())
        throw std::invalid_argument("simulate: no folder under " + o.texts +
                                    " is a topic with enough texts to ask about; name another with --texts");
    std::mt19937_64 random(o.seed);
    for (node_id who = 1; who <= nodes; ++who) c.at[who];
    for (std::uint64_t d = 0; d < c.documents.size(); ++d) c.at[1 + random() % nodes].push_back(d);

    shared_filters pool;
    mesh net({.loss = o.loss}, o.seed);
    join_all(net, c, pool, o.seed);
    // The asker has no documents, and asks when it knows everybody.
    const node_id asker = nodes + 1;
    auto own = *overlay::gossip_node::make(asker, "asker", *counting_filter::make({64, 1, layout_id::spread}),
                                           {}, o.seed, net.now(), &pool);
    own.add_contact(1);
    net.join(asker, std::move(own));
    for (int i = 0; i < 500 && net.find(asker)->directory().live().size() <= nodes; ++i)
        net.run_until(net.now() + 5000);
    const auto& directory = net.find(asker)->directory();

    report r{"ranking",
             fmt::format("{} documents of {} topics on {} nodes, seed {}", c.documents.size(), queries.size(),
                         nodes, o.seed),
             {},
             {}};
    r.figures.push_back({"nodes whose keywords the asker knows",
                         static_cast<double>(directory.live().size() - 1), static_cast<double>(nodes)});
    curve recall_at{"search among peers", {}}, central_recall_at{"central index", {}};
    for (const std::size_t wanted : {5, 10, 20, 50}) {
        quality central, peers;
        double asked = 0;
        for (const query& q : queries) {
            const auto there = judge(ask_central(c, q, wanted), q, wanted);
            const auto search = ask_peers(c, directory, q, wanted);
            const auto here = judge(search.best(), q, wanted);
            central.recall += there.recall, central.precision += there.precision;
            peers.recall += here.recall, peers.precision += here.precision;
            asked += static_cast<double>(search.asked());
        }
        const auto n = static_cast<double>(queries.size());
        const std::string best = fmt::format("of the best {}", wanted);
        r.figures.push_back(
            {"recall % " + best + " (beside central)", 100 * peers.recall / n, 100 * central.recall / n});
        r.figures.push_back({"precision % " + best + " (beside central)", 100 * peers.precision / n,
                             100 * central.precision / n});
        r.figures.push_back({"  peers asked, %", 100 * asked / n / static_cast<double>(nodes)});
        recall_at.points.emplace_back(wanted, peers.recall / n);
        central_recall_at.points.emplace_back(wanted, central.recall / n);
    }
    r.plots.push_back({"Ranked search", "documents asked for", "recall", {recall_at, central_recall_at}});
    return r;
}

}  // namespace posy::simulate
