#include "http/client.hpp"

#include <gtest/gtest.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "http/race.hpp"
#include "manual_time.hpp"

namespace posy::http {
namespace {

// A server on the whole loopback that holds every connection.
class Client : public testing::Test {
  protected:
    Client() { asio::co_spawn(context_, hold(), asio::detached); }

    task<void> hold() {
        for (;;) {
            auto next = co_await listening_.async_accept(use_awaitable);
            held_.push_back(std::move(next));
        }
    }
    host_port server(unsigned number) const {
        return {asio::ip::address_v4(0x7f000001 + number).to_string(), listening_.local_endpoint().port()};
    }
    void run(task<void> work) {
        bool done = false;
        asio::co_spawn(context_, std::move(work), [&](const std::exception_ptr& failed) {
            done = true;
            if (failed) std::rethrow_exception(failed);
        });
        while (!done) context_.run_one();
    }
    task<void> keep_connections(unsigned first, unsigned count) {
        for (unsigned i = first; i < first + count; ++i) {
            auto made = co_await client_.connect(server(i), false, 60s);
            client_.keep(std::move(made));
            time_.advance(1us);
        }
    }

    // Time passes, and the watch looks.
    void look_after(clock::duration time) {
        time_.advance(time);
        while (time_.next() != time_.now() + 500ms) context_.run_one();
    }

    manual_time time_;
    asio::io_context context_{1};
    tcp_acceptor listening_{context_, tcp::endpoint(asio::ip::address_v4::any(), 0)};
    std::vector<tcp_socket> held_;
    watch watch_{context_, time_};
    bool used_ = false;
    client client_{watch_, std::make_shared<resolver>(time_)};
};

TEST_F(Client, KeepsALimitedNumberAndDropsTheOldest) {
    run(keep_connections(0, client::max_kept_all + 40));
    EXPECT_EQ(client_.kept(), client::max_kept_all);
    // The oldest are new connections again, the newest are not.
    const auto used = [&](unsigned number) {
        bool was = false;
        const auto work = [&]() -> task<void> {
            const auto c = co_await client_.open(server(number), false, 60s);
            was = c.used;
        };
        run(work());
        return was;
    };
    EXPECT_FALSE(used(0));
    EXPECT_FALSE(used(39));
    EXPECT_TRUE(used(40));
    EXPECT_TRUE(used(client::max_kept_all + 39));
    EXPECT_EQ(client_.kept(), client::max_kept_all - 2);
}

TEST_F(Client, KeepsALimitedNumberPerServer) {
    const auto work = [&]() -> task<void> {
        std::vector<channel> all;
        for (unsigned i = 0; i < client::max_kept + 10; ++i) {
            auto made = co_await client_.connect(server(0), false, 60s);
            all.push_back(std::move(made));
        }
        for (auto& each : all) client_.keep(std::move(each));
    };
    run(work());
    EXPECT_EQ(client_.kept(), client::max_kept);
}

TEST_F(Client, TheWatchLetsOldOnesGo) {
    watch_.start();
    run(keep_connections(0, 20));
    look_after(client::keep_time - 1s);
    EXPECT_EQ(client_.kept(), 20U);
    run(keep_connections(20, 3));
    look_after(1s);
    EXPECT_EQ(client_.kept(), 3U);
    look_after(client::keep_time);
    EXPECT_EQ(client_.kept(), 0U);
    watch_.stop();
}

// The watch looks twice a second; what was too old meanwhile is not used.
TEST_F(Client, AnOldOneIsNotUsedAgain) {
    const auto open = [&]() -> task<void> {
        auto c = co_await client_.open(server(0), false, 60s);
        used_ = c.used;
        client_.keep(std::move(c));
    };
    run(keep_connections(0, 1));
    time_.advance(client::keep_time - 1us);
    run(open());
    EXPECT_TRUE(used_);
    time_.advance(client::keep_time);  // since it was used
    run(open());
    EXPECT_TRUE(used_);
    time_.advance(client::keep_time + 1ns);
    run(open());
    EXPECT_FALSE(used_);
    EXPECT_EQ(client_.kept(), 1U);
}

// What takes longer than its time is closed by the watch, whatever it waits for.
TEST_F(Client, AnAnswerHasADeadline) {
    watch_.start();
    std::string failed;
    const auto ask = [&]() -> task<void> {
        const request_head head{"GET", "/", {}};
        const limits most;
        try {
            co_await client_.ask(server(0), false, head, {}, most, 10s);
        } catch (const boost::system::system_error& e) {
            failed = e.what();
        }
    };
    asio::co_spawn(context_, ask(), asio::detached);
    while (held_.empty()) context_.run_one();
    context_.poll();
    look_after(9500ms);
    EXPECT_EQ(failed, "");
    look_after(500ms);
    while (failed.empty()) context_.run_one();
    watch_.stop();
}

// Names with several addresses. One of them belongs to a listener whose queue is full: it drops what comes
// next, and connecting to it hangs.
class SeveralAddresses : public Client {
  protected:
    SeveralAddresses() {
        full_.listen(0);
        for (int i = 0; i < 8; ++i) {
            waiting_.emplace_back(context_);
            waiting_.back().async_connect(full_.local_endpoint(), [](const boost::system::error_code&) {});
        }
    }
    void try_addresses(resolver::addresses all, clock::duration time, chosen_by who = chosen_by::us) {
        several_ = std::make_unique<client>(
            other_,
            std::make_shared<resolver>(time_, resolver::limits{},
                                       [all](const std::string&, chosen_by, const resolver::done& tell) {
                                           tell({all, 60s});
                                       }));
        const auto work = [](SeveralAddresses& self, clock::duration most, chosen_by by) -> task<void> {
            try {
                const host_port to{"several", self.full_.local_endpoint().port()};
                const auto made = co_await self.several_->connect(to, false, most, by);
                self.reached_ = made.connection->remote().address().to_string();
            } catch (const boost::system::system_error& e) {
                self.failed_ = e.code();
            } catch (const refusal& r) {
                self.refused_ = r.status;
            }
        };
        asio::co_spawn(context_, work(*this, time, who), asio::detached);
    }
    // The next attempt is due then, or the end.
    void passes(clock::duration time) {
        while (time_.next() != time_.now() + time) context_.run_one();
        EXPECT_TRUE(reached_.empty() && !failed_);
        time_.advance(time);
    }
    void run_to_the_end() {
        while (reached_.empty() && !failed_ && !refused_) context_.run_one();
    }

