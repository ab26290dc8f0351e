#include "node.hpp"

#include <fmt/format.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <filesystem>

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
      access_(std::make_shared<const access>(how_)),
      set_(how_, all_keys_, [this] { return time_.milliseconds(); }),
      directory_(read_limits::exactly(peer_budget(how_.peer_memory).largest),
                 peer_budget(how_.peer_memory).held),
      peers_(how_, server.first(), directory_, traffic_),
      started_(time_.now()),
      squid_(set_, all_keys_, reading_) {
    prepare_durations();
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

std::vector<peer_address> node::peers_wanted(const options& how) {
    auto wanted = how.peers;
    if (how.peers_file.empty()) return wanted;
    for (auto& each : read_peers(how.peers_file)) wanted.push_back(std::move(each));
    return wanted;
}

void node::tell_check() const {
    if (check_) how_.log->info("/check asks {}", check_->description());
}

void node::start() {
    resume_history();
    if (overlay_) {
        overlay_->start(all_keys_);
    } else {
        peers_.know_only(peers_wanted(how_));
    }
    asio::co_spawn(server_.first().context, keep_time(), asio::detached);
}

// The seals of an overlay are checked in several steps, which must know one token.
std::string node::next_token(const options& next) const {
    auto wanted = *next.token.get();
    auto present = *how_.token.get();
    if (!overlay_ || wanted == present) return wanted;
    how_.log->warning("the token of an overlay is changed by a restart; the old one stays in use");
    return present;
}

void node::reload(const options& next) {
    auto peers = peers_wanted(next);
    const auto server_side = server_tls(next);
    std::vector<std::shared_ptr<asio::ssl::context>> client_sides(server_.workers().size());
    for (auto& each : client_sides) each = client_tls(next);
    auto list = check_ ? check_->prepare() : nullptr;
    // Nothing fails from here on.
    how_.token.set(next_token(next));
    options rights = next;  // under the names and addresses of the present
    rights.token = how_.token;
    rights.name = how_.name;
    rights.listen = how_.listen;
    rights.listen_tls = how_.listen_tls;
    rights.overlay = how_.overlay;
    access_.set(std::make_shared<const access>(rights));
    how_.log->set_level(next.log_level);
    server_.limit(next.serving);
    if (server_side) server_.certify(server_side);
    for (std::size_t i = 0; i < client_sides.size(); ++i) {
        auto& here = *server_.workers()[i];
        asio::post(here.context, [&here, tls = client_sides[i]] { here.client.trust(tls); });
    }
    asio::post(server_.first().context, [this, peers = std::move(peers)] {
        if (!overlay_) peers_.know_only(peers);
    });
    if (check_) check_->use(std::move(list));
    tell_check();
}

std::string node::history_file() const { return how_.state + "/history.json"; }

void node::resume_history() {
    if (how_.state.empty()) return;
    std::error_code failed;
    std::filesystem::create_directories(how_.state, failed);
    if (failed)
        throw std::runtime_error("--state " + how_.state + ": cannot be made a folder: " + failed.message());
    if (const auto taken = history_.load(history_file(), time_.milliseconds()); !taken)
        how_.log->warning("{}: {}; the page starts without it", history_file(), taken.error().text());
}

void node::keep_history() const {
    if (how_.state.empty()) return;
    if (const auto kept = history_.save(history_file()); !kept)
        how_.log->warning("{}: {}; the page will start without it", history_file(), kept.error().text());
}

// Generations by time, and samples for the page.
http::task<void> node::keep_time() {
    http::alarm next_tick(time_, server_.first().context);
    for (unsigned ticks = 0;; ++ticks) {
        co_await next_tick.pause(250ms);
        how_.log->catch_up();
        try {
            co_await http::elsewhere(server_.first().context, reading_, [this] { return set_.tick(); });
            if (ticks % (4 * history::spacing) == 0)
                history_.sample(time_.milliseconds(), co_await collected(server_.first()));
            if (!how_.state.empty() && ticks % (4 * 60) == 4 * 59)
                co_await http::elsewhere(server_.first().context, reading_,
                                         [this] { return keep_history(), true; });
        } catch (const std::exception& e) {  // no memory for a larger filter, say: the present one stays
            how_.log->error("{}", e.what());
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
    keep_history();
}

bool node::have(std::string_view key) const { return holds ? holds(key) : set_.may_contain(key); }

}  // namespace posy::node
