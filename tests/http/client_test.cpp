#include "http/client.hpp"

#include <gtest/gtest.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>

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
        }
    }

    asio::io_context context_{1};
    tcp::acceptor listening_{context_, tcp::endpoint(asio::ip::address_v4::any(), 0)};
    std::vector<tcp::socket> held_;
    watch watch_{context_};
    client client_{watch_};
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
    run(keep_connections(0, 20));
    EXPECT_EQ(client_.kept(), 20U);
    client_.keep_time = 0s;
    watch_.start();
    while (client_.kept() > 0) context_.run_one();  // no other is kept meanwhile
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
        resolver::limits{}, [dead](const std::string&) { return resolver::addresses(8, dead); });
    watch other(context_);
    client c(other, names);
    const auto start = clock::now();
    boost::system::error_code failed;
    const auto work = [&]() -> task<void> {
        try {
            const host_port to{"several", port};
            const auto made = co_await c.connect(to, false, 1s);
        } catch (const boost::system::system_error& e) {
            failed = e.code();
        }
    };
    run(work());
    EXPECT_EQ(failed, asio::error::timed_out);
    EXPECT_LT(clock::now() - start, 6s);  // eight times a second would be eight
}

}  // namespace
}  // namespace posy::http
