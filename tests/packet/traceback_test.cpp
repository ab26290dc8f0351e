#include "posy/packet/traceback.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>

#include "statistics.hpp"

namespace posy::packets {
namespace {

std::vector<std::string> names(const topology& t, const std::vector<trace_step>& steps) {
    std::vector<std::string> all;
    for (const trace_step& step : steps) all.push_back(t.routers()[step.router].name);
    return all;
}

// Answers by the first letter of the digests: y, n, or nothing for '-'.
std::vector<trace_step> trace(const topology& t, std::string_view start) {
    traceback search(t, *t.find(start));
    while (const auto router = search.next()) {
        const char says = t.routers()[*router].digests[0];
        search.answer(says == '-' ? std::nullopt : std::optional(testimony{says == 'y', 0.25}));
    }
    return search.steps();
}

TEST(topology, reads_lines_and_joins_the_ends_of_links) {
    const auto t = topology::parse(
        "# a comment\n"
        "a /srv/a b c  # another\r\n"
        "\n"
        "\tb http://b:80/d\n"
        "c - b c c");
    ASSERT_TRUE(t) << t.error().text();
    ASSERT_EQ(t->routers().size(), 3u);
    EXPECT_EQ(t->routers()[0].digests, "/srv/a");
    EXPECT_EQ(t->routers()[0].neighbours, (std::vector<std::size_t>{1, 2}));
    EXPECT_EQ(t->routers()[1].neighbours, (std::vector<std::size_t>{0, 2}));
    EXPECT_EQ(t->routers()[2].neighbours, (std::vector<std::size_t>{0, 1}));
    EXPECT_EQ(t->find("c"), 2u);
    EXPECT_FALSE(t->find("d"));
    EXPECT_FALSE(t->find(""));
}

TEST(topology, names_the_line_that_is_wrong) {
    const auto text_of = [](std::string_view text) {
        const auto t = topology::parse(text);
        return t ? std::string() : t.error().text();
    };
    EXPECT_NE(text_of("a x\n\nb\n").find("line 3"), std::string::npos);
    EXPECT_NE(text_of("a x\na y\n").find("twice"), std::string::npos);
    EXPECT_NE(text_of("a x z\n").find("'z'"), std::string::npos);
    EXPECT_NE(text_of("").find("no routers"), std::string::npos);
    EXPECT_NE(text_of("# nothing\n").find("no routers"), std::string::npos);
}

TEST(traceback, follows_those_that_saw_the_packet) {
    const auto t = *topology::parse("v y a b\na y c\nb n d\nc y\nd y\n");
    const auto steps = trace(t, "v");
    EXPECT_EQ(names(t, steps), (std::vector<std::string>{"v", "a", "c"}));
    EXPECT_EQ(steps[2].distance, 2u);
    EXPECT_EQ(steps[2].towards, t.find("a"));
    EXPECT_FALSE(steps[1].last);
    EXPECT_TRUE(steps[2].last);
}

TEST(traceback, passes_silent_routers_that_lead_somewhere) {
    const auto t = *topology::parse("v y a b\na - c\nb - d\nc y\nd n e\ne y\n");
    const auto steps = trace(t, "v");
    EXPECT_EQ(names(t, steps), (std::vector<std::string>{"v", "a", "c"}));
    EXPECT_TRUE(steps[1].silent);
}

TEST(traceback, finds_nothing_where_nothing_was_seen) {
    EXPECT_TRUE(trace(*topology::parse("v n a\na y\n"), "v").empty());
    EXPECT_TRUE(trace(*topology::parse("v - a\na -\n"), "v").empty());
}

// The oracle: all routers that are connected with the start through routers that say yes, each with its
// distance in that graph.
TEST(traceback, finds_the_component_of_the_start_and_asks_no_one_twice) {
    std::mt19937_64 random(3);
    at_least found(2000);
    for (int trial = 0; trial < 300; ++trial) {
        const std::size_t n = 2 + random() % 40;
        std::vector<router> routers(n);
        std::vector<bool> yes(n);
        for (std::size_t i = 0; i < n; ++i) {
            yes[i] = i == 0 || random() % 3 != 0;
            for (int links = 0; links < 2; ++links) routers[i].neighbours.push_back(random() % n);
        }
        const topology t(routers);
        std::vector<std::size_t> distance(n, n);
        distance[0] = 0;
        for (std::size_t round = 0; round < n; ++round)
            for (std::size_t i = 0; i < n; ++i)
                for (const std::size_t j : t.routers()[i].neighbours)
                    if (yes[i] && yes[j]) distance[j] = std::min(distance[j], distance[i] + 1);
        traceback search(t, 0);
        std::set<std::size_t> asked;
        while (const auto router = search.next()) {
            ASSERT_TRUE(asked.insert(*router).second);
            search.answer(testimony{yes[*router], 0.5});
        }
        EXPECT_EQ(search.asked(), asked.size());
        EXPECT_DOUBLE_EQ(search.false_branches(), 0.5 * static_cast<double>(asked.size()));
        std::set<std::size_t> seen;
        for (const trace_step& step : search.steps()) {
            seen.insert(step.router);
            EXPECT_EQ(step.distance, distance[step.router]);
            if (step.towards) {
                EXPECT_EQ(distance[*step.towards] + 1, step.distance);
            }
        }
        for (std::size_t i = 0; i < n; ++i) EXPECT_EQ(seen.contains(i), distance[i] < n);
        found += seen.size();
    }
}

}  // namespace
}  // namespace posy::packets
