#include "posy/packet/loop_filter.hpp"

#include <gtest/gtest.h>

#include <random>
#include <set>
#include <vector>

#include "posy/theory/loops.hpp"
#include "statistics.hpp"

namespace posy::packets {
namespace {

loop_mask mask(const loop_network& network, std::uint64_t node, std::uint8_t salt = 0) {
    return *loop_mask::make(network, node, salt);
}

std::vector<std::byte> bytes_of(const loop_network& network, const loop_filter& filter) {
    std::vector<std::byte> bytes(network.bytes());
    filter.write(bytes);
    return bytes;
}

unsigned ones(const loop_network& network, const loop_filter& filter) {
    unsigned sum = 0;
    for (const std::byte b : bytes_of(network, filter))
        sum += static_cast<unsigned>(std::popcount(std::to_integer<unsigned>(b)));
    return sum;
}

TEST(loop_filter, refuses_impossible_networks_and_foreign_fields) {
    EXPECT_TRUE(check(loop_network{}));
    for (const unsigned bits : {0u, 7u, 100u, 520u}) EXPECT_FALSE(check(loop_network{.bits = bits})) << bits;
    EXPECT_FALSE(check(loop_network{.bits = 64, .mask_bits = 0}));
    EXPECT_FALSE(check(loop_network{.bits = 64, .mask_bits = 65}));
    EXPECT_FALSE(loop_mask::make({.bits = 9}, 1));
    const loop_network network{.bits = 64};
    const std::vector<std::byte> field(9);
    EXPECT_FALSE(loop_filter::read(network, field));
    EXPECT_FALSE(loop_filter::read(network, byte_view(field).first(7)));
    EXPECT_TRUE(loop_filter::read(network, byte_view(field).first(8)));
}

TEST(loop_filter, a_mask_has_its_number_of_bits_within_the_filter) {
    at_least checked(1000);
    for (const loop_network network : {loop_network{.bits = 8, .mask_bits = 8},
                                       {.bits = 72, .mask_bits = 9},
                                       {.bits = 512, .mask_bits = 3}})
        for (std::uint64_t node = 0; node < 500; ++node, ++checked) {
            loop_filter filter;
            EXPECT_TRUE(filter.enter(mask(network, node)));
            EXPECT_EQ(ones(network, filter), network.mask_bits);
        }
}

TEST(loop_filter, survives_the_packet) {
    const loop_network network{.bits = 136, .mask_bits = 4, .seed = 9};
    loop_filter filter;
    for (std::uint64_t node = 0; node < 10; ++node) filter.enter(mask(network, node));
    const auto field = bytes_of(network, filter);
    const auto again = loop_filter::read(network, field);
    ASSERT_TRUE(again);
    EXPECT_EQ(*again, filter);
}

TEST(loop_filter, a_packet_that_comes_back_is_always_noticed) {
    std::mt19937_64 random(1);
    const loop_network network{.bits = 128, .mask_bits = 4, .seed = 5};
    at_least loops(10'000);
    for (int trial = 0; trial < 10'000; ++trial, ++loops) {
        loop_filter filter;
        std::set<std::uint64_t> visited;  // the oracle
        for (;;) {
            const std::uint64_t node = random() % 40;
            const bool first = filter.enter(mask(network, node));
            if (!visited.insert(node).second) {
                ASSERT_FALSE(first) << "node " << node << " did not notice";
                break;
            }
            if (!first) break;  // a false loop
        }
    }
}

TEST(loop_filter, another_salt_frees_a_way_that_seems_a_loop) {
    const loop_network network{.bits = 32, .mask_bits = 3};
    const auto passes = [&](std::uint64_t way, std::uint8_t salt) {
        loop_filter filter;
        for (std::uint64_t hop = 0; hop < 8; ++hop)
            if (!filter.enter(mask(network, way * 8 + hop, salt))) return false;
        return true;
    };
    // The salts are independent: of the ways stopped with one, the same share is stopped with the next. Five
    // standard deviations: a false alarm in 1.7 million runs.
    const double odds = theory::false_loop_odds(8, 32, 3);
    bernoulli first(20'000), second(1000);
    for (std::uint64_t way = 0; way < 20'000; ++way) {
        const bool passed = passes(way, 0);
        first.add(!passed, odds);
        if (!passed) second.add(!passes(way, 1), odds);
    }
    first.expect(5);
    second.expect(5);
}

// Short ways and few bits, where false loops abound; five standard deviations each.
TEST(loop_filter, false_loops_are_as_likely_as_predicted) {
    for (const loop_network network : {loop_network{.bits = 64, .mask_bits = 3, .seed = 1},
                                       {.bits = 64, .mask_bits = 6, .seed = 2},
                                       {.bits = 128, .mask_bits = 4, .seed = 3}}) {
        bernoulli stopped(20'000);
        for (std::uint64_t way = 0; way < 20'000; ++way) {
            loop_filter filter;
            bool passed = true;
            for (std::uint64_t hop = 0; passed && hop < 16; ++hop)
                passed = filter.enter(mask(network, way * 16 + hop));
            stopped.add(!passed, theory::false_loop_odds(16, network.bits, network.mask_bits));
        }
        stopped.expect(5);
    }
}

TEST(loop_filter, copies_leave_by_all_other_interfaces_with_the_mask_of_the_node) {
    const loop_network network{.bits = 64, .mask_bits = 4};
    const std::vector<unsigned> interfaces{0, 1, 3};
    loop_filter expected;
    expected.enter(mask(network, 7));
    std::vector<unsigned> sent;
    EXPECT_TRUE(
        loop_filter().enter(mask(network, 7), interfaces, 1, [&](unsigned to, const loop_filter& copy) {
            sent.push_back(to);
            EXPECT_EQ(copy, expected);
        }));
    EXPECT_EQ(sent, (std::vector<unsigned>{0, 3}));
    EXPECT_FALSE(
        expected.enter(mask(network, 7), interfaces, 1, [](unsigned, const loop_filter&) { FAIL(); }));
}

}  // namespace
}  // namespace posy::packets
