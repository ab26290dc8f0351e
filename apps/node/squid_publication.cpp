#include "squid_publication.hpp"

#include <fmt/format.h>

#include "http/elsewhere.hpp"
#include "posy/dialect/squid_digest.hpp"
#include "posy/http_cache/http_date.hpp"

namespace posy::node {

using namespace std::chrono_literals;

namespace {

constexpr unsigned bits_per_entry = 8;
constexpr std::uint64_t least_entries = 64;
constexpr int lifetime = 10;   // seconds until Squid asks again
constexpr auto apart = 100ms;  // between the parts

}  // namespace

squid_publication::bytes squid_publication::make() {
    const auto now = set_.generation();
    if (digest_ && generation_ == now) return digest_;
    std::uint64_t items = 0;
    keys_([&](std::string_view) { ++items; });
    auto made = squid_digest::make(std::max(items, least_entries), bits_per_entry);
    if (!made) throw http::refusal(501, made.error().text());
    keys_([&](std::string_view key) { made->insert(key); });
    digest_ = std::make_shared<const std::vector<std::byte>>(made->to_bytes());
    generation_ = now;
    return digest_;
}

// Squid 5 to 7 lose the beginning of a digest that arrives together with its headers: it goes out in three
// parts, far enough apart to be read one by one.
http::task<squid_publication::sent> squid_publication::send(http::request& r) {
    const auto digest = co_await http::elsewhere(r.here.context, pool_, [this] { return make(); });
    const auto now = r.here.time.time_of_day();
    const auto head = fmt::format(
        "HTTP/1.1 200 OK\r\nDate: {0}\r\nLast-Modified: {0}\r\nExpires: {1}\r\n"
        "Content-Type: application/cache-digest\r\nContent-Length: {2}\r\n{3}\r\n",
        http_cache::http_date(now), http_cache::http_date(now + lifetime), digest->size(),
        r.keep_alive ? "" : "Connection: close\r\n");
    const auto all = asio::buffer(*digest);
    const std::array<asio::const_buffer, 3> parts{
        asio::buffer(head), asio::buffer(all, squid_digest::header_size), all + squid_digest::header_size};
    r.said.status = 200;
    r.said.head = head.size();
    r.said.body = digest->size();
    http::alarm next_part(r.here.time, r.here.context);
    for (const auto& part : parts) {
        co_await r.connection.write(std::span(&part, 1));
        if (r.head.method == "HEAD") co_return sent{};
        co_await next_part.pause(apart);
    }
    co_return sent{head.size(), digest->size()};
}

}  // namespace posy::node
