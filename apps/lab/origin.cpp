#include "origin.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/asio/signal_set.hpp>
#include <charconv>

#include "http/server.hpp"
#include "posy/digest.hpp"
#include "posy/http_cache/http_date.hpp"

namespace posy::lab {

namespace {
constexpr std::uint64_t largest = std::uint64_t{1} << 26;

http::task<void> answer(http::request& r) {
    const std::string_view path = r.head.target;
    std::uint64_t size = largest + 1;
    if (path.size() > 1) std::from_chars(path.data() + 1, path.data() + path.size(), size);
    http::response a;
    if (size > largest) {
        a.head.status = 404;
    } else {
        a.body = body_of(path, size);
        a.head.fields.add("Date", http_cache::http_date(r.here.time.time_of_day()));
        a.head.fields.add("Cache-Control", "max-age=86400");
    }
    co_await http::reply(r, a);
}
}  // namespace

std::string body_of(std::string_view path, std::uint64_t bytes) {
    const digest d = hasher()(path);
    const std::string line = fmt::format("{:016x}{:016x} {}\n", d.low, d.high, path);
    std::string body;
    body.reserve(bytes + line.size());
    while (body.size() < bytes) body += line;
    body.resize(bytes);
    return body;
}

std::string path_of(std::string_view name, std::uint64_t bytes) {
    std::string path = fmt::format("/{}/", std::min(bytes, largest));
    for (const char c : name) {
        if (static_cast<unsigned char>(c) <= ' ' || c == '#' || c == '%' || c == 0x7f || (c & 0x80)) {
            path += fmt::format("%{:02X}", static_cast<unsigned char>(c));
        } else {
            path += c;
        }
    }
    return path;
}

void serve_origin(const http::host_port& at) {
    http::system_time time;
    http::server server(time, {}, answer);
    const auto port = server.listen(at);
    boost::asio::signal_set signals(server.first().context, SIGINT, SIGTERM);
    signals.async_wait([&](const boost::system::error_code&, int) { server.stop(); });
    fmt::print(stderr, "posy: origin listens on {}:{}\n", at.host, port);
    server.run();
}

}  // namespace posy::lab
