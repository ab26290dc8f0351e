#include "node.hpp"

#include <fmt/format.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <charconv>

#include "answers.hpp"
#include "http/elsewhere.hpp"
#include "http/now.hpp"
#include "page.hpp"
#include "posy/http_cache/http_date.hpp"

namespace posy::node {

using namespace std::chrono_literals;

namespace {

constexpr unsigned squid_bits_per_entry = 8;

// The value of a parameter of the query, decoded.
std::optional<std::string> parameter(std::string_view query, std::string_view name) {
    for (std::size_t from = 0; from < query.size();) {
        const auto end = std::min(query.find('&', from), query.size());
        const auto pair = query.substr(from, end - from);
        if (pair.size() > name.size() && pair.starts_with(name) && pair[name.size()] == '=')
            return http::percent_decoded(pair.substr(name.size() + 1));
        from = end + 1;
    }
    return std::nullopt;
}

// Prefer: wait=N (RFC 7240, 4.3).
std::chrono::seconds wait_of(const http_cache::fields& fields) {
    constexpr int longest = 300;
    for (const auto& [name, value] : fields) {
        if (!http_cache::same_name(name, "Prefer")) continue;
        for (const auto member : http_cache::list_members(value)) {
            if (!member.starts_with("wait=")) continue;
            int wait = 0;
            std::from_chars(member.data() + 5, member.data() + member.size(), wait);
            return std::chrono::seconds(std::clamp(wait, 0, longest));
        }
    }
    return 0s;
}

local_set::key_source keys_of(const key_store& keys) {
    return [&keys](const local_set::visit& visit) { keys.for_each(visit); };
}

}  // namespace

node::node(const options& how, http::server& server, std::unique_ptr<key_store> keys,
           local_set::key_source all)
    : how_(how),
      server_(server),
      keys_(std::move(keys)),
      all_keys_(keys_ ? keys_of(*keys_) : std::move(all)),
      access_(how_),
      set_(how_, all_keys_),
      directory_(read_limits::exactly(peer_budget(how_.peer_memory).largest),
                 peer_budget(how_.peer_memory).held),
      peers_(how_, server.first(), directory_, traffic_) {
    set_.on_publish = [this] {
        bell_.ring();
        if (how_.hint) asio::post(server_.first().context, [this] { peers_.tell_all(); });
    };
    server_.on_stop = [this] { bell_.ring(); };
    for (const auto& each : server_.workers()) each->client.trust(client_tls(how_));
    if (keys_) holds = [this](std::string_view key) { return keys_->has(key); };
}

node::node(const options& how, http::server& server, local_set::key_source keys)
    : node(how, server, nullptr, std::move(keys)) {}

node::node(const options& how, http::server& server)
    : node(how, server, std::make_unique<key_store>(how.data, how.sync), nullptr) {}

std::vector<peer_address> node::peers_wanted() const {
    auto wanted = how_.peers;
    if (how_.peers_file.empty()) return wanted;
    for (auto& each : read_peers(how_.peers_file)) wanted.push_back(std::move(each));
    return wanted;
}

void node::start() {
    peers_.know_only(peers_wanted());
    asio::co_spawn(server_.first().context, keep_time(), asio::detached);
}

void node::reload() {
    if (how_.peers_file.empty()) return;
    asio::post(server_.first().context, [this] {
        try {
            peers_.know_only(peers_wanted());
        } catch (const std::exception& e) {
            fmt::print(stderr, "posy: {}; the peers stay as they are\n", e.what());
        }
    });
}

// Generations by time, and samples for the page.
http::task<void> node::keep_time() {
    asio::steady_timer timer(server_.first().context);
    for (unsigned ticks = 0;; ++ticks) {
        timer.expires_after(250ms);
        co_await timer.async_wait(asio::use_awaitable);
        try {
            co_await http::elsewhere(server_.first().context, reading_, [this] { return set_.tick(); });
            if (ticks % (4 * history::spacing) == 0)
                history_.sample(http::milliseconds_now(), co_await collected(server_.first()));
        } catch (const std::exception& e) {  // no memory for a larger filter, say: the present one stays
            fmt::print(stderr, "posy: {}\n", e.what());
        }
    }
}

void node::finish() {
    for (auto* pool : {&changing_, &telling_, &reading_}) pool->stop();
    for (auto* pool : {&changing_, &telling_, &reading_}) pool->join();
}

// Figures and messages are made under the lock of the set, which whoever changes it holds for as long as a
// publication takes.
http::task<metrics> node::collected(http::worker& here) {
    co_return co_await http::elsewhere(here.context, telling_, [this] { return collect(); });
}

http::task<local_set::answer> node::summary(http::worker& here, std::optional<local_set::held> have,
                                            bool deltas) {
    co_return co_await http::elsewhere(here.context, telling_,
                                       [this, have, deltas] { return set_.summary(have, deltas); });
}

bool node::have(std::string_view key) const { return holds ? holds(key) : set_.may_contain(key); }

http::task<bool> node::handle(http::request& r) {
    std::string_view target = r.head.target;
    if (!target.starts_with('/')) {
        // Squid asks its siblings for digests as it asks them for everything: with an absolute URL.
        if (!target.ends_with(squid_path)) co_return false;
        const auto where = http::parse_url(target);
        const auto ours = [&](const http::host_port& l) { return where && l.port == where->authority.port; };
        if (!where || where->path != squid_path || !std::ranges::any_of(how_.listen, ours)) co_return false;
        target = squid_path;
    }
    const auto path = target.substr(0, target.find('?'));
    const auto query = path.size() < target.size() ? target.substr(path.size() + 1) : std::string_view();
    const auto& method = r.head.method;
    const bool get = method == "GET" || method == "HEAD";
    http::response a;
    if (get && path == "/healthz") {
        a = answer(200, "ok\n");
    } else if (auto refused = access_.refuses(r, path)) {
        ++server_.counts().forbidden;
        a = std::move(*refused);
    } else if (get && path == "/summary") {
        co_await send_summary(r);
        co_return true;
    } else if (get && path == squid_path) {
        co_await send_squid_digest(r);
        co_return true;
    } else if (get && path == "/who") {
        a = who(query);
    } else if (get && path == "/have") {
        const auto key = parameter(query, "key");
        a = answer(!key ? 400 : have(*key) ? 204 : 404);
        a.head.fields.add("Cache-Control", "no-store");
    } else if (path == "/keys" || path.starts_with("/keys/")) {
        a = co_await change_keys(r);
    } else if (method == "POST" && path == "/hint") {
        if (const auto from = parameter(query, "from")) peers_.wake(*from);
        a = answer(204);
    } else if (get && path == "/metrics") {
        const auto figures = co_await collected(r.here);
        a = answer(200, figures.text(), "text/plain; version=0.0.4; charset=utf-8");
    } else if (get && path == "/history") {
        a = answer(200, history_.json(), "application/json");
    } else if (get && path == "/") {
        a = answer(200, std::string(page_html), "text/html; charset=utf-8");
        a.head.fields.add("Content-Security-Policy",
                          "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; "
                          "connect-src 'self'; img-src data:");
    } else {
        a = answer(404,
                   "nothing of that name here; / is a page, /metrics figures, docs/node.md the protocol\n");
    }
    co_await http::reply(r, a);
    co_return true;
}

http::task<void> node::send_summary(http::request& r) {
    if (how_.sharing == sharing::none || how_.sharing == sharing::ask) {
        co_await http::reply(r, answer(404, "this node does not share a summary\n"));
        co_return;
    }
    std::optional<local_set::held> have;
    if (const auto tag = r.head.fields.find("If-None-Match")) have = held_of(*tag);
    const bool deltas = r.head.fields.lists("A-IM", "posy-delta");
    auto heard = bell_.rings();
    auto found = co_await summary(r.here, have, deltas);
    if (const auto wait = wait_of(r.head.fields); found.what == local_set::answer::unchanged && wait > 0s) {
        r.connection.expires_after(wait + 10s);
        const auto end = http::clock::now() + wait;
        while (found.what == local_set::answer::unchanged && http::clock::now() < end &&
               !server_.stopping()) {
            co_await bell_.wait(r.here.context, end - http::clock::now(), heard);
            heard = bell_.rings();
            found = co_await summary(r.here, have, deltas);
        }
        r.connection.expires_after(10s);
    }
    std::string head;
    switch (found.what) {
        case local_set::answer::unchanged:
            head = "HTTP/1.1 304 Not Modified\r\n";
            break;
        case local_set::answer::whole:
            head = "HTTP/1.1 200 OK\r\n";
            break;
        case local_set::answer::changes:
            head = "HTTP/1.1 226 IM Used\r\nIM: posy-delta\r\n";
            break;
    }
    head +=
        "Date: " + http_cache::http_date(http::time_of_day()) + "\r\nETag: " + tag_of(found.which) + "\r\n";
    const std::size_t size = found.message ? found.message->size() : 0;
    if (found.message) head += fmt::format("Content-Length: {}\r\n", size);
    if (!r.keep_alive) head += "Connection: close\r\n";
    head += "\r\n";
    const bool bare = r.head.method == "HEAD" || !found.message;
    const std::array<asio::const_buffer, 2> parts{asio::buffer(head),
                                                  bare ? asio::const_buffer() : asio::buffer(*found.message)};
    co_await r.connection.write(parts);
    traffic_.framing += head.size();
    (found.what == local_set::answer::changes ? traffic_.changes : traffic_.whole) += bare ? 0 : size;
}

// Its thread does one thing at a time, so the digest of a generation is made once.
node::squid_message node::make_squid_digest() {
    if (const auto now = set_.generation(); !squid_digest_ || squid_generation_ != now) {
        std::uint64_t items = 0;
        all_keys_([&](std::string_view) { ++items; });
        auto made = squid_digest::make(std::max<std::uint64_t>(items, 64), squid_bits_per_entry);
        if (!made) throw http::refusal(501, made.error().text());
        all_keys_([&](std::string_view key) { made->insert(key); });
        squid_digest_ = std::make_shared<const std::vector<std::byte>>(made->to_bytes());
        squid_generation_ = now;
    }
    return squid_digest_;
}

// Squid 5 to 7 lose the beginning of a digest that arrives together with its headers: it goes out in three
// parts, far enough apart to be read one by one.
http::task<void> node::send_squid_digest(http::request& r) {
    const auto digest =
        co_await http::elsewhere(r.here.context, reading_, [this] { return make_squid_digest(); });
    const auto date = http_cache::http_date(http::time_of_day());
    const auto head = fmt::format(
        "HTTP/1.1 200 OK\r\nDate: {0}\r\nLast-Modified: {0}\r\nExpires: {1}\r\n"
        "Content-Type: application/cache-digest\r\nContent-Length: {2}\r\n{3}\r\n",
        date, http_cache::http_date(http::time_of_day() + 10), digest->size(),
        r.keep_alive ? "" : "Connection: close\r\n");
    const std::array<asio::const_buffer, 3> parts{
        asio::buffer(head), asio::buffer(digest->data(), squid_digest::header_size),
        asio::buffer(digest->data() + squid_digest::header_size, digest->size() - squid_digest::header_size)};
    asio::steady_timer timer(r.here.context);
    for (const auto& part : parts) {
        co_await r.connection.write(std::span(&part, 1));
        if (r.head.method == "HEAD") co_return;
        timer.expires_after(100ms);
        co_await timer.async_wait(asio::use_awaitable);
    }
    traffic_.squid += digest->size();
    traffic_.framing += head.size();
}

http::response node::who(std::string_view query) {
    const auto key = parameter(query, "key");
    if (!key) return answer(400, "name a key: /who?key=KEY, percent-encoded\n");
    nlohmann::json found{{"key", *key}, {"local", have(*key)}, {"peers", nlohmann::json::array()}};
    for (const auto& [name, age] : directory_.who(*key, http::milliseconds_now())) {
        const auto known = peers_.find(name);
        if (!known || known->distrusted(http::clock::now())) continue;
        const auto& where = known->address.where;
        found["peers"].push_back({{"name", name},
                                  {"url", (where.secure ? "https://" : "http://") + where.authority.text()},
                                  {"up", known->up.load()},
                                  {"summary_age_seconds", static_cast<double>(age) / 1000}});
    }
    found["resting"] = peers_.resting();
    return json(found);
}

metrics node::collect() {
    metrics m;
    const auto set = set_.describe();
    const auto count = [](std::uint64_t n) { return static_cast<double>(n); };
    m.gauge("posy_info", "What runs here", 1,
            metrics::label("name", how_.name) + "," + metrics::label("version", POSY_VERSION) + "," +
                metrics::label("sharing", name_of(how_.sharing)));
    m.gauge("posy_uptime_seconds", "Since the start",
            std::chrono::duration<double>(http::clock::now() - started_).count());
    m.gauge("posy_set_items", "Keys in the local set", count(set.items));
    m.gauge("posy_set_generation", "The generation of the local set that peers are told of",
            count(set.generation));
    m.gauge("posy_set_bits", "Size of the local filter", count(set.bits));
    m.gauge("posy_set_hashes", "Hashes of the local filter", set.hashes);
    m.gauge("posy_set_fill", "Share of the filter's bits that are set", set.fill);
    m.gauge("posy_set_false_positive_rate", "Predicted from the bits of the local filter", set.rate);
    m.gauge("posy_set_saturated_counters", "Counters that have stuck", count(set.saturated));
    m.counter("posy_set_rebuilt_total", "Times that the set outgrew its filter", count(set.rebuilt));
    m.counter("posy_set_rehashed_total", "Times that the filter was built anew with another seed",
              count(set.rehashed));
    const auto bytes = [&](std::string_view kind, const std::atomic<std::uint64_t>& n) {
        m.counter("posy_summary_sent_bytes_total", "Bytes sent to keep summaries up to date, by kind",
                  count(n), metrics::label("kind", kind));
    };
    bytes("whole", traffic_.whole);
    bytes("delta", traffic_.changes);
    bytes("squid", traffic_.squid);
    bytes("question", traffic_.questions);
    bytes("hint", traffic_.hints);
    bytes("framing", traffic_.framing);
    const auto& edge = server_.counts();
    m.gauge("posy_connections", "Open connections", count(server_.open_connections()));
    m.counter("posy_connections_total", "Connections accepted", count(edge.connections));
    m.counter("posy_requests_total", "Requests, of all kinds", count(edge.requests));
    const auto refused = [&](std::string_view why, const std::atomic<std::uint64_t>& n) {
        m.counter("posy_refused_total", "Connections and requests that were turned away", count(n),
                  metrics::label("why", why));
    };
    refused("malformed", edge.malformed);
    refused("too_many", edge.too_many);
    refused("too_slow", edge.too_slow);
    refused("forbidden", edge.forbidden);
    refused("made_room", edge.made_room);
    refused("failed", edge.failed);
    peers_.describe(m);
    if (describe_more) describe_more(m);
    return m;
}

}  // namespace posy::node
