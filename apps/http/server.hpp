// A server: threads with an io_context each, listeners, limits, and a coroutine per connection.
//
// A connection stays with the thread it was given to, so its coroutine needs no locks; what handlers share
// they guard themselves. Connections are dealt out in turn. Too many connections or requests from one address
// are answered 429 before anything is done for them. When all connections are taken, the one that has been
// idle longest makes room, first among those of its thread; only where all are busy a new one is answered
// 503.
#pragma once

#include <atomic>
#include <boost/asio/ssl/context.hpp>
#include <functional>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "client.hpp"
#include "crowd.hpp"
#include "message.hpp"
#include "rates.hpp"
#include "transport.hpp"

namespace posy::http {

// An io_context that can be emptied: coroutines that still wait in it end while all they know is still there.
struct loop : asio::io_context {
    using asio::execution_context::shutdown;
    using asio::io_context::io_context;
};

// One thread's world.
struct worker {
    worker(timekeeper& t, std::shared_ptr<resolver> names)
        : time(t), watch(context, t), client(watch, std::move(names)) {}
    explicit worker(timekeeper& t) : worker(t, std::make_shared<resolver>(t)) {}
    timekeeper& time;
    loop context{1};
    http::watch watch;
    http::client client;
};

struct request {
    request_head head;
    transport& connection;
    http::reader& reader;
    parser<request_head>& parsing;
    worker& here;
    bool keep_alive = true;  // the connection may go on after this; a handler may say no
};

struct response {
    response_head head{200, {}, {}};
    std::string body{};
};

// Counts of connections and requests, and of those that were refused, by reason.
struct edge_counts {
    std::atomic<std::uint64_t> connections{0}, requests{0}, malformed{0}, too_many{0}, too_slow{0},
        forbidden{0}, made_room{0}, failed{0};
};

struct serving {
    std::size_t threads = 1;
    std::size_t max_connections = 8192;
    std::size_t max_per_address = 1024;  // of these; 0: no limit
    double max_requests_per_second = 0;  // from one address other than loopback; 0: no limit
    clock::duration head_time = 10s;     // from the start of a connection to the end of its first head
    clock::duration idle_time = 60s;     // from the end of one request to the start of the next one
    clock::duration body_time = 60s;     // without a byte moving
    http::limits limits{};
};

class server {
  public:
    // Answers one request on its connection. Runs on the connection's thread.
    using handler = std::function<task<void>(request&)>;

    server(timekeeper&, const serving&, handler);
    ~server();

    // Before run(). Throws when the address cannot be had. Returns the port, chosen if it was 0.
    std::uint16_t listen(const host_port&, std::shared_ptr<asio::ssl::context> tls = nullptr);
    // Until stop().
    void run();
    // From any thread: no new connections; those that are idle end, others have `grace` to finish.
    void stop(clock::duration grace = 5s);

    bool stopping() const { return stopping_; }
    // Called when stopping begins, so that requests held open are answered.
    std::function<void()> on_stop;

    timekeeper& time() { return time_; }
    worker& first() { return *workers_.front(); }
    const std::vector<std::unique_ptr<worker>>& workers() const { return workers_; }
    std::size_t open_connections() const { return open_; }
    const edge_counts& counts() const { return counts_; }
    edge_counts& counts() { return counts_; }
    // Called with every malformed request: who, which status, why.
    std::function<void(const std::string& who, unsigned status, const std::string& why)> on_refusal;

  private:
    task<void> accept(tcp::acceptor&, std::shared_ptr<asio::ssl::context>);
    task<void> converse(std::unique_ptr<transport>, worker&);
    task<bool> next_head(transport&, reader&, parser<request_head>&, bool first);
    task<void> drain(transport&);
    task<bool> skip_body(request&);
    task<void> refuse(transport&, unsigned status, const std::string& why, bool answered);
    void turn_away(tcp::socket&, unsigned status);
    task<void> receive(tcp::socket, worker&, std::shared_ptr<asio::ssl::context>, bool full);
    task<bool> make_room(worker& first);

    timekeeper& time_;
    serving how_;
    handler handle_;
    std::vector<std::unique_ptr<worker>> workers_;
    std::vector<std::unique_ptr<tcp::acceptor>> acceptors_;
    std::vector<std::thread> threads_;
    std::atomic<std::size_t> open_{0};
    std::atomic<bool> stopping_{false};
    std::size_t next_ = 0;
    crowd crowd_;
    rates rates_;
    edge_counts counts_;
};

// The usual answer of a handler: fields, length, body, one write.
task<void> reply(request&, const response&);

}  // namespace posy::http
