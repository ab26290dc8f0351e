#include "posy/overlay/ranked_search.hpp"

#include <cmath>

#include "posy/message.hpp"

namespace posy::overlay {
namespace {

constexpr posy::geometry shape{4096, 7, layout_id::spread};

gossip_directory::member peer_with(node_id id, const std::vector<std::string>& words) {
    gossip_directory::member m{.version = {id, 1, standing::alive, 1},
                               .address = {},
                               .summary = subscriber(),
                               .changes = allowance(1, 1)};
    auto filter = *bloom_filter::make(shape);
    for (const auto& word : words) filter.insert(filter.hash()(std::string_view(keyword_key(word))));
    EXPECT_EQ(m.summary.receive(to_bytes(filter, {.generation = 1}), 0), reception::replaced);
    return m;
}

TEST(ranked_search, weighs_words_by_the_peers_that_have_them) {
    gossip_directory d;
    d.add(peer_with(1, {"common", "rare"}));
    d.add(peer_with(2, {"common"}));
    d.add(peer_with(3, {"common"}));
    d.add(peer_with(4, {"other"}));
    const std::vector<std::string> words{"common", "rare", "nowhere"};
    const auto ranking = rank_peers(d, words);
    EXPECT_EQ(ranking.members, 4u);
    ASSERT_EQ(ranking.weights.size(), 3u);
    EXPECT_DOUBLE_EQ(ranking.weights[0], std::log(1 + 4.0 / 3));
    EXPECT_DOUBLE_EQ(ranking.weights[1], std::log(1 + 4.0 / 1));
    EXPECT_EQ(ranking.weights[2], 0);
    ASSERT_EQ(ranking.peers.size(), 3u);
    EXPECT_EQ(ranking.peers[0].id, 1u);
    EXPECT_DOUBLE_EQ(ranking.peers[0].rank, ranking.weights[0] + ranking.weights[1]);
    EXPECT_EQ(ranking.peers[1].id, 2u);
}

TEST(ranked_search, a_name_is_no_keyword) {
    gossip_directory d;
    d.add(peer_with(1, {"word"}));
    EXPECT_EQ(d.who(keyword_key("word")), std::vector<node_id>{1});
    EXPECT_TRUE(d.who("word").empty());
}

TEST(ranked_search, scores_as_the_formula_says) {
    const std::vector<double> weights{2, 3, 5};
    const std::vector<std::uint32_t> counts{1, 0, 4};
    EXPECT_DOUBLE_EQ(document_score(weights, counts, 16), (2 + 5 * (1 + std::log(4))) / 4);
    EXPECT_EQ(document_score(weights, counts, 0), 0);
}

peer_ranking many_peers(std::size_t peers) {
    peer_ranking r{{1.0}, {}, peers};
    for (node_id id = 1; id <= peers; ++id) r.peers.push_back({id, 1});
    return r;
}

TEST(ranked_search, keeps_the_best_and_stops_when_peers_add_nothing) {
    ranked_search search(many_peers(600), 3);
    EXPECT_EQ(search.patience(), 4u);
    const std::vector<std::vector<ranked_document>> offers{
        {{5, 0, 1}, {1, 0, 2}}, {{4, 0, 3}}, {{3, 0, 4}}, {{2, 0, 5}}, {}, {{6, 0, 6}}, {},
        {{0.5, 0, 7}},          {},          {}};
    for (const auto& offer : offers) {
        ASSERT_TRUE(search.next());
        search.answer(offer);
    }
    EXPECT_FALSE(search.next()) << "four in a row added nothing";
    EXPECT_EQ(search.asked(), offers.size());
    ASSERT_EQ(search.best().size(), 3u);
    EXPECT_EQ(search.best()[0].document, 6u);
    EXPECT_EQ(search.best()[0].peer, 6u) << "whoever answered, whatever it says";
    EXPECT_EQ(search.best()[1].document, 1u);
    EXPECT_EQ(search.best()[2].document, 3u);
}

TEST(ranked_search, a_peer_cannot_offer_more_than_is_wanted_nor_impossible_scores) {
    ranked_search search(many_peers(10), 2);
    search.answer(std::vector<ranked_document>{{INFINITY, 0, 1}, {NAN, 0, 2}, {7, 0, 3}});
    EXPECT_TRUE(search.best().empty());
    search.answer(std::vector<ranked_document>{{-1, 0, 1}, {2, 0, 2}});
    EXPECT_EQ(search.best().size(), 1u);
}

TEST(ranked_search, asks_nobody_for_nothing) {
    EXPECT_FALSE(ranked_search(many_peers(10), 0).next());
    EXPECT_FALSE(ranked_search(many_peers(0), 5).next());
}

}  // namespace
}  // namespace posy::overlay
