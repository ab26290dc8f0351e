#include "feed.hpp"

#include <fmt/format.h>

#include <array>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "upstream.hpp"

namespace posy::proxy {

namespace asio = boost::asio;

namespace {

constexpr std::size_t piece_size = 16 * 1024;

// A timer that never goes off: to be cancelled, which wakes the coroutine that waits.
http::task<void> wait(asio::steady_timer& timer) {
    boost::system::error_code woken;
    co_await timer.async_wait(asio::redirect_error(asio::use_awaitable, woken));
}

}  // namespace

struct feed::state {
    state(http::request& client, std::string head, bool in_chunks, const std::string& all)
        : to(client),
          before(std::move(head)),
          chunked(in_chunks),
          text(all),
          news(client.here.context, asio::steady_timer::time_point::max()),
          over(client.here.context, asio::steady_timer::time_point::max()) {}

    bool all_sent() const { return before.empty() && sent == text.size(); }

    http::task<void> send() {
        for (std::string piece;;) {
            while (all_sent() && !ended) co_await wait(news);
            if (gone) co_return;
            piece.assign(text, sent, piece_size);
            const bool last = ended && sent + piece.size() == text.size();
            if (chunked && !piece.empty()) before += fmt::format("{:x}\r\n", piece.size());
            std::string behind = chunked && !piece.empty() ? "\r\n" : "";
            if (chunked && last && whole) behind += "0\r\n\r\n";
            const std::array<asio::const_buffer, 3> parts{asio::buffer(before), asio::buffer(piece),
                                                          asio::buffer(behind)};
            if (asio::buffer_size(parts) > 0) co_await to.connection.write(parts);
            release(before);
            sent += piece.size();
            if (last) co_return;
        }
    }

    http::request& to;
    std::string before;  // goes out in front of the next piece
    bool chunked;
    const std::string& text;
    std::size_t sent = 0;
    bool ended = false, whole = false, gone = false, done = false;
    asio::steady_timer news, over;
};

feed::feed(http::request& to, std::string head, bool chunked, const std::string& text)
    : state_(std::make_shared<state>(to, std::move(head), chunked, text)) {
    auto run = [](std::shared_ptr<state> s) -> http::task<void> { co_await s->send(); };
    asio::co_spawn(to.here.context, run(state_), [s = state_](const std::exception_ptr& failed) {
        if (failed) s->gone = true;
        s->done = true;
        s->over.cancel();
    });
}

void feed::grew() { state_->news.cancel(); }

http::task<void> feed::finish(end how) {
    state_->ended = true;
    state_->whole = how == end::whole;
    if (how == end::broken) {
        state_->gone = true;
        state_->to.connection.abort();
    }
    state_->news.cancel();
    while (!state_->done) co_await wait(state_->over);
}

bool feed::idle() const { return state_->all_sent(); }
bool feed::gone() const { return state_->gone; }
std::uint64_t feed::sent() const { return state_->sent; }

}  // namespace posy::proxy
