#include "peers.hpp"

#include <fmt/format.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <charconv>

#include "backoff.hpp"
#include "http/now.hpp"

namespace posy::node {

using namespace std::chrono_literals;

namespace {
// A summary beyond this is not one: 64 MiB coded are some 50 million items.
constexpr std::uint64_t max_summary = std::uint64_t{64} << 20;
constexpr auto answer_time = 10s;
}  // namespace

std::string tag_of(std::uint64_t generation) { return fmt::format("\"{:x}\"", generation); }

std::optional<std::uint64_t> generation_of(std::string_view tag) {
    if (tag.size() < 3 || tag.front() != '"' || tag.back() != '"') return std::nullopt;
    tag = tag.substr(1, tag.size() - 2);
    std::uint64_t generation = 0;
    const auto [end, failed] = std::from_chars(tag.data(), tag.data() + tag.size(), generation, 16);
    if (failed != std::errc{} || end != tag.data() + tag.size()) return std::nullopt;
    return generation;
}

peers::peers(const options& how, http::worker& here, mesh_directory& directory, traffic& t)
    : how_(how), here_(here), directory_(directory), traffic_(t) {}

void peers::know_only(const std::vector<peer_address>& wanted) {
    std::map<std::string, std::shared_ptr<peer>> next;
    const std::lock_guard lock(mutex_);
    for (const auto& address : wanted) {
        if (next.contains(address.name)) continue;
        const auto known = peers_.find(address.name);
        if (known != peers_.end() && known->second->address == address) {
            next[address.name] = known->second;
            continue;
        }
        auto fresh = std::make_shared<peer>(address);
        fresh->timer = std::make_unique<asio::steady_timer>(here_.context);
        next[address.name] = fresh;
        if (how_.sharing == sharing::none || how_.sharing == sharing::ask) {
            fresh->up = true;
        } else {
            asio::co_spawn(here_.context, follow(fresh), asio::detached);
        }
    }
    for (const auto& [name, old] : peers_) {
        const auto kept = next.find(name);
        if (kept != next.end() && kept->second == old) continue;
        old->gone = true;
        old->timer->cancel();
        directory_.forget(name);
    }
    peers_ = std::move(next);
}

void peers::wake(const std::string& name) {
    if (auto known = find(name)) asio::post(here_.context, [known] { known->timer->cancel(); });
}

std::vector<std::shared_ptr<peer>> peers::all() const {
    const std::lock_guard lock(mutex_);
    std::vector<std::shared_ptr<peer>> list;
    for (const auto& [name, each] : peers_) list.push_back(each);
    return list;
}

std::shared_ptr<peer> peers::find(const std::string& name) const {
    const std::lock_guard lock(mutex_);
    const auto known = peers_.find(name);
    return known == peers_.end() ? nullptr : known->second;
}

http::request_head peers::request_to(const peer& to, std::string method, std::string target) const {
    http::request_head head{std::move(method), std::move(target), {}};
    head.fields.add("Host", to.address.where.authority.text());
    if (!how_.token.empty() && to.address.kind == peer_kind::posy)
        head.fields.add("Authorization", "Bearer " + how_.token);
    return head;
}

void peers::drop(peer& from, const std::string& why) {
    ++from.dropped;
    throw std::runtime_error(why);
}

http::task<void> peers::follow(std::shared_ptr<peer> p) {
    backoff patience;
    while (!p->gone) {
        std::string why;
        bool again = false;
        try {
            if (p->address.kind == peer_kind::squid) {
                co_await ask_squid(*p);
            } else {
                again = co_await ask(*p);
            }
        } catch (const std::exception& e) {
            why = e.what();
        }
        if (p->gone) co_return;
        p->up = why.empty();
        std::chrono::milliseconds pause = how_.poll;
        if (!why.empty()) {
            if (patience.failures() == 0 && !how_.quiet)
                fmt::print(stderr, "posy: peer {}: {}\n", p->address.name, why);
            ++p->failures;
            pause = patience.failed();
        } else {
            patience.succeeded();
            if (p->address.kind == peer_kind::squid)
                pause = std::max(pause, 10'000ms);
            else if (again)
                continue;
            else  // it does not hold requests open, or says what does not help
                pause = std::max(pause, backoff::first);
        }
        p->timer->expires_after(pause);
        boost::system::error_code woken;
        co_await p->timer->async_wait(asio::redirect_error(asio::use_awaitable, woken));
    }
}

http::task<bool> peers::ask(peer& from) {
    const auto& [name, where, kind] = from.address;
    auto head = request_to(from, "GET", "/summary");
    head.fields.add("A-IM", "posy-delta");
    const auto have = directory_.have(name);
    if (have) head.fields.add("If-None-Match", tag_of(*have));
    const bool hold = how_.poll == 0ms && have && how_.wait > 0s;
    if (hold) head.fields.add("Prefer", fmt::format("wait={}", how_.wait.count()));
    const auto start = http::clock::now();
    http::limits most;
    most.body = max_summary;
    const auto got = co_await here_.client.ask(where.authority, where.secure, head, {}, most,
                                               hold ? how_.wait + answer_time : answer_time);
    traffic_.framing += got.sent;
    if (from.gone) co_return false;  // forgotten meanwhile, and to stay so
    const auto now = http::milliseconds_now();
    if (got.head.status == 304) {
        directory_.confirm(name, now);
        ++from.unchanged;
        // A peer that does not hold requests open would be asked without a pause.
        co_return hold&& http::clock::now() - start > how_.wait / 2;
    }
    if (got.head.status != 200 && got.head.status != 226)
        drop(from,
             fmt::format("answers {} to /summary{}", got.head.status,
                         got.head.status == 421 ? "; it needs --host-name " + where.authority.host : ""));
    const auto message = as_byte_view(got.body);
    auto became = directory_.receive(name, message, now);
    if (became == reception::outdated && got.head.status == 200) {
        // It has been set up anew, with a clock that is behind: what it says is what there is.
        directory_.forget(name);
        became = directory_.receive(name, message, now);
    }
    switch (became) {
        case reception::replaced:
            ++from.wholes;
            break;
        case reception::updated:
            ++from.changes;
            break;
        case reception::duplicate:
            ++from.unchanged;
            co_return false;
        case reception::damaged:
            drop(from, "its summary is damaged");
            break;
        default:  // the next question asks for the whole
            ++from.dropped;
            co_return false;
    }
    co_return how_.poll == 0ms;
}

http::task<void> peers::ask_squid(peer& from) {
    const auto& [name, where, kind] = from.address;
    auto head = request_to(from, "GET", "/squid-internal-periodic/store_digest");
    head.fields.add("Accept", "application/cache-digest");
    http::limits most;
    most.body = max_summary;
    const auto got = co_await here_.client.ask(where.authority, where.secure, head, {}, most, answer_time);
    traffic_.framing += got.sent;
    if (from.gone) co_return;
    if (got.head.status != 200)
        drop(from, fmt::format("answers {} to /squid-internal-periodic/store_digest; Squid publishes a "
                               "digest with digest_generation on and a ufs cache_dir",
                               got.head.status));
    if (auto held = directory_.receive_squid(name, as_byte_view(got.body), http::milliseconds_now()); !held)
        drop(from, "its digest: " + held.error().text());
    ++from.wholes;
}

void peers::describe(metrics& m) const {
    const auto now = http::milliseconds_now();
    for (const auto& p : all()) {
        const auto label = metrics::label("peer", p->address.name);
        m.gauge("posy_peer_up", "Whether the last question to the peer was answered", p->up, label);
        const auto count = [&](std::string_view outcome, std::uint64_t value) {
            m.counter("posy_peer_answers_total", "Answers of the peer to /summary, by what they were",
                      static_cast<double>(value), label + "," + metrics::label("kind", outcome));
        };
        count("whole", p->wholes);
        count("delta", p->changes);
        count("unchanged", p->unchanged);
        count("dropped", p->dropped);
        count("failed", p->failures);
        m.counter("posy_peer_hits_total", "Objects that the peer was asked for and had",
                  static_cast<double>(p->hits), label);
        m.counter("posy_peer_false_hits_total", "Objects that the peer's summary named and it did not have",
                  static_cast<double>(p->false_hits), label);
        m.gauge("posy_peer_delay_seconds", "Time to an answer, smoothed", p->delay, label);
    }
    for (const auto& s : directory_.summaries(now)) {
        const auto label = metrics::label("peer", s.peer);
        m.gauge("posy_peer_summary_age_seconds", "Since the peer last said what it holds",
                static_cast<double>(s.age) / 1000, label);
        if (s.generation)
            m.gauge("posy_peer_summary_generation", "The generation of the peer's set that we know",
                    static_cast<double>(*s.generation), label);
        m.gauge("posy_peer_summary_items", "Items that the peer's summary stands for",
                static_cast<double>(s.items.value_or(0)), label);
        m.gauge("posy_peer_summary_false_positive_rate", "Predicted from the bits of the summary",
                s.false_positive_rate, label);
        m.gauge("posy_peer_summary_bytes", "Memory of the peer's summary", static_cast<double>(s.bytes),
                label);
    }
}

}  // namespace posy::node