    const asio::ip::address dead_ = asio::ip::make_address("127.0.0.2"),
                            closed_ = asio::ip::make_address("127.0.0.3"),
                            good_ = asio::ip::make_address("127.0.0.4");
    tcp_acceptor full_{context_, tcp::endpoint(dead_, 0)};
    tcp_acceptor answering_{context_, tcp::endpoint(good_, full_.local_endpoint().port())};
    std::vector<tcp_socket> waiting_;
    watch other_{context_, time_};
    std::unique_ptr<client> several_;
    std::string reached_;
    boost::system::error_code failed_;
    unsigned refused_ = 0;
};

TEST_F(SeveralAddresses, OneDeadlineForAll) {
    const auto start = time_.now();
    try_addresses(resolver::addresses(8, dead_), 1s);
    for (int i = 0; i < 4; ++i) passes(250ms);
    run_to_the_end();
    EXPECT_EQ(failed_, asio::error::timed_out);
    EXPECT_EQ(time_.now() - start, 1s);
}

TEST_F(SeveralAddresses, TheNextIsTriedAfterAQuarterOfASecond) {
    try_addresses({dead_, good_}, 60s);
    passes(250ms);
    run_to_the_end();
    EXPECT_EQ(reached_, good_.to_string());
}

TEST_F(SeveralAddresses, TheNextIsTriedAtOnceWhenOneFails) {
    const auto start = time_.now();
    try_addresses({closed_, closed_, good_, dead_}, 60s);
    run_to_the_end();
    EXPECT_EQ(reached_, good_.to_string());
    EXPECT_EQ(time_.now(), start);
    reached_.clear();
    try_addresses({closed_, closed_}, 60s);
    run_to_the_end();
    EXPECT_EQ(failed_, asio::error::connection_refused);
}

TEST_F(SeveralAddresses, AttemptsAreLimited) {
    resolver::addresses all(race::max_attempts, closed_);
    all.push_back(good_);
    try_addresses(all, 60s);
    run_to_the_end();
    EXPECT_EQ(failed_, asio::error::connection_refused);
}

// None that a client may not reach is tried, whatever is slow or fails.
TEST_F(SeveralAddresses, EachIsJudged) {
    try_addresses({closed_, good_}, 60s, chosen_by::client);
    run_to_the_end();
    EXPECT_EQ(refused_, 403U);
}

TEST(InTurns, FamiliesAlternate) {
    const auto order = [](std::vector<const char*> names) {
        std::vector<tcp::endpoint> all;
        for (const auto* each : names) all.emplace_back(asio::ip::make_address(each), 1);
        std::string text;
        for (const auto& each : in_turns(all)) text += each.address().to_string() + " ";
        return text;
    };
    EXPECT_EQ(order({"::1", "::2", "::3", "1.1.1.1", "2.2.2.2"}), "::1 1.1.1.1 ::2 2.2.2.2 ::3 ");
    EXPECT_EQ(order({"1.1.1.1", "::1", "::2"}), "1.1.1.1 ::1 ::2 ");
    EXPECT_EQ(order({"1.1.1.1", "2.2.2.2"}), "1.1.1.1 2.2.2.2 ");
    EXPECT_EQ(order({}), "");
}

}  // namespace
}  // namespace posy::http
