#include "http/client.hpp"

#include <gtest/gtest.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "manual_time.hpp"

namespace posy::http {
namespace {

// A server on the whole loopback that holds every connection.
class Client : public testing::Test {
  protected:
    Client() { asio::co_spawn(context_, hold(), asio::detached); }

    task<void> hold() {
        for (;;) {
            auto next = co_await listening_.async_accept(asio::use_awaitable);
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
    tcp::acceptor listening_{context_, tcp::endpoint(asio::ip::address_v4::any(), 0)};
    std::vector<tcp::socket> held_;
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

// A name with two addresses of which the first does not answer: there is one deadline for both, and the
// second has its part of it.
TEST_F(Client, OneDeadlineForAllAddresses) {
    // A listener whose queue is full drops what comes next: connecting to it hangs.
    tcp::acceptor full(context_, tcp::endpoint(asio::ip::make_address("127.0.0.2"), 0));
    full.listen(0);
    const auto port = full.local_endpoint().port();
    std::vector<tcp::socket> waiting;
    for (int i = 0; i < 8; ++i) {
        waiting.emplace_back(context_);
        waiting.back().async_connect(full.local_endpoint(), [](const boost::system::error_code&) {});
    }
    const auto dead = asio::ip::make_address("127.0.0.2");
    const auto names = std::make_shared<resolver>(
        time_, resolver::limits{}, [dead](const std::string&) { return resolver::addresses(8, dead); });
    watch other(context_, time_);
    client c(other, names);
    const auto start = time_.now();
    boost::system::error_code failed;
    const auto work = [&]() -> task<void> {
        try {
            const host_port to{"several", port};
            const auto made = co_await c.connect(to, false, 1s);
        } catch (const boost::system::system_error& e) {
            failed = e.code();
        }
    };
    asio::co_spawn(context_, work(), asio::detached);
    for (int i = 0; i < 8; ++i) {
        EXPECT_FALSE(failed);
        while (time_.next() != time_.now() + 125ms) context_.run_one();
        time_.advance(125ms);
    }
    while (!failed) context_.run_one();
    EXPECT_EQ(failed, asio::error::timed_out);
    EXPECT_EQ(time_.now() - start, 1s);
}

}  // namespace
}  // namespace posy::http
