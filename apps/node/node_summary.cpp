// GET /summary: at once, or when there is news.
#include <fmt/format.h>

#include "answers.hpp"
#include "http/elsewhere.hpp"
#include "node.hpp"

namespace posy::node {

using namespace std::chrono_literals;

// Made under the lock of the set, which a publication holds for as long as it takes: not on our thread.
http::task<publisher::reply> node::reply_to(http::worker& here, question asked) {
    auto work = [this, asked = std::move(asked)] { return set_.summary(asked); };
    co_return co_await http::elsewhere(here.context, telling_, std::move(work));
}

// Until there is something else than the asker holds, or its time is over.
http::task<publisher::reply> node::awaited_reply(http::request& r) {
    const auto asked = question_of(r.head.fields);
    auto heard = bell_.rings();
    auto found = co_await reply_to(r.here, asked);
    const auto unchanged = [&] { return found.what == publisher::reply::kind::unchanged; };
    if (!unchanged() || asked.wait == 0s) co_return found;
    r.connection.expires_after(asked.wait + 10s);
    const auto end = time_.now() + asked.wait;
    while (unchanged() && time_.now() < end && !server_.stopping()) {
        co_await bell_.wait(r.here, end, heard);
        heard = bell_.rings();
        found = co_await reply_to(r.here, asked);
    }
    r.connection.expires_after(10s);
    co_return found;
}

http::task<void> node::send_summary(const call& c) {
    auto& r = c.request;
    if (how_.sharing == sharing::none || how_.sharing == sharing::ask) {
        const auto a = answer(404, "this node does not share a summary\n");
        co_await http::reply(r, a);
        co_return;
    }
    const auto found = co_await awaited_reply(r);
    const std::size_t size = found.message ? found.message->size() : 0;
    std::string head = http::to_text(head_of(found, time_.time_of_day()));
    if (found.message) head += fmt::format("Content-Length: {}\r\n", size);
    if (!r.keep_alive) head += "Connection: close\r\n";
    head += "\r\n";
    const bool bare = r.head.method == "HEAD" || !found.message;
    const std::array<asio::const_buffer, 2> parts{asio::buffer(head),
                                                  bare ? asio::const_buffer() : asio::buffer(*found.message)};
    co_await r.connection.write(parts);
    traffic_.framing += head.size();
    const bool delta = found.what == publisher::reply::kind::delta;
    (delta ? traffic_.changes : traffic_.whole) += bare ? 0 : size;
}

}  // namespace posy::node
