// The node: publishes its set to peers, and knows which peers may hold a key. docs/node.md is its protocol.
//
// It is a part of a server, not one itself: `posy node` gives it all requests, a proxy those that are meant
// for it. Thread safety: requests come on the threads of the server, changes of the set from anywhere. What
// takes long is done on threads of the node's own: changes of the keys, messages and figures, and passes over
// all keys do not wait for each other, and connections do not wait for them.
#pragma once

#include <boost/asio/thread_pool.hpp>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>

#include "access.hpp"
#include "bell.hpp"
#include "check_service.hpp"
#include "history.hpp"
#include "http/server.hpp"
#include "key_store.hpp"
#include "local_set.hpp"
#include "metrics.hpp"
#include "options.hpp"
#include "overlay_service.hpp"
#include "peers.hpp"
#include "squid_publication.hpp"

namespace posy::node {

class node {
  public:
    // Of a proxy, whose store has the keys and tells of every change.
    node(const options&, http::server&, local_set::key_source keys);
    // With keys of its own, in options.data.
    node(const options&, http::server&);

    // Starts to follow the peers. Before the server runs. Throws when their file cannot be read.
    void start();

    // Answers, if the request is for the node: true.
    http::task<bool> handle(http::request&);
    std::shared_ptr<const access> rights() const { return access_.get(); }
    local_set& set() { return set_; }
    peers& mesh() { return peers_; }
    overlay::mesh_directory& directory() { return directory_; }
    traffic& bytes() { return traffic_; }
    const options& how() const { return how_; }
    // Set by the owner of the node: further figures, and whether a key is held at this moment.
    std::function<void(metrics&)> describe_more;
    std::function<bool(std::string_view key)> holds;

    // From any thread: takes what may change while a node runs from other options, which are checked: the
    // token, networks and names, peers, limits, certificates and the log level, and the file of /check
    // again. Throws std::runtime_error, and then nothing has changed.
    void reload(const options&);
    // What became of the last one, for the figures.
    void note_reload(bool worked) { reloaded_ = worked; }
    // From the first thread: tells the overlay that this node leaves, and calls `then`.
    void depart(std::function<void()> then);
    // After the server ran, and while the source of the keys still exists: ends the work in hand.
    void finish();

  private:
    node(const options&, http::server&, std::unique_ptr<key_store>, local_set::key_source);
    static std::vector<peer_address> peers_wanted(const options&);
    std::string next_token(const options&) const;
    http::task<void> keep_time();
    std::string history_file() const;
    void resume_history();
    void keep_history() const;
    bool have(std::string_view key) const;

    // A request for a path of the node, and what answers it (node_routes.cpp).
    struct call {
        http::request& request;
        std::string_view query;
    };
    struct route;
    static const route& route_of(std::string_view method, std::string_view path);
    static std::span<const route> routes();
    void prepare_durations();
    void describe_durations(metrics&) const;
    http::task<void> no_route(const call&);
    http::task<void> say_healthy(const call&);
    http::task<void> send_summary(const call&);
    http::task<void> send_squid_digest(const call&);
    http::task<void> take_hint(const call&);
    http::task<void> say_have(const call&);
    http::task<void> say_who(const call&);
    http::task<void> take_letters(const call&);
    http::task<void> send_overlay(const call&);
    http::task<void> change_keys(const call&);
    http::task<void> check(const call&);
    http::task<void> send_metrics(const call&);
    http::task<void> send_history(const call&);
    http::task<void> send_page(const call&);
    http::response who(const std::string& key) const;
    http::task<http::response> who_by_overlay(http::worker&, std::string key);

    http::task<publisher::reply> reply_to(http::worker&, question);
    http::task<publisher::reply> awaited_reply(http::request&);
    http::task<void> send_stream(http::request&, question);
    http::task<void> send_chunk(http::request&, std::span<const std::byte>);

    struct changes {
        std::uint64_t added = 0, removed = 0, unchanged = 0;
    };
    http::task<changes> change(http::request&, std::vector<key_change>);
    http::task<http::response> changed_keys(http::request&);
    http::task<http::response> changed_listed_keys(http::request&);

    http::task<metrics> collected(http::worker&);
    metrics collect() const;
    static void describe(const local_set::facts&, metrics&);
    static void describe(const traffic&, metrics&);
    static void describe(const http::server&, metrics&);
    void tell_check() const;

    options how_;
    http::server& server_;
    http::timekeeper& time_;
    std::unique_ptr<key_store> keys_;
    local_set::key_source all_keys_;
    http::changing<access> access_;
    local_set set_;
    overlay::mesh_directory directory_;
    traffic traffic_;
    peers peers_;
    bell bell_;
    history history_;
    std::map<std::string_view, durations> took_;  // by path; all of them are there from the start
    http::clock::time_point started_;
    std::atomic<bool> reloaded_{true};
    squid_publication squid_;
    std::unique_ptr<overlay_service> overlay_;  // null: this node follows its peers
    std::unique_ptr<check_service> check_;      // null: there is no filter to ask
    // Last: what runs there uses all the others.
    asio::thread_pool changing_{1}, telling_{1}, reading_{1};
};

}  // namespace posy::node
