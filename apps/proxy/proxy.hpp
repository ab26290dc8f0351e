// A caching HTTP forward proxy whose siblings share summaries: Summary Cache (Fan et al. 1998) with the
// compressed, delta-coded filters of Mitzenmacher (2002), as a working system.
//
// A request is answered from the store if RFC 9111 lets it be (posy/http_cache/policy.hpp); if not, the
// summaries of the siblings say which may have it, the best of those is asked with only-if-cached, and then
// the origin. A false hit costs that one question. Cache-Status (RFC 9211) tells what happened.
//
// Requests of one connection run one after the other on one thread; the store, the set and the flights are
// shared by all. What is on disk is read and written by threads of its own.
#pragma once

#include <array>
#include <atomic>
#include <boost/asio/thread_pool.hpp>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "access_log.hpp"
#include "flights.hpp"
#include "heads.hpp"
#include "node/node.hpp"
#include "posy/http_cache/policy.hpp"
#include "posy/http_cache/room.hpp"
#include "posy/http_cache/store.hpp"
#include "renewals.hpp"
#include "upstream.hpp"

namespace posy::proxy {

struct options {
    http_cache::store_options store;
    bool keep_siblings = false;  // store what came from a sibling, too; else it stays there alone
    std::uint64_t max_object = std::uint64_t{8} << 20;  // larger answers pass through
    std::string access_log;
    std::vector<std::uint16_t> connect_ports{443};
    http::networks destinations;  // beyond the Internet, where clients may be connected to
    std::chrono::milliseconds sibling_time{2000}, origin_time{30'000};
    double break_siblings = 0;  // this share of the questions to siblings fails: for tests of failure
};

// How a request was answered.
enum class outcome {
    hit,          // from the store, fresh
    stale,        // from the store, stale: while it is revalidated, or because the origin fails
    revalidated,  // from the store, after the origin said it still holds
    sibling,
    origin,
    refused,  // only-if-cached and not there
    failed,   // no cache had it and the origin did not answer
    passed,   // not a matter for a cache: other methods
    tunnel,
    count_
};
std::string_view name_of(outcome);

class proxy : http_cache::observer {
  public:
    proxy(const options&, const node::options&, http::server&);
    ~proxy() override;

    http::task<void> handle(http::request&);
    node::node& node() { return *node_; }

  private:
    struct exchange;  // one request on its way through here
    struct transfer;  // the answer of someone else on its way to the client

    // The store's observer.
    void entered(std::string_view url) override;
    void left(std::string_view url) override;

    http::task<void> serve(exchange&);
    http::task<std::optional<http_cache::stored>> serve_from_store(exchange&);
    http::task<bool> fetch_for_all(exchange&, http_cache::stored stale);
    http::task<void> answer_from(exchange&, http_cache::stored, outcome);
    http::task<void> fetch(exchange&, http_cache::stored stale);
    http::task<bool> fetch_from_sibling(exchange&);
    http::task<bool> fetch_from_origin(exchange&, const http_cache::stored& stale);
    struct no_answer {
        unsigned status;  // for the client
        std::string why;
    };
    http::task<std::variant<upstream, no_answer>> ask_origin(exchange&, const http_cache::stored& stale);
    http::task<http_cache::stored> take_confirmation(exchange&, const http_cache::stored_response& stale,
                                                     upstream&);
    bool may_keep(const exchange&, const upstream&, outcome) const;
    http::task<bool> relay(exchange&, upstream&, outcome);
    std::string head_for_client(transfer&) const;
    http::task<bool> fill(transfer&);
    http::task<void> pass_on(transfer&);
    void store_answer(transfer&, std::shared_ptr<const std::string> body);
    http::task<void> refuse(exchange&, unsigned status, const std::string& why, outcome);
    void renew_behind(exchange&, http_cache::stored stale);
    http::task<void> renew(http::worker&, http_cache::request_head, target, http_cache::stored stale,
                           std::shared_ptr<void> place);
    http::task<void> open_tunnel(http::request&);
    http::task<std::vector<std::shared_ptr<node::peer>>> holders(exchange&);
    http::task<std::vector<std::shared_ptr<node::peer>>> ask_everyone(exchange&);
    http::task<std::optional<upstream>> ask_sibling(http::worker&, const node::peer&, http::request_head);
    http::task<void> drain(http::worker&, upstream&);

    http::task<http_cache::stored> look_up(http::worker&, const std::string& url,
                                           const http_cache::request_head&);
    http_cache::incoming_body collect(const std::string& url, const upstream&) const;
    void keep(http_cache::stored);
    http::task<void> forget(http::worker&, std::string url);
    void land(exchange&);
    void count(const exchange&, outcome, unsigned status, std::uint64_t bytes);
    http::task<void> keep_time();
    void describe(node::metrics&) const;

    options how_;
    http::server& server_;
    http::timekeeper& time_;
    heads heads_;
    std::unique_ptr<node::node> node_;
    std::unique_ptr<http_cache::store> store_;
    std::atomic<bool> counting_{false};  // the set is there, and hears of changes
    access_log log_;
    flights flights_;
    std::shared_ptr<renewals> renewals_ = std::make_shared<renewals>();
    boost::asio::thread_pool reading_{2}, writing_{1};  // of the disk; changes in their order
    std::atomic<std::uint64_t> waiting_bytes_{0};
    std::array<std::atomic<std::uint64_t>, static_cast<std::size_t>(outcome::count_)> outcomes_{};
    std::atomic<std::uint64_t> collapsed_{0}, false_by_filter_{0}, false_by_age_{0}, sibling_failures_{0},
        body_bytes_{0}, unkept_{0};
};

}  // namespace posy::proxy
