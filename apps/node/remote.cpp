#include "remote.hpp"

#include <fmt/format.h>

#include <boost/asio/co_spawn.hpp>
#include <exception>
#include <stdexcept>

#include "options.hpp"
#include "posy/http_cache/http_date.hpp"
#include "summary_protocol.hpp"

namespace posy::node {

using namespace std::chrono_literals;

namespace {

read_limits limits_of(const remote& from) {
    read_limits limits = from.limits;
    limits.max_bytes = std::min(limits.max_bytes, from.max_bytes);
    return limits;
}

http::request_head get(const remote& from) {
    http::request_head head{"GET", from.where.path, {}};
    const auto& at = from.where.authority;
    head.fields.add("Host", at.port == (from.where.secure ? 443 : 80) ? at.host : at.text());
    head.fields.add("User-Agent", "posy/" POSY_VERSION);
    if (!from.token.empty()) head.fields.add("Authorization", "Bearer " + from.token);
    return head;
}

// The exchange, with errors in terms of the URL and the options that the user typed.
http::task<http::answer> ask_server(http::worker& here, const remote& from, http::request_head head,
                                    http::clock::duration wait) {
    http::limits most;
    most.body = from.max_bytes + 4096;  // a message has a head of its own
    std::string why;
    const auto start = here.time.now();
    try {
        co_return co_await here.client.ask(from.where.authority, from.where.secure, head, {}, most,
                                           from.timeout + wait, from.max_time + wait);
    } catch (const http::refusal& e) {
        why = e.status == 413
                  ? fmt::format("the answer has more than {} bytes; --max-size allows more", from.max_bytes)
              : e.status == 502 ? e.what()
                                : std::string("the answer is not HTTP/1.1: ") + e.what();
    } catch (const boost::system::system_error& e) {
        // The watch closes a connection that is late, which is all that its reader sees.
        const bool late = e.code() == asio::error::operation_aborted ||
                          e.code() == asio::error::bad_descriptor || e.code() == asio::error::timed_out;
        const auto seconds = [](http::clock::duration d) { return std::chrono::duration<double>(d).count(); };
        why = !late ? e.what()
              : here.time.now() - start >= from.max_time + wait
                  ? fmt::format("not all of the answer came within {:g} seconds; --max-time waits longer",
                                seconds(from.max_time + wait))
                  : fmt::format("nothing came for {:g} seconds; --timeout waits longer",
                                seconds(from.timeout + wait));
    }
    throw std::runtime_error(why);
}

[[noreturn]] void refuse(const http::response_head& head) {
    const auto status = head.status;
    const auto said = fmt::format("the server answers {} {}", status,
                                  head.reason.empty() ? std::string(http::reason_of(status)) : head.reason);
    const auto location = head.fields.find("Location");
    if (status >= 300 && status < 400 && location)
        throw std::runtime_error(fmt::format("{}; ask for {}", said, *location));
    if (status == 401 || status == 403)
        throw std::runtime_error(said + "; if it wants a token, name it with --token-file");
    if (status == 421)
        throw std::runtime_error(said + "; a node is asked by its address, or by a name of its --host-name");
    if (status == 404) throw std::runtime_error(said + "; a node publishes its filter at /summary");
    throw std::runtime_error(said);
}

// Why a message was not taken.
[[noreturn]] void refuse(const remote& from, reception became, const subscriber& by, byte_view message) {
    if (became == reception::too_large) {
        const bool whole = limits_of(from).most(message.size()) == from.max_bytes;
        throw std::runtime_error(fmt::format("the answer is {}; raise it if you trust the sender ({})",
                                             by.complaint(), whole ? "--max-size" : "--max-array"));
    }
    if (by.complaint() == subscriber::several_messages)
        throw std::runtime_error("the answer is more than one message; publish them united by 'posy union'");
    if (by.complaint() == subscriber::another_kind)
        throw std::runtime_error(
            "the answer is a message, but not a plain filter, and only such can be followed; 'posy query' "
            "takes it as it is");
    throw std::runtime_error("the answer is not a message: " + by.complaint() +
                             "; a node publishes its filter at /summary");
}

}  // namespace

std::string fetch(const remote& from, http::timekeeper& time) {
    http::worker here(time);
    if (from.where.secure) here.client.trust(client_tls({.tls_authority = from.tls_authority}));
    here.watch.start();
    std::string body;
    std::exception_ptr failed;
    const auto work = [&]() -> http::task<void> {
        auto got = co_await ask_server(here, from, get(from), 0s);
        if (got.head.status != 200) refuse(got.head);
        body = std::move(got.body);
    };
    asio::co_spawn(here.context, work(), [&](const std::exception_ptr& e) {
        failed = e;
        here.watch.stop();
        here.context.stop();
    });
    here.context.run();
    here.context.shutdown();
    if (failed) std::rethrow_exception(failed);
    return body;
}

follower::follower(http::worker& here, remote from)
    : here_(here), from_(std::move(from)), held_(limits_of(from_)) {
    if (from_.where.secure) here_.client.trust(client_tls({.tls_authority = from_.tls_authority}));
}

bool follower::resume(byte_view message) {
    // What was kept is not to be refused because the limits are for what comes.
    held_.set_limits(limits_of(from_).holding(message.size()));
    const auto became = held_.receive(message, 0);
    held_.set_limits(limits_of(from_));
    if (became != reception::replaced) return false;
    // A file that was never a publisher's has no generation to name.
    if (generation() != 0) tag_ = tag_of(*held_.edition());
    return true;
}

bool follower::holds_requests() const { return held_.edition() && tag_ == tag_of(*held_.edition()); }

http::request_head follower::question(std::chrono::seconds wait) const {
    auto head = get(from_);
    if (!tag_.empty()) {
        add_to(head.fields, {tag_, true, wait});
    } else if (!modified_.empty()) {
        head.fields.add("If-Modified-Since", modified_);
    }
    return head;
}

http::task<bool> follower::ask(std::chrono::seconds wait) {
    auto head = question(wait);
    const bool conditional = !tag_.empty() || !modified_.empty();
    const auto got = co_await ask_server(here_, from_, std::move(head), wait);
    const auto status = got.head.status;
    if (status == 304 && conditional) co_return false;
    const auto message = as_byte_view(got.body);
    bool news = false;
    if (status == 200) {
        news = take_whole(message);
    } else if (status == 226 && filter()) {
        news = take_delta(message);
    } else {
        refuse(got.head);
    }
    remember_validators(got.head);
    bytes_ = message.size();
    by_delta_ = status == 226;
    co_return news;
}

// What the server has now is what counts, also if its generation is an old one or the same: it may have been
// set up anew, and a file has none.
bool follower::take_whole(byte_view message) {
    read_limits limits = limits_of(from_);
    if (filter()) limits = limits.holding(filter()->bits().words().size_bytes());
    subscriber fresh(limits);
    const auto became = fresh.receive(message, 0);
    if (became != reception::replaced) refuse(from_, became, fresh, message);
    fresh.set_limits(limits_of(from_));
    if (filter() && held_.generation() == fresh.generation() && *filter() == *fresh.filter()) return false;
    const std::lock_guard lock(mutex_);
    held_ = std::move(fresh);
    return true;
}

bool follower::take_delta(byte_view message) {
    subscriber next = held_;  // shares its filter, so that its users do not wait
    const auto became = next.receive(message, 0);
    if (became == reception::updated) {
        const std::lock_guard lock(mutex_);
        held_ = std::move(next);
        return true;
    }
    if (became == reception::duplicate) return false;
    forget_validators();
    if (became == reception::damaged || became == reception::too_large) refuse(from_, became, next, message);
    throw std::runtime_error(
        "the server sent a delta to another version than the one here; asking for the whole");
}

void follower::remember_validators(const http::response_head& head) {
    forget_validators();
    if (const auto tag = head.fields.find("ETag")) {
        tag_ = *tag;
        return;
    }
    // A time in whole seconds names a version only when those seconds are over (RFC 9110, 8.8.2.2).
    const auto modified = head.fields.find("Last-Modified");
    const auto now = here_.time.seconds();
    const auto changed = modified ? http_cache::parse_http_date(*modified, now) : std::nullopt;
    const auto date = http_cache::parse_http_date(head.fields.find("Date").value_or(""), now);
    if (changed && date && *date - *changed >= 2) modified_ = *modified;
}

void follower::forget_validators() {
    tag_.clear();
    modified_.clear();
}

void follower::use(const std::function<void(const bloom_filter&)>& with) const {
    const std::lock_guard lock(mutex_);
    with(*held_.filter());
}

}  // namespace posy::node
