// What a client gets: an answer from the store, as a whole or in parts, or a refusal.
#include <fmt/format.h>

#include "exchange.hpp"
#include "posy/http_cache/validation.hpp"

namespace posy::proxy {

namespace asio = boost::asio;
using namespace std::string_view_literals;

void proxy::count(const exchange& e, outcome o, unsigned status, std::uint64_t bytes) {
    ++outcomes_[static_cast<std::size_t>(o)];
    body_bytes_ += bytes;
    outcome_bytes_[static_cast<std::size_t>(o)] += bytes;
    auto& said = e.request.said;
    said.status = status;
    said.body = bytes;
    said.result = name_of(o);
    said.kind = static_cast<std::uint8_t>(
        2 * static_cast<unsigned>(o) + (e.from_disk && (o == outcome::hit || o == outcome::stale) ? 2 : 1));
}

// What of an object answers the request, and the head for it.
void proxy::compose(exchange& e, http_cache::stored object, outcome o, http_cache::seconds now) {
    e.object = std::move(object);
    const auto& kept = *e.object;
    e.status.hit = o != outcome::revalidated;
    if (e.status.hit) e.status.forward.reset();
    e.status.ttl = kept.ttl(now);
    const bool unchanged = http_cache::not_modified(e.request.head, kept, now);
    if (!unchanged) e.partial = http_cache::partial_of(e.request.head, kept);
    const bool bare = unchanged || e.request.head.method == "HEAD"sv;
    if (kept.parts && !bare && !e.partial) throw std::logic_error("parts do not answer this request");
    if (unchanged || e.partial)
        e.head = http::to_text(unchanged ? http_cache::not_modified_head(kept) : e.partial->head);
    e.ending.reserve(256);
    const fmt::format_int age(kept.age(now));
    e.ending.append("Age: ").append(age.data(), age.size()).append("\r\n").append(e.lines);
    heads_.append_ending(e.ending, e.status, e.request.keep_alive);
    e.parts = {asio::buffer(e.head.empty() ? kept.wire_head : e.head), asio::buffer(e.ending)};
    if (e.partial) {
        for (const auto& [before, where] : e.partial->parts) {
            e.parts.push_back(asio::buffer(before));
            for (const auto slice : kept.slices(where)) e.parts.push_back(asio::buffer(slice));
        }
        e.parts.push_back(asio::buffer(e.partial->behind));
    } else if (!bare) {
        e.parts.push_back(asio::buffer(*kept.body));
    }
    count(e, o,
          unchanged   ? 304
          : e.partial ? e.partial->head.status
                      : kept.head.status,
          e.partial ? e.partial->bytes
          : bare    ? 0
                    : kept.body->size());
    e.request.said.head = e.parts[0].size() + e.parts[1].size();
}

// False: the client did not take all of it at once, and the rest is for finish_answer().
bool proxy::answer_at_once(exchange& e, http_cache::stored object, outcome o, http_cache::seconds now) {
    land(e);  // nobody waits for this client
    compose(e, std::move(object), o, now);
    auto sent = e.request.connection.write_now(e.unsent());
    for (auto& each : e.parts) {
        const auto part = std::min(sent, each.size());
        each += part;
        sent -= part;
    }
    return asio::buffer_size(e.unsent()) == 0;
}

http::task<void> proxy::finish_answer(exchange& e) {
    e.request.connection.expires_after(how_.silence_time);
    co_await e.request.connection.write(e.unsent());
}

http::task<void> proxy::answer_from(exchange& e, http_cache::stored object, outcome o) {
    if (!answer_at_once(e, std::move(object), o, time_.seconds())) co_await finish_answer(e);
}

http::task<void> proxy::refuse(exchange& e, unsigned status, const std::string& why, outcome o) {
    land(e);
    if (o == outcome::failed && e.request.said.why.empty()) e.request.said.why = why;
    const std::string text = why + "\n";
    http::response_head head{status, {}, {}};
    head.fields.add("Content-Type", "text/plain");
    head.fields.add("Content-Length", std::to_string(text.size()));
    const std::string all = http::to_text(head) + heads_.ending(e.status, e.request.keep_alive) +
                            (e.request.head.method == "HEAD" ? "" : text);
    const std::size_t body = e.request.head.method == "HEAD" ? 0 : text.size();
    count(e, o, status, body);
    e.request.said.head = all.size() - body;
    co_await e.request.connection.write(all);
}

}  // namespace posy::proxy
