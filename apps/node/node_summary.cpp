// GET /summary: at once, when there is news, or in one answer whenever there is.
#include <fmt/format.h>

#include "answers.hpp"
#include "http/elsewhere.hpp"
#include "node.hpp"

namespace posy::node {

using namespace std::chrono_literals;

namespace {

constexpr auto stream_write_time = 60s;  // for a piece of a stream, without progress
// Then a new one is asked for: who may read a summary is decided anew at least this often.
constexpr auto longest_stream = 1h;

}  // namespace

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

// One piece; what is around it counts as framing.
http::task<void> node::send_chunk(http::request& r, std::span<const std::byte> bytes) {
    const std::string start = chunk_start(bytes.size());
    const std::array<asio::const_buffer, 3> parts{asio::buffer(start),
                                                  asio::buffer(bytes.data(), bytes.size()),
                                                  asio::buffer(chunk_end.data(), chunk_end.size())};
    r.connection.expires_after(stream_write_time);
    co_await r.connection.write(parts);
    traffic_.framing += start.size() + chunk_end.size();
}

// Each message is made when the one before it has been taken, from what the reader then holds: one that is
// slow gets what was published meanwhile as one delta or as a whole, and costs one message of memory.
http::task<void> node::send_stream(http::request& r, question asked) {
    const auto end = time_.now() + longest_stream;
    auto heard = bell_.rings();
    auto found = co_await reply_to(r.here, asked);
    const std::string head = http::to_text(stream_head(found.which, time_.time_of_day())) +
                             (r.keep_alive ? "\r\n" : "Connection: close\r\n\r\n");
    r.said.status = 226;
    r.said.head = head.size();
    r.said.body = ~std::uint64_t{0};  // whatever goes through it
    co_await r.connection.write(head);
    traffic_.framing += head.size();
    auto said = time_.now();
    while (!server_.stopping() && time_.now() < end) {
        if (found.what != publisher::reply::kind::unchanged) {
            co_await send_chunk(r, *found.message);
            const bool delta = found.what == publisher::reply::kind::delta;
            (delta ? traffic_.changes : traffic_.whole) += found.message->size();
            asked.tag = tag_of(found.which);
            said = time_.now();
        } else if (time_.now() >= said + asked.wait) {
            const auto sign = static_cast<std::byte>(sign_of_life);
            co_await send_chunk(r, std::span(&sign, 1));
            traffic_.framing += 1;
            said = time_.now();
        }
        r.connection.expires_after(asked.wait + 10s);
        co_await bell_.wait(r.here, std::min(said + asked.wait, end), heard);
        heard = bell_.rings();
        found = co_await reply_to(r.here, asked);
    }
    r.connection.expires_after(stream_write_time);
    co_await r.connection.write(stream_end);
    traffic_.framing += stream_end.size();
}

http::task<void> node::send_summary(const call& c) {
    auto& r = c.request;
    if (how_.sharing == sharing::none || how_.sharing == sharing::ask) {
        const auto a = answer(404, "this node does not share a summary\n");
        co_await http::reply(r, a);
        co_return;
    }
    if (const auto asked = question_of(r.head.fields);
        asked.stream && asked.wait > 0s && r.parsing.version >= 11 && r.head.method == "GET") {
        co_await send_stream(r, asked);
        co_return;
    }
    const auto found = co_await awaited_reply(r);
    const std::size_t size = found.message ? found.message->size() : 0;
    const auto answered = head_of(found, time_.time_of_day());
    std::string head = http::to_text(answered);
    if (found.message) head += fmt::format("Content-Length: {}\r\n", size);
    if (!r.keep_alive) head += "Connection: close\r\n";
    head += "\r\n";
    const bool bare = r.head.method == "HEAD" || !found.message;
    const std::array<asio::const_buffer, 2> parts{asio::buffer(head),
                                                  bare ? asio::const_buffer() : asio::buffer(*found.message)};
    r.said.status = answered.status;
    r.said.head = head.size();
    r.said.body = parts[1].size();
    co_await r.connection.write(parts);
    traffic_.framing += head.size();
    const bool delta = found.what == publisher::reply::kind::delta;
    (delta ? traffic_.changes : traffic_.whole) += bare ? 0 : size;
}

}  // namespace posy::node
