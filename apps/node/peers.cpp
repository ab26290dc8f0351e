#include "peers.hpp"

#include <fmt/format.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/post.hpp>

#include "http/elsewhere.hpp"
#include "summary_protocol.hpp"

namespace posy::node {

using namespace std::chrono_literals;

namespace {

// A message beyond this is not a summary: 64 MiB coded are some 50 million items.
constexpr std::uint64_t max_message = std::uint64_t{64} << 20, least_message = 64 * 1024;
constexpr auto answer_time = 10s;  // to its head, and between the bytes of its body
constexpr auto whole_time = 120s;  // to its end
constexpr auto hint_time = 5s;

}  // namespace

peers::peers(const options& how, http::worker& here, overlay::mesh_directory& directory, traffic& t)
    : how_(how), here_(here), directory_(directory), traffic_(t) {}

peers::~peers() {
    decoding_.stop();
    decoding_.join();
}

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
        auto fresh = std::make_shared<peer>(address, how_, here_);
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
        old->pause.stop();
        directory_.forget(name);
    }
    peers_ = std::move(next);
    count_ = peers_.size();
    directory_.share_among(peers_.size());
}

void peers::wake(const std::string& name) {
    if (auto known = find(name)) asio::post(here_.context, [known] { known->pause.stop(); });
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
    const auto token = how_.token.get();
    if (!token->empty() && to.address.kind == peer_kind::posy)
        head.fields.add("Authorization", "Bearer " + *token);
    return head;
}

void peers::drop(peer& from, const std::string& why) {
    ++from.dropped;
    throw std::runtime_error(why);
}

// ---- following --------------------------------------------------------------------------------------------

http::task<void> peers::follow(std::shared_ptr<peer> p) {
    auto& schedule = p->schedule;
    auto& time = here_.time;
    while (!p->gone) {
        auto came = outcome::failed;
        const std::string why = co_await try_asking(*p, came);
        if (p->gone) co_return;
        if (came == outcome::failed) {
            p->up = false;
            ++p->failures;
            if (schedule.failures() == 0) how_.log->warning("peer {}: {}", p->address.name, why);
        } else {
            answers(*p);
        }
        const auto rest = schedule.over(came, count_, time.now());
        p->held_back = p->held_back + std::chrono::duration<double>(rest).count();
        co_await p->pause.until(schedule.next());
        // A hint ends the pause, but not before the peer's time has come.
        while (!p->gone && time.now() < schedule.earliest()) co_await p->pause.until(schedule.earliest());
    }
}

void peers::answers(peer& p) {
    p.up = true;
    if (p.schedule.failures() > 0) how_.log->info("peer {} is back", p.address.name);
}

http::task<std::string> peers::try_asking(peer& p, outcome& came) {
    try {
        if (p.address.kind == peer_kind::squid) {
            came = co_await ask_squid(p);
        } else {
            came = co_await ask(p);
        }
    } catch (const std::exception& e) {
        co_return *e.what() ? e.what() : "failed";
    }
    co_return std::string();
}

http::limits peers::summary_limits() const {
    const auto share = peer_budget(how_.peer_memory).messages / std::max<std::size_t>(count_, 1);
    http::limits most;
    most.body = std::clamp<std::uint64_t>(share, least_message, max_message);
    return most;
}

// Runs on the decoding thread, and its time is charged to the peer.
template <class Function>
http::task<std::invoke_result_t<Function&>> peers::decode(peer& from, std::size_t bytes, Function function) {
    using found_type = std::invoke_result_t<Function&>;
    auto timed = [&clock = here_.time, run = std::move(function)]() mutable {
        const auto start = clock.now();
        found_type found = run();
        return std::pair(std::move(found), clock.now() - start);
    };
    auto [found, time] = co_await http::elsewhere(here_.context, decoding_, std::move(timed));
    from.schedule.charge(time, bytes);
    from.decoding = from.decoding + std::chrono::duration<double>(time).count();
    co_return std::move(found);
}

