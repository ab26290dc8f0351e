#include "node/question_schedule.hpp"

#include <gtest/gtest.h>

namespace posy::node {
namespace {

using namespace std::chrono_literals;
using outcome = question_schedule::outcome;

// A peer among `peers`, on a clock of our own.
struct asked_peer {
    explicit asked_peer(std::chrono::milliseconds poll = 0ms, peer_kind kind = peer_kind::posy)
        : schedule(with(poll), kind) {}
    static options with(std::chrono::milliseconds poll) {
        options how;
        how.poll = poll;
        how.wait = 60s;
        return how;
    }

    // A question whose answer comes after `time`; returns the pause after it.
    std::chrono::milliseconds ask(outcome came, question_schedule::clock::duration time = 5ms) {
        held = schedule.ask(known, now);
        now += time;
        rest = schedule.over(came, peers, now);
        known = known || came == outcome::news;
        return std::chrono::round<std::chrono::milliseconds>(schedule.next() - now);
    }

    question_schedule schedule;
    question_schedule::clock::time_point now{};
    question_schedule::clock::duration rest{};
    std::chrono::seconds held{};
    bool known = false;
    std::size_t peers = 1;
};

constexpr auto exchange = 1ms;  // what any answer costs at least

TEST(question_schedule, a_long_poll_goes_on_without_a_pause) {
    asked_peer p;
    EXPECT_EQ(p.ask(outcome::news), exchange);
    EXPECT_EQ(p.held, 0s);  // there was nothing yet to wait for a change of
    EXPECT_EQ(p.ask(outcome::unchanged, 60s), exchange);
    EXPECT_EQ(p.held, 60s);
    EXPECT_EQ(p.ask(outcome::news, 3s), exchange);
    EXPECT_EQ(p.held, 60s);
}

TEST(question_schedule, a_peer_that_does_not_hold_questions_open_is_not_hurried) {
    asked_peer p;
    p.ask(outcome::news);
    EXPECT_EQ(p.ask(outcome::unchanged, 5ms), 500ms);
    EXPECT_EQ(p.ask(outcome::unchanged, 30s), 500ms);
    EXPECT_EQ(p.ask(outcome::unchanged, 31s), exchange);  // more than half of the time
    EXPECT_EQ(p.ask(outcome::useless, 60s), 500ms);
}

TEST(question_schedule, an_interval_is_kept_whatever_comes) {
    asked_peer p(7s);
    for (const auto came : {outcome::news, outcome::unchanged, outcome::useless, outcome::news}) {
        EXPECT_EQ(p.ask(came), 7s);
        EXPECT_EQ(p.held, 0s);
    }
    asked_peer hurried(100ms);
    EXPECT_EQ(hurried.ask(outcome::news), 500ms);
}

TEST(question_schedule, a_squid_is_asked_every_ten_seconds_at_most) {
    asked_peer p(0ms, peer_kind::squid), patient(60s, peer_kind::squid);
    EXPECT_EQ(p.ask(outcome::news), 10s);
    EXPECT_EQ(p.ask(outcome::news), 10s);
    EXPECT_EQ(p.held, 0s);
    EXPECT_EQ(patient.ask(outcome::news), 60s);
}

TEST(question_schedule, failures_are_left_alone_for_longer_and_longer) {
    asked_peer p;
    std::chrono::milliseconds most{500};
    for (unsigned failures = 0; failures < 12; ++failures) {
        EXPECT_EQ(p.schedule.failures(), failures);
        const auto pause = p.ask(outcome::failed);
        EXPECT_GE(pause, most / 2);
        EXPECT_LE(pause, most);
        most = std::min<std::chrono::milliseconds>(2 * most, 16s);
    }
    p.ask(outcome::news);
    EXPECT_EQ(p.schedule.failures(), 0U);
    EXPECT_LE(p.ask(outcome::failed), 500ms);
}

TEST(question_schedule, what_an_answer_cost_is_rested_for_even_if_there_is_a_hint) {
    asked_peer p;
    p.peers = 10;
    p.schedule.ask(false, p.now);
    p.schedule.charge(99ms, 0);
    // 100 ms with the exchange; with 10 peers, a share of 1/20 is 100 of every 2,000.
    EXPECT_EQ(p.schedule.over(outcome::unchanged, p.peers, p.now), 1900ms);
    EXPECT_EQ(p.schedule.earliest(), p.now + 1900ms);
    EXPECT_EQ(p.schedule.next(), p.now + 1900ms);
    // The next question starts from nothing; a hint is heard at once then.
    EXPECT_EQ(p.ask(outcome::unchanged), 500ms);
    EXPECT_EQ(p.rest, 19 * exchange);
    EXPECT_EQ(p.schedule.earliest(), p.now + 19ms);
    // Bytes cost, too: 100 MB a second.
    p.peers = 1;
    p.schedule.ask(false, p.now);
    p.schedule.charge(0ms, 50'000'000);
    EXPECT_EQ(p.schedule.over(outcome::news, p.peers, p.now), 501ms);
}

TEST(question_schedule, a_stream_is_offered_unless_one_was_silent) {
    asked_peer p, polled(7s), squid(0ms, peer_kind::squid);
    EXPECT_EQ(p.schedule.stream(p.now), 60s);
    EXPECT_EQ(polled.schedule.stream(p.now), 0s);
    EXPECT_EQ(squid.schedule.stream(p.now), 0s);
    p.schedule.stream_was_silent(p.now);
    EXPECT_EQ(p.schedule.stream(p.now + 10min - 1s), 0s);
    EXPECT_EQ(p.schedule.stream(p.now + 10min), 60s);
}

TEST(question_schedule, each_message_of_a_stream_is_rested_for) {
    asked_peer p;
    p.schedule.ask(true, p.now);
    p.schedule.charge(99ms, 0);
    EXPECT_EQ(p.schedule.message_over(10), 1900ms);
    EXPECT_EQ(p.schedule.message_over(10), 19 * exchange);  // what came before is paid for
    p.ask(outcome::failed);
    p.schedule.lives();
    EXPECT_EQ(p.schedule.failures(), 0U);
}

}  // namespace
}  // namespace posy::node
