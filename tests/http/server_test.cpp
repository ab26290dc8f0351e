// The deadlines of a server, on a clock that is moved by hand.
#include "http/server.hpp"

#include <gtest/gtest.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/write.hpp>

#include "manual_time.hpp"

namespace posy::http {
namespace {

constexpr auto look = 500ms;  // of the watch

class Server : public testing::Test {
  protected:
    Server() {
        const auto port = server_.listen({"127.0.0.1", 0});
        server_.first().watch.start();
        client_.connect({asio::ip::make_address("127.0.0.1"), port});
        run_until([this] { return server_.open_connections() == 1; });
        read_more();
        settle();
    }

    task<void> answer(request& r) {
        if (r.head.target == "/slow") {
            alarm later(time_, r.here.context);
            co_await later.pause(1h);
        }
        const response ok;
        co_await reply(r, ok);
    }
    void read_more() {
        client_.async_read_some(asio::buffer(piece_),
                                [this](const boost::system::error_code& failed, std::size_t got) {
                                    received_.append(piece_.data(), got);
                                    closed_ = failed.failed();
                                    if (!closed_) read_more();
                                });
    }
    void send(std::string_view text) { asio::write(client_, asio::buffer(text.data(), text.size())); }

    template <class Condition>
    void run_until(Condition met) {
        while (!met()) context().run_one();
    }
    // Until all that can be done now is done, the look of the watch included.
    void settle() {
        run_until([this] { return time_.next() <= time_.now() + look; });
        context().poll();
    }
    void pass(clock::duration time) {
        time_.advance(time);
        settle();
    }
    asio::io_context& context() { return server_.first().context; }

    manual_time time_;
    serving how_;
    server server_{time_, how_, [this](request& r) { return answer(r); }};
    tcp_socket client_{server_.first().context};
    std::array<char, 1024> piece_{};
    std::string received_;
    bool closed_ = false;
};

TEST_F(Server, AHeadHasItsTime) {
    send("GET / HTTP/1.1\r\nHost: a\r\n");
    pass(how_.head_time - look);
    EXPECT_FALSE(closed_);
    time_.advance(look);
    run_until([this] { return closed_; });
    EXPECT_EQ(received_, "");
}

TEST_F(Server, AnIdleConnectionHasItsTime) {
    send("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
    run_until([this] { return received_.starts_with("HTTP/1.1 200") && received_.ends_with("\r\n\r\n"); });
    pass(how_.idle_time - look);
    EXPECT_FALSE(closed_);
    time_.advance(look);
    run_until([this] { return closed_; });
    EXPECT_EQ(server_.counts().too_slow, 0U);  // it has done nothing wrong
}

TEST_F(Server, RequestsInHandHaveAGraceAtTheEnd) {
    send("GET /slow HTTP/1.1\r\nHost: a\r\n\r\n");
    run_until([this] { return server_.counts().requests == 1; });
    const auto start = time_.now();
    server_.stop(5s);
    while (!context().stopped()) {
        run_until([this] { return context().stopped() || time_.next() <= time_.now() + 20ms; });
        time_.advance(20ms);
    }
    EXPECT_GE(time_.now() - start, 5s);
    EXPECT_LE(time_.now() - start, 5s + server::last_words + look);
    EXPECT_EQ(received_, "");
}

}  // namespace
}  // namespace posy::http