http::task<peers::outcome> peers::ask(peer& from) {
    const auto& [name, where, kind] = from.address;
    auto head = request_to(from, "GET", "/summary");
    const auto have = directory_.edition_of(name);
    const auto start = here_.time.now();
    const auto hold = from.schedule.ask(have.has_value(), start);
    const auto stream = from.schedule.stream(start);
    const bool streams = stream > 0s;
    add_to(head.fields, {have ? tag_of(*have) : "", true, streams ? stream : hold, streams});
    const auto wait = std::max<http::clock::duration>(hold, stream) + answer_time;
    const auto most = summary_limits();
    std::exception_ptr failed;
    http::begun made;
    try {
        made = co_await here_.client.begin(where.authority, where.secure, head, {}, most, wait,
                                           wait + whole_time);
    } catch (...) {
        failed = std::current_exception();
    }
    if (failed) {
        if (streams && here_.time.now() - start >= wait) from.schedule.stream_was_silent(here_.time.now());
        std::rethrow_exception(failed);
    }
    traffic_.framing += made.sent;
    if (from.gone) co_return outcome::useless;  // forgotten meanwhile, and to stay so
    const auto& said = made.parsing->head;
    const auto tag = held_of(said.fields.find("ETag").value_or(""));
    // One number for two sets: a node that was set up anew, or another one at the same address.
    const bool other = have && tag && tag->generation == have->generation &&
                       tag->checksum.value_or(have->checksum) != have->checksum;
    if (other) directory_.doubt(name);
    if (streams && is_stream(said)) {
        if (have && tag && tag->generation == have->generation && !other) confirm(from);
        co_return co_await take_stream(from, std::move(made), wait);
    }
    http::answer got;
    got.body = co_await made.on.reader->body(*made.parsing);
    got.head = std::move(made.parsing->head);
    if (made.parsing->keep_alive()) here_.client.keep(std::move(made.on));
    if (from.gone) co_return outcome::useless;
    if (got.head.status == 304 && !other) {
        confirm(from);
        co_return outcome::unchanged;
    }
    if (got.head.status != 200 && got.head.status != 226)
        drop(from,
             fmt::format("answers {} to /summary{}", got.head.status,
                         got.head.status == 421 ? "; it needs --host-name " + where.authority.host : ""));
    // A whole filter in answer to our question is what there is, also if it was set up anew with a clock that
    // is behind.
    const auto order = got.head.status == 200 ? sequence::any : sequence::ascending;
    co_return co_await take(from, std::move(got.body), order);
}

void peers::confirm(peer& from) {
    directory_.confirm(from.address.name, here_.time.milliseconds());
    ++from.unchanged;
}

http::task<peers::outcome> peers::take(peer& from, std::string message, sequence order) {
    const auto bytes = message.size();
    auto work = [this, order, name = from.address.name, body = std::move(message)] {
        std::string why;
        const auto now = here_.time.milliseconds();
        const auto became = directory_.receive(name, as_byte_view(body), now, order, &why);
        return std::pair(became, why);
    };
    const auto [became, why] = co_await decode(from, bytes, std::move(work));
    switch (became) {
        case reception::replaced:
            ++from.wholes;
            co_return outcome::news;
        case reception::updated:
            ++from.changes;
            co_return outcome::news;
        case reception::duplicate:
            ++from.unchanged;
            co_return outcome::useless;
        case reception::too_large:
            drop(from, why + "; --peer-memory allows more");
            break;
        case reception::damaged:
            drop(from, "its summary is damaged: " + why);
            break;
        case reception::outdated:
        case reception::gap:
        case reception::wrong_base:  // the next question asks for the whole
            ++from.dropped;
    }
    co_return outcome::useless;
}

http::task<peers::outcome> peers::ask_squid(peer& from) {
    const auto& [name, where, kind] = from.address;
    auto head = request_to(from, "GET", "/squid-internal-periodic/store_digest");
    head.fields.add("Accept", "application/cache-digest");
    from.schedule.ask(false, here_.time.now());
    const auto most = summary_limits();
    auto got = co_await here_.client.ask(where.authority, where.secure, head, {}, most, answer_time,
                                         answer_time + whole_time);
    traffic_.framing += got.sent;
    if (from.gone) co_return outcome::useless;
    if (got.head.status != 200)
        drop(from, fmt::format("answers {} to /squid-internal-periodic/store_digest; Squid publishes a "
                               "digest with digest_generation on and a ufs cache_dir",
                               got.head.status));
    const auto bytes = got.body.size();
    auto work = [this, key = name, body = std::move(got.body)] {
        return directory_.receive_squid(key, as_byte_view(body), here_.time.milliseconds());
    };
    const auto held = co_await decode(from, bytes, std::move(work));
    if (!held) drop(from, "its digest: " + held.error().text());
    ++from.wholes;
    co_return outcome::news;
}

// ---- hints ------------------------------------------------------------------------------------------------

void peers::tell_all() {
    for (const auto& p : all()) {
        if (p->address.kind != peer_kind::posy || !p->up) continue;
        p->hint_again = true;
        if (!std::exchange(p->hinting, true)) asio::co_spawn(here_.context, tell(p), asio::detached);
    }
}

// "POST /hint?from=NAME". One that is slow to take it gets the next one after it, not beside it.
http::task<void> peers::tell(std::shared_ptr<peer> p) {
    while (std::exchange(p->hint_again, false) && !p->gone) {
        auto head = request_to(*p, "POST", "/hint?from=" + http::percent_encoded(how_.name));
        head.fields.add("Content-Length", "0");
        try {
            const auto& where = p->address.where;
            const auto got = co_await here_.client.ask(where.authority, where.secure, head, {},
                                                       http::short_answer, hint_time);
            traffic_.hints += got.sent + got.received;
        } catch (const std::exception&) {
            ++p->failures;
        }
    }
    p->hinting = false;
}

}  // namespace posy::node
