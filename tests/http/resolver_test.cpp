#include "http/resolver.hpp"

#include <gtest/gtest.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <map>

#include "http/message.hpp"
#include "manual_time.hpp"

namespace posy::http {
namespace {

const auto somewhere = asio::ip::make_address("192.0.2.7");

// In place of name servers: silent about "dead…" until they are let go, "none…" do not exist, others are
// answered at once.
struct servers_beyond {
    std::map<std::string, int> asked;
    std::vector<resolver::done> held;

    void ask(const std::string& name, resolver::done tell) {
        ++asked[name];
        if (name.starts_with("dead")) {
            held.push_back(std::move(tell));
        } else if (name.starts_with("none")) {
            tell({{}, 30s});
        } else {
            tell({{somewhere}, 300s});
        }
    }
    void answer_all(const name_answer& with) {
        for (const auto& each : std::exchange(held, {})) each(with);
    }
};
const name_answer good{{somewhere}, 300s}, silence{{}, {}, false};

class Resolver : public testing::Test {
  protected:
    resolver& names() {
        if (!names_)
            names_ = std::make_unique<resolver>(
                time_, limits_, [beyond = beyond_](const std::string& name, chosen_by, resolver::done tell) {
                    beyond->ask(name, std::move(tell));
                });
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
                *into = e.code() == asio::error::timed_out        ? "late"
                        : e.code() == asio::error::host_not_found ? "unknown"
                                                                  : "silent";
            }
        };
        const auto end = time_.now() + time;
        asio::co_spawn(context_, work(names(), context_, name, by, end, said), asio::detached);
        context_.poll();
        return said;
    }
    std::string outcome(const std::shared_ptr<std::string>& said) {
        context_.poll();
        return *said;
    }

    manual_time time_;
    resolver::limits limits_;
    std::shared_ptr<servers_beyond> beyond_ = std::make_shared<servers_beyond>();
    asio::io_context context_{1};
    asio::executor_work_guard<asio::io_context::executor_type> open_{context_.get_executor()};
    std::unique_ptr<resolver> names_;
};

TEST_F(Resolver, DeadNamesHoldUpNobody) {
    std::vector<std::shared_ptr<std::string>> dead;
    for (int i = 0; i < 1000; ++i) dead.push_back(ask("dead" + std::to_string(i), chosen_by::client));
    EXPECT_EQ(names().under_way(), 1000U);
    for (const auto who : {chosen_by::us, chosen_by::client}) {
        for (int i = 0; i < 20; ++i)
            EXPECT_EQ(outcome(ask("name" + std::to_string(i), who)), somewhere.to_string());
    }
    beyond_->answer_all(silence);
    for (const auto& each : dead) EXPECT_EQ(outcome(each), "silent");
    EXPECT_EQ(names().under_way(), 0U);
}

TEST_F(Resolver, AWaitHasADeadline) {
    const auto dead = ask("dead", chosen_by::us, 20ms);
    time_.advance(19ms);
    EXPECT_EQ(outcome(dead), "");
    time_.advance(1ms);
    EXPECT_EQ(outcome(dead), "late");
    EXPECT_EQ(outcome(ask("dead", chosen_by::us, -1s)), "late");
    EXPECT_EQ(beyond_->asked["dead"], 1);  // the second joined the first
    // What comes later is there for the next.
    beyond_->answer_all(good);
    EXPECT_EQ(outcome(ask("dead", chosen_by::us)), somewhere.to_string());
    EXPECT_EQ(beyond_->asked["dead"], 1);
}

TEST_F(Resolver, NamesOfClientsAreLimited) {
    limits_.under_way = 2;
    EXPECT_EQ(outcome(ask("known", chosen_by::client)), somewhere.to_string());
    time_.advance(301s);
    const auto a = ask("dead1", chosen_by::client), b = ask("dead2", chosen_by::client);
    EXPECT_EQ(outcome(ask("other", chosen_by::client)), "503");
    EXPECT_EQ(outcome(ask("peer", chosen_by::us)), somewhere.to_string());
    const auto joined = ask("dead1", chosen_by::client);  // waits for what is under way
    EXPECT_EQ(outcome(joined), "");
    EXPECT_EQ(outcome(ask("known", chosen_by::client)), somewhere.to_string());  // from before
    EXPECT_EQ(beyond_->asked["known"], 1);
    beyond_->answer_all(good);
    for (const auto& each : {a, b, joined}) EXPECT_EQ(outcome(each), somewhere.to_string());
    EXPECT_EQ(outcome(ask("other", chosen_by::client)), somewhere.to_string());
    EXPECT_EQ(names().counted().refused, 1U);
}

TEST_F(Resolver, ManyCallersShareOneLookup) {
    std::vector<std::shared_ptr<std::string>> all;
    for (int i = 0; i < 100; ++i)
        all.push_back(ask(i % 2 ? "dead.example" : "DEAD.Example", chosen_by::client));
    beyond_->answer_all(good);
    for (const auto& each : all) EXPECT_EQ(outcome(each), somewhere.to_string());
    EXPECT_EQ(beyond_->asked.size(), 1U);
    EXPECT_EQ(beyond_->asked["dead.example"], 1);
}

TEST_F(Resolver, AnswersAreKeptByTheirLifetime) {
    const auto times = [&](const std::string& name, const std::string& expected, clock::duration lifetime) {
        for (int i = 1; i < 4; ++i) {
            EXPECT_EQ(outcome(ask(name, chosen_by::client)), expected);
            time_.advance(lifetime - 1ms);
            EXPECT_EQ(outcome(ask(name, chosen_by::client)), expected);
            EXPECT_EQ(beyond_->asked[name], i);
            time_.advance(1ms);
        }
    };
    times("name", somewhere.to_string(), 300s);
    times("none", "unknown", 30s);
    EXPECT_EQ(outcome(ask(std::string(300, 'a'), chosen_by::client)), "unknown");
    EXPECT_FALSE(beyond_->asked.contains(std::string(300, 'a')));
    // Each side has its own.
    EXPECT_EQ(outcome(ask("none", chosen_by::us)), "unknown");
    EXPECT_EQ(beyond_->asked["none"], 4);
}

TEST_F(Resolver, NumbersAreAddresses) {
    EXPECT_EQ(outcome(ask("127.1", chosen_by::client)), "127.0.0.1");
    EXPECT_EQ(outcome(ask("2130706433", chosen_by::client)), "127.0.0.1");
    EXPECT_TRUE(beyond_->asked.empty());
}

TEST_F(Resolver, ALoopMayGoWhileItWaits) {
    {
        asio::io_context other(1);
        asio::co_spawn(other, names().resolve(other, "dead", chosen_by::us, time_.now() + 60s),
                       [](const std::exception_ptr&, const resolver::addresses&) {});
        other.poll();
    }
    beyond_->answer_all(good);
    EXPECT_EQ(outcome(ask("dead", chosen_by::us)), somewhere.to_string());
}

// The resolver may go before its question is answered.
TEST_F(Resolver, AnAnswerMayComeTooLate) {
    const auto dead = ask("dead", chosen_by::us);
    names_.reset();
    beyond_->answer_all(good);
    EXPECT_EQ(outcome(dead), somewhere.to_string());
}

}  // namespace
}  // namespace posy::http
