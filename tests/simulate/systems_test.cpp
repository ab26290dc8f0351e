#include "simulate/systems.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <random>
#include <set>
#include <stdexcept>

namespace posy::simulate {
namespace {

const figure& named(const report& r, const std::string& name) {
    for (const figure& f : r.figures) {
        if (f.name == name) return f;
    }
    throw std::runtime_error("there is no figure " + name);
}

// Within five standard deviations, a false alarm in 1.7 million, and `slack` of it for what theory leaves
// out.
void expect_as_predicted(const figure& f, double slack = 0) {
    ASSERT_TRUE(f.predicted && f.deviation) << f.name;
    EXPECT_GT(*f.deviation, 0) << f.name;
    EXPECT_NEAR(f.measured, *f.predicted, 5 * *f.deviation + slack * *f.predicted) << f.name;
}

TEST(simulated_systems, have_different_names_and_are_found_by_them) {
    std::set<std::string> names;
    for (const system& s : systems()) {
        EXPECT_TRUE(names.insert(s.name).second);
        EXPECT_EQ(find_system(s.name), &s);
        EXPECT_FALSE(s.what.empty());
    }
    EXPECT_GE(names.size(), 2u);
    EXPECT_EQ(find_system("shrubbery"), nullptr);
}

TEST(simulated_systems, a_tree_is_as_predicted) {
    const report r = run_tree({.nodes = 300, .objects = 20'000, .queries = 20'000, .seed = 3});
    EXPECT_EQ(named(r, "found").measured, 1);
    EXPECT_EQ(named(r, "answered as absent").measured, 1);
    expect_as_predicted(named(r, "false forwards per lookup"));
    expect_as_predicted(named(r, "false forwards per absent object"));
    expect_as_predicted(named(r, "bytes per change, on all links"));
    EXPECT_LT(20 * named(r, "bytes per change, on all links").measured,
              named(r, "bytes per change, by whole filters").measured);
}

TEST(simulated_systems, a_tree_finds_everything_though_messages_are_lost) {
    const report r = run_tree({.nodes = 100, .objects = 3000, .queries = 2000, .seed = 4, .loss = 0.02});
    EXPECT_GT(named(r, "found").measured,
              0.99);  // a child that seems to be silent moves, and is gone for a while
}

// Some 40 nodes are asked in vain: five deviations of a Poisson number of that mean are odds below 1e-5.
TEST(simulated_systems, groups_are_as_predicted) {
    const report r = run_groups({.nodes = 400, .objects = 20'000, .queries = 40'000, .seed = 3});
    EXPECT_EQ(named(r, "lookups that find an existing object").measured, 1);
    EXPECT_EQ(named(r, "lookups that find no absent object").measured, 1);
    EXPECT_EQ(named(r, "lookups that find an existing object then").measured, 1);
    expect_as_predicted(named(r, "  nodes asked in vain, per lookup"));
    expect_as_predicted(named(r, "  nodes asked in vain, per absent object"));
    EXPECT_LT(10 * named(r, "bytes per change, in the whole network").measured,
              named(r, "  whole unions to all leaders instead").measured);
    // Nobody is more than six letters away from an answer but for filters that are wrong.
    EXPECT_LT(named(r, "  letters, per lookup").measured, 6.1);
}

TEST(simulated_systems, attenuated_filters_are_as_predicted) {
    const report r = run_attenuated({.nodes = 600, .objects = 18'000, .queries = 10'000, .seed = 3});
    EXPECT_EQ(named(r, "found, where a copy is near").measured, 1);
    EXPECT_EQ(named(r, "found, where none is near").measured, 1);
    EXPECT_EQ(named(r, "absent objects answered as absent").measured, 1);
    // The rate of a level is a mean over links; a small array adds a percent that the mean fill leaves out.
    expect_as_predicted(named(r, "  false forwards per lookup"), 0.02);
    expect_as_predicted(named(r, "bytes per change, on all links"), 0.01);
    expect_as_predicted(named(r, "  by the filters alone"), 0.01);
}

TEST(simulated_systems, a_tree_with_churn_finds_everything_in_time) {
    const report r = run_tree({.nodes = 300, .objects = 6'000, .queries = 10'000, .seed = 3, .churn = 1});
    EXPECT_GT(named(r, "failures of nodes").measured, 20);
    EXPECT_GT(named(r, "lookups of existing objects").measured, 9'000);
    EXPECT_EQ(named(r, "found").measured, 1);
    EXPECT_EQ(named(r, "  said to be absent").measured, 0);
    EXPECT_EQ(named(r, "answered as absent").measured, 1);
    expect_as_predicted(named(r, "lookups with a node of the way down"));
    expect_as_predicted(named(r, "  found at the first attempt"));
    EXPECT_LT(named(r, "  found at the first attempt").measured, 0.99);
}

TEST(simulated_systems, groups_with_churn_find_everything_in_time) {
    const report r = run_groups({.nodes = 400, .objects = 8'000, .queries = 10'000, .seed = 3, .churn = 1});
    EXPECT_GT(named(r, "  of leaders").measured, 5);
    EXPECT_GT(named(r, "lookups of existing objects").measured, 9'000);
    EXPECT_EQ(named(r, "found").measured, 1);
    EXPECT_EQ(named(r, "  said to be absent").measured, 0);
    EXPECT_EQ(named(r, "answered as absent").measured, 1);
    expect_as_predicted(named(r, "  found at the first attempt"));
    EXPECT_LT(named(r, "  found at the first attempt").measured, 0.995);
}

// Changes are measured at rest, and only what was measured is printed.
TEST(simulated_systems, attenuated_filters_with_churn_report_what_was_measured) {
    const report r = run_attenuated({.nodes = 100, .objects = 1'000, .queries = 500, .seed = 3, .churn = 1});
    EXPECT_THROW(named(r, "bytes per change, on all links"), std::runtime_error);
    EXPECT_FALSE(named(r, "  false forwards per lookup").predicted);
    EXPECT_GT(named(r, "failures of nodes").measured, 0);
    expect_as_predicted(named(r, "said to be absent, none near"));
}

TEST(simulated_systems, a_mesh_with_churn_spreads_changes_in_the_predicted_time) {
    const report r = run_mesh({.nodes = 60, .objects = 600, .seed = 3, .churn = 0.2});
    expect_as_predicted(named(r, "rounds until 99 % know a change"));
    for (const figure& f : r.figures) {
        if (!f.name.starts_with("  the slowest of")) continue;
        EXPECT_LE(f.measured, *f.predicted);
        EXPECT_GT(f.measured, named(r, "rounds until 99 % know a change").measured);
        return;
    }
    ADD_FAILURE() << "there is no slowest change";
}

// Texts of words by Zipf's law, each with a word of its own topic.
std::string folder_of_texts() {
    const std::filesystem::path folder = std::filesystem::path(testing::TempDir()) / "simulated_texts";
    std::mt19937_64 random(7);
    for (int i = 0; i < 120; ++i) {
        const auto topic = folder / ("topic" + std::string(1, static_cast<char>('a' + i % 12)));
        std::filesystem::create_directories(topic);
        std::ofstream file(topic / ("text" + std::to_string(i)));
        file << "topic" << static_cast<char>('a' + i % 12);
        for (int w = 0; w < 150; ++w) {
            const auto rank = static_cast<int>(std::exp(static_cast<double>(random() >> 11) * 0x1p-53 * 7));
            std::string word = "word";
            for (int left = rank; left > 0; left /= 26) word += static_cast<char>('a' + left % 26);
            file << ' ' << word;
        }
    }
    return folder.string();
}

TEST(simulated_systems, keywords_are_found_exactly_for_the_planned_bytes) {
    const report r = run_keywords({.nodes = 20, .queries = 400, .seed = 3, .texts = folder_of_texts()});
    EXPECT_EQ(named(r, "exact answers").measured, 1);
    EXPECT_EQ(named(r, "first 10: exact answers").measured, 1);
    const figure& bytes = named(r, "lists from node to node, by filters");
    // The plan of a filter of some dozen bits is rough, and whether two lists lie at one node is a matter of
    // chance, with odds of 1 in 20 for each query.
    EXPECT_NEAR(bytes.measured, *bytes.predicted, 0.15 * *bytes.predicted);
    EXPECT_LT(bytes.measured, named(r, "lists from node to node, as they are").measured);
}

TEST(simulated_systems, ranked_search_is_near_the_central_index) {
    const report r = run_ranking({.nodes = 30, .seed = 3, .texts = folder_of_texts()});
    EXPECT_EQ(named(r, "nodes whose keywords the asker knows").measured, 30);
    const figure& recall = named(r, "recall % of the best 10 (beside central)");
    EXPECT_GT(*recall.predicted, 50);
    EXPECT_NEAR(recall.measured, *recall.predicted, 10);
    EXPECT_LT(named(r, "  peers asked, %").measured, 100);
}

TEST(simulated_systems, texts_that_are_not_there_are_named) {
    EXPECT_THROW(run_keywords({.texts = "/nonexistent"}), std::invalid_argument);
}

TEST(simulated_systems, the_same_seed_gives_the_same_report) {
    const options small{.nodes = 60, .objects = 600, .queries = 200, .seed = 5, .loss = 0.05};
    for (const auto run : {run_tree, run_attenuated, run_groups}) {
        const auto seed6 = [&] {
            options other = small;
            other.seed = 6;
            return other;
        }();
        EXPECT_EQ(table(run(small)), table(run(small)));
        EXPECT_NE(table(run(small)), table(run(seed6)));
    }
}

}  // namespace
}  // namespace posy::simulate
