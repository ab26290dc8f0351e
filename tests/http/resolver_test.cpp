#include "http/resolver.hpp"

#include <gtest/gtest.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <condition_variable>
#include <map>
#include <mutex>

#include "http/message.hpp"
#include "manual_time.hpp"

namespace posy::http {
namespace {

const auto somewhere = asio::ip::make_address("192.0.2.7");

// In place of the system: answers for "dead…" only when it is let go, never for "none…", at once for others.
struct system_below {
    std::mutex mutex;
    std::condition_variable changed;
    bool free = false;
    std::map<std::string, int> asked;

    resolver::addresses operator()(const std::string& name) {
        std::unique_lock lock(mutex);
        ++asked[name];
        changed.notify_all();
        if (name.starts_with("dead")) changed.wait(lock, [&] { return free; });
        if (name.starts_with("none")) return {};
        return {somewhere};
    }
    void wait_for(const std::string& name) {
        std::unique_lock lock(mutex);
        changed.wait(lock, [&] { return asked.contains(name); });
    }
    int times(const std::string& name) {
        const std::lock_guard lock(mutex);
        return asked[name];
    }
};

class Resolver : public testing::Test {
  protected:
    Resolver() { limits_.threads = 2; }
    ~Resolver() override { let_go(); }

    resolver& names() {
        if (!names_)
            names_ = std::make_unique<resolver>(
                time_, limits_, [below = below_](const std::string& name) { return (*below)(name); });
        return *names_;
    }

    // What became of a name: "" as long as that is not known.
    std::shared_ptr<std::string> ask(const std::string& name, chosen_by by, clock::duration time = 60s) {
        auto said = std::make_shared<std::string>();
        const auto work = [](resolver& r, asio::io_context& here, std::string of, chosen_by who,
                             clock::time_point end, std::shared_ptr<std::string> into) -> task<void> {
            try {
                const auto found = co_await r.resolve(here, of, who, end);
                *into = found.front().to_string();
            } catch (const refusal& e) {
                *into = std::to_string(e.status);
            } catch (const boost::system::system_error& e) {
                *into = e.code() == asio::error::timed_out ? "late" : "unknown";
            }
        };
        const auto end = time_.now() + time;
        asio::co_spawn(context_, work(names(), context_, name, by, end, said), asio::detached);
        context_.poll();
        return said;
    }
    // The system's resolver answers for all names.
    void let_go() {
        const std::lock_guard lock(below_->mutex);
        below_->free = true;
        below_->changed.notify_all();
    }
    // Runs the loop until it is known.
    std::string outcome(const std::shared_ptr<std::string>& said) {
        while (said->empty()) context_.run_one();
        return *said;
    }

    manual_time time_;
    resolver::limits limits_;
    std::shared_ptr<system_below> below_ = std::make_shared<system_below>();
    std::unique_ptr<resolver> names_;
    asio::io_context context_{1};
    asio::executor_work_guard<asio::io_context::executor_type> open_{context_.get_executor()};
};

TEST_F(Resolver, DeadNamesOfClientsDoNotHoldUpPeers) {
    const auto a = ask("dead1", chosen_by::client), b = ask("dead2", chosen_by::client);
    EXPECT_EQ(outcome(ask("peer", chosen_by::us)), somewhere.to_string());
    below_->wait_for("dead1");
    below_->wait_for("dead2");
    EXPECT_EQ(outcome(ask("peer", chosen_by::us)), somewhere.to_string());
    const auto other = ask("other", chosen_by::client, 50ms);
    time_.advance(50ms);
    EXPECT_EQ(outcome(other), "late");  // both threads are taken
    EXPECT_TRUE(a->empty() && b->empty());
}

TEST_F(Resolver, OneThreadIsLeftForOthers) {
    const auto dead = ask("dead", chosen_by::client);
    for (int i = 0; i < 20; ++i)
        EXPECT_EQ(outcome(ask("name" + std::to_string(i), chosen_by::client)), somewhere.to_string());
    EXPECT_TRUE(dead->empty());
}

TEST_F(Resolver, AWaitHasADeadline) {
    const auto dead = ask("dead", chosen_by::us, 20ms);
    below_->wait_for("dead");
    time_.advance(19ms);
    context_.poll();
    EXPECT_EQ(*dead, "");
    time_.advance(1ms);
    EXPECT_EQ(outcome(dead), "late");
    EXPECT_EQ(outcome(ask("dead", chosen_by::us, -1s)), "late");
    EXPECT_EQ(below_->times("dead"), 1);  // the second joined the first
}

TEST_F(Resolver, TheQueueOfClientsIsBounded) {
    limits_.threads = 1;
    limits_.queued = 2;
    const auto dead = ask("dead", chosen_by::client);
    below_->wait_for("dead");
    const auto a = ask("a", chosen_by::client, 20ms), b = ask("b", chosen_by::client);
    EXPECT_EQ(outcome(ask("c", chosen_by::client)), "503");
    EXPECT_EQ(outcome(ask("peer", chosen_by::us)), somewhere.to_string());
    // A name that no caller waits for any more makes room, and is never looked up.
    time_.advance(20ms);
    EXPECT_EQ(outcome(a), "late");
    const auto c = ask("c", chosen_by::client);
    let_go();
    for (const auto& each : {dead, b, c}) EXPECT_EQ(outcome(each), somewhere.to_string());
    EXPECT_EQ(below_->times("a"), 0);
}

TEST_F(Resolver, ManyCallersShareOneLookup) {
    std::vector<std::shared_ptr<std::string>> all;
    for (int i = 0; i < 100; ++i) all.push_back(ask("dead", chosen_by::client));
    below_->wait_for("dead");
    let_go();
    for (const auto& each : all) EXPECT_EQ(outcome(each), somewhere.to_string());
    EXPECT_EQ(below_->times("dead"), 1);
}

TEST_F(Resolver, AFailureIsRememberedForAMoment) {
    for (int i = 0; i < 10; ++i) EXPECT_EQ(outcome(ask("none", chosen_by::client)), "unknown");
    EXPECT_EQ(below_->times("none"), 1);
    EXPECT_EQ(outcome(ask(std::string(300, 'a'), chosen_by::client)), "unknown");
    EXPECT_EQ(below_->times(std::string(300, 'a')), 0);
    time_.advance(limits_.forget - 1ms);
    EXPECT_EQ(outcome(ask("none", chosen_by::client)), "unknown");
    EXPECT_EQ(below_->times("none"), 1);
    for (int i = 2; i < 5; ++i) {
        time_.advance(limits_.forget);
        EXPECT_EQ(outcome(ask("none", chosen_by::client)), "unknown");
        EXPECT_EQ(below_->times("none"), i);
    }
}

TEST_F(Resolver, ALoopMayGoWhileItWaits) {
    {
        asio::io_context other(1);
        asio::co_spawn(other, names().resolve(other, "dead", chosen_by::us, time_.now() + 60s),
                       [](const std::exception_ptr&, const resolver::addresses&) {});
        other.poll();
        below_->wait_for("dead");
    }
    names_.reset();
}

}  // namespace
}  // namespace posy::http
