#include "simulate/network.hpp"

#include <gtest/gtest.h>

#include <string>

#include "statistics.hpp"

namespace posy::simulate {
namespace {

using overlay::outbox;

std::vector<std::byte> bytes_of(const std::string& text) {
    const auto view = as_byte_view(text);
    return {view.begin(), view.end()};
}

// Writes down what it hears; answers "ping" with "pong"; ticks when told.
struct recorder {
    struct heard {
        std::uint64_t at;
        node_id from;
        std::string text;
        bool operator==(const heard&) const = default;
    };
    std::vector<heard> log;
    std::vector<std::uint64_t> alarms, ticks;

    void receive(node_id from, byte_view message, std::uint64_t now, outbox& out) {
        std::string text;
        for (const std::byte b : message) text += static_cast<char>(b);
        log.push_back({now, from, text});
        if (text == "ping") out.push_back({from, bytes_of("pong")});
    }
    void tick(std::uint64_t now, outbox&) {
        ticks.push_back(now);
        std::erase_if(alarms, [&](std::uint64_t at) { return at <= now; });
    }
    std::optional<std::uint64_t> next_tick() const {
        if (alarms.empty()) return std::nullopt;
        return *std::ranges::min_element(alarms);
    }
};

using recorders = network<recorder>;

void send(recorders& net, node_id from, node_id to, const std::string& text) {
    net.at(from, [&](recorder&, std::uint64_t, outbox& out) { out.push_back({to, bytes_of(text)}); });
}

TEST(simulated_network, carries_mail_in_the_order_of_time) {
    recorders net({.latency = [](node_id from, node_id) { return from == 1 ? 30u : 10u; }}, 1);
    for (const node_id who : {1, 2, 3}) net.join(who, {});
    send(net, 1, 3, "slow");
    send(net, 1, 3, "slow too");
    send(net, 2, 3, "fast");
    EXPECT_TRUE(net.run_to_rest(1000));
    const std::vector<recorder::heard> expected{{10, 2, "fast"}, {30, 1, "slow"}, {30, 1, "slow too"}};
    EXPECT_EQ(net.find(3)->log, expected);
    EXPECT_EQ(net.now(), 30u);
    EXPECT_EQ(net.sent().messages, 3u);
    EXPECT_EQ(net.sent().bytes, 16u);
    EXPECT_EQ(net.sent().bytes_of_kind['s'], 12u);
    EXPECT_EQ(net.sent().messages_of_kind['f'], 1u);
}

TEST(simulated_network, answers_and_stops_at_a_time) {
    recorders net({}, 1);
    net.join(1, {});
    net.join(2, {});
    send(net, 1, 2, "ping");
    net.run_until(99);
    EXPECT_EQ(net.now(), 99u);
    EXPECT_TRUE(net.find(1)->log.empty());
    EXPECT_FALSE(net.run_to_rest(99));
    net.run_until(100);
    ASSERT_EQ(net.find(1)->log.size(), 1u);
    EXPECT_EQ(net.find(1)->log[0], (recorder::heard{100, 2, "pong"}));
}

TEST(simulated_network, wakes_a_machine_when_it_asks) {
    recorders net({}, 1);
    net.join(1, {.alarms = {70, 20}});
    net.run_until(50);
    EXPECT_EQ(net.find(1)->ticks, (std::vector<std::uint64_t>{20}));
    net.at(1, [](recorder& r, std::uint64_t now, outbox&) { r.alarms.push_back(now + 5); });
    EXPECT_TRUE(net.run_to_rest(1000));
    EXPECT_EQ(net.find(1)->ticks, (std::vector<std::uint64_t>{20, 55, 70}));
}

TEST(simulated_network, loses_its_share_of_the_mail) {
    recorders net({.loss = 0.2}, 3);
    net.join(1, {});
    net.join(2, {});
    constexpr std::uint64_t letters = 20000;
    for (std::uint64_t i = 0; i < letters; ++i) send(net, 1, 2, "x");
    net.run_to_rest(1000);
    EXPECT_EQ(net.find(2)->log.size(), letters - net.sent().lost);
    bernoulli lost(letters);
    lost.add(net.sent().lost, letters, 0.2);
    lost.expect(5);  // a false alarm in 1.7 million seeds
}

TEST(simulated_network, mail_for_the_dead_is_lost_and_their_alarms_are_off) {
    recorders net({}, 1);
    net.join(1, {});
    net.join(2, {.alarms = {80}});
    send(net, 1, 2, "too late");
    net.crash(2);
    EXPECT_EQ(net.find(2), nullptr);
    EXPECT_EQ(net.size(), 1u);
    net.run_until(60);
    net.join(2, {.alarms = {200}});  // another life: the alarm at 80 is not its own
    send(net, 1, 2, "in time");
    EXPECT_TRUE(net.run_to_rest(1000));
    ASSERT_EQ(net.find(2)->log.size(), 1u);
    EXPECT_EQ(net.find(2)->log[0].text, "in time");
    EXPECT_EQ(net.find(2)->ticks, (std::vector<std::uint64_t>{200}));
}

TEST(simulated_network, a_partition_lets_nothing_through_until_it_heals) {
    const auto open = [](node_id from, node_id to, std::uint64_t now) {
        return now >= 100 || from % 2 == to % 2;
    };
    recorders net({.open = open}, 1);
    for (const node_id who : {1, 2, 3}) net.join(who, {});
    send(net, 1, 2, "across");
    send(net, 1, 3, "inside");
    net.run_until(100);
    EXPECT_TRUE(net.find(2)->log.empty());
    EXPECT_EQ(net.find(3)->log.size(), 1u);
    EXPECT_EQ(net.sent().lost, 1u);
    send(net, 1, 2, "healed");
    net.run_to_rest(1000);
    EXPECT_EQ(net.find(2)->log.size(), 1u);
}

// A run of lossy small talk: everyone pings everyone.
std::vector<recorder::heard> talk(std::uint64_t seed) {
    recorders net({.latency = [](node_id a, node_id b) { return 10 + (a * 7 + b * 13) % 40; }, .loss = 0.3},
                  seed);
    for (node_id who = 0; who < 10; ++who) net.join(who, {});
    for (node_id from = 0; from < 10; ++from) {
        for (node_id to = 0; to < 10; ++to) send(net, from, to, "ping");
    }
    net.run_to_rest(10000);
    std::vector<recorder::heard> all;
    net.each([&](node_id, recorder& r) { all.insert(all.end(), r.log.begin(), r.log.end()); });
    return all;
}

TEST(simulated_network, the_same_seed_gives_the_same_run) {
    EXPECT_EQ(talk(5), talk(5));
    EXPECT_NE(talk(5), talk(6));
}

}  // namespace
}  // namespace posy::simulate
