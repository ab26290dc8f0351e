#include "http/timekeeper.hpp"

#include <gtest/gtest.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <string>

#include "manual_time.hpp"

namespace posy::http {
namespace {

TEST(timekeeper, the_clocks_of_the_system_do_not_run_back) {
    system_time time;
    const auto now = time.now();
    const auto milliseconds = time.milliseconds();
    EXPECT_GT(milliseconds, 1'700'000'000'000U);
    EXPECT_GE(time.now(), now);
    EXPECT_GE(time.milliseconds(), milliseconds);
    EXPECT_GE(time.seconds() + 1, time.time_of_day());
}

TEST(timekeeper, one_clock_moves_all_readings) {
    manual_time time;
    const auto now = time.now();
    EXPECT_EQ(time.time_of_day(), 1'700'000'000);
    time.advance(2500ms);
    EXPECT_EQ(time.now() - now, 2500ms);
    EXPECT_EQ(time.time_of_day(), 1'700'000'002);
    EXPECT_EQ(time.seconds(), 1'700'000'002);
    EXPECT_EQ(time.milliseconds(), 1'700'000'002'500U);
}

// What became of waits, one letter for each: came, or stopped.
class Alarm : public testing::Test {
  protected:
    void wait(alarm& on, clock::time_point then) {
        const auto work = [](alarm& a, clock::time_point end, std::string& into) -> task<void> {
            const bool came = co_await a.until(end);
            into += came ? 'c' : 's';
        };
        asio::co_spawn(context_, work(on, then, became_), asio::detached);
        run();
    }
    void run() {
        context_.restart();
        context_.poll();
    }
    void advance(clock::duration length) {
        time_.advance(length);
        run();
    }

    manual_time time_;
    asio::io_context context_{1};
    std::string became_;
};

TEST_F(Alarm, GoesOffAtItsMoment) {
    alarm one(time_, context_), other(time_, context_);
    wait(one, time_.now() + 10s);
    wait(other, time_.now() + 20s);
    EXPECT_EQ(time_.sleepers(), 2U);
    advance(9999ms);
    EXPECT_EQ(became_, "");
    advance(1ms);
    EXPECT_EQ(became_, "c");
    EXPECT_EQ(time_.sleepers(), 1U);
    advance(1h);
    EXPECT_EQ(became_, "cc");
    EXPECT_EQ(time_.sleepers(), 0U);
}

TEST_F(Alarm, AMomentThatIsPastIsNotWaitedFor) {
    alarm one(time_, context_);
    wait(one, time_.now());
    wait(one, time_.now() - 1h);
    EXPECT_EQ(became_, "cc");
}

TEST_F(Alarm, StopEndsOneWait) {
    alarm one(time_, context_);
    one.stop();
    wait(one, time_.now() + 10s);
    EXPECT_EQ(became_, "");
    one.stop();
    run();
    EXPECT_EQ(became_, "s");
    // What had its moment already, but is stopped before it runs, was stopped.
    wait(one, time_.now() + 10s);
    time_.advance(10s);
    one.stop();
    run();
    EXPECT_EQ(became_, "ss");
    wait(one, time_.now() + 10s);
    advance(10s);
    EXPECT_EQ(became_, "ssc");
}

TEST_F(Alarm, TheClocksOfTheSystemWakeToo) {
    system_time time;
    alarm one(time, context_);
    const auto end = time.now() + 1ms;
    wait(one, end);
    context_.restart();
    context_.run();
    EXPECT_EQ(became_, "c");
    EXPECT_GE(time.now(), end);
}

}  // namespace
}  // namespace posy::http
