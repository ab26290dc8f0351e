#include "node.hpp"

#include <fmt/format.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

#include "http/elsewhere.hpp"

namespace posy::node {

using namespace std::chrono_literals;

namespace {

local_set::key_source keys_of(const key_store& keys) {
    return [&keys](const local_set::visit& visit) { keys.for_each(visit); };
}

}  // namespace

node::node(const options& how, http::server& server, std::unique_ptr<key_store> keys,
           local_set::key_source all)
    : how_(how),
      server_(server),
      time_(server.time()),
      keys_(std::move(keys)),
      all_keys_(keys_ ? keys_of(*keys_) : std::move(all)),
      access_(how_),
      set_(how_, all_keys_, [this] { return time_.milliseconds(); }),
      directory_(read_limits::exactly(peer_budget(how_.peer_memory).largest),
                 peer_budget(how_.peer_memory).held),
      peers_(how_, server.first(), directory_, traffic_),
      started_(time_.now()),
      squid_(set_, all_keys_, reading_) {
    set_.on_publish = [this] {
        bell_.ring();
        if (how_.hint) asio::post(server_.first().context, [this] { peers_.tell_all(); });
    };
    server_.on_stop = [this] { bell_.ring(); };
    for (const auto& each : server_.workers()) each->client.trust(client_tls(how_));
    if (how_.overlay.kind != overlay_kind::none) overlay_ = std::make_unique<overlay_service>(how_, server_);
    if (!how_.check.empty()) check_ = std::make_unique<check_service>(how_.check);
    tell_check();
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

void node::tell_check() const {
    if (check_ && !how_.quiet) fmt::print(stderr, "posy: /check asks {}\n", check_->description());
}

void node::start() {
    if (overlay_) {
        overlay_->start(all_keys_);
    } else {
        peers_.know_only(peers_wanted());
    }
    asio::co_spawn(server_.first().context, keep_time(), asio::detached);
}

void node::reload() {
    asio::post(server_.first().context, [this] {
        try {
            if (!how_.peers_file.empty() && !overlay_) peers_.know_only(peers_wanted());
        } catch (const std::exception& e) {
            fmt::print(stderr, "posy: {}; the peers stay as they are\n", e.what());
        }
        try {
            if (check_) check_->reload();
            tell_check();
        } catch (const std::exception& e) {
            fmt::print(stderr, "posy: {}; the last good one stays in use\n", e.what());
        }
    });
}

// Generations by time, and samples for the page.
http::task<void> node::keep_time() {
    http::alarm next_tick(time_, server_.first().context);
    for (unsigned ticks = 0;; ++ticks) {
        co_await next_tick.pause(250ms);
        try {
            co_await http::elsewhere(server_.first().context, reading_, [this] { return set_.tick(); });
            if (ticks % (4 * history::spacing) == 0)
                history_.sample(time_.milliseconds(), co_await collected(server_.first()));
        } catch (const std::exception& e) {  // no memory for a larger filter, say: the present one stays
            fmt::print(stderr, "posy: {}\n", e.what());
        }
    }
}

void node::depart(std::function<void()> then) {
    if (!overlay_) return then();
    asio::co_spawn(
        server_.first().context,
        [](overlay_service& overlay, std::function<void()> next) -> http::task<void> {
            co_await overlay.leave();
            next();
        }(*overlay_, std::move(then)),
        asio::detached);
}

void node::finish() {
    for (auto* pool : {&changing_, &telling_, &reading_}) pool->stop();
    for (auto* pool : {&changing_, &telling_, &reading_}) pool->join();
    if (overlay_) overlay_->finish();
    if (check_) check_->finish();
}

bool node::have(std::string_view key) const { return holds ? holds(key) : set_.may_contain(key); }

}  // namespace posy::node
