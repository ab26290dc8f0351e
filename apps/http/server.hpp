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
#include <limits>
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

// How a request was answered. Its handler writes it down, for logs and figures; reply() does it itself.
struct account {
    unsigned status = 0;               // 0: nothing was said
    std::uint64_t head = 0, body = 0;  // bytes that there are to send; of a tunnel no end of them
    std::string_view result{};         // one word, of static storage: how the answer was come by
    std::uint8_t kind = 0;             // a number of the handler's own, for its figures
    std::string user{};                // who asked, if that is known by name
    std::string why{};                 // it was refused, by a handler that keeps the connection
    std::string referer{}, agent{};    // fields of a request whose head is let go before its end
    std::string url{};                 // what was asked for, where that says more than the request's target
    std::optional<address> visitor{};  // who asked, where a forwarder named somebody
};

struct request {
    request_head head;
    transport& connection;
    http::reader& reader;
    parser<request_head>& parsing;
    worker& here;
    bool keep_alive = true;  // the connection may go on after this; a handler may say no
    // Awaits the end of what reads the body beside the handler, if anything does, when the handler is done;
    // or ends it, if that failed.
    std::function<task<void>(bool failed)> finish_body{};
    clock::time_point begun{};
    account said{};
};

// What became of a request at its end, or of a connection that was refused before it had one.
struct conclusion {
    address who;
    const request_head* head = nullptr;  // null: none arrived
    int version = 0;                     // of HTTP, as 11; 0 without a head
    account said{};
    std::uint64_t body = 0;  // bytes of it that were sent
    clock::duration took{};
    std::string_view why{};  // it was refused
};

struct response {
    response_head head{200, {}, {}};
    std::string body{};
};

// Counts of connections and requests, and of those that were refused, by reason.
struct edge_counts {
    std::atomic<std::uint64_t> connections{0}, requests{0}, malformed{0}, too_many{0}, too_slow{0},
        forbidden{0}, ruled{0}, tls{0}, made_room{0}, failed{0};
    // Connections that could not be made for want of a descriptor: of clients, and to servers.
    std::atomic<std::uint64_t> not_accepted{0}, not_connected{0};
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
    dns::servers name_servers{};  // none: those of the system
};

class server {
  public:
    // Answers one request on its connection. Runs on the connection's thread.
    using handler = std::function<task<void>(request&)>;

    server(timekeeper&, const serving&, handler);
    ~server();

    // Before run(). Throws when the address cannot be had. Returns the port, chosen if it was 0.
    std::uint16_t listen(const host_port&, std::shared_ptr<asio::ssl::context> tls = nullptr);
    // The same on a TCP socket that listens already, which is then the server's.
    std::uint16_t listen(int descriptor, std::shared_ptr<asio::ssl::context> tls = nullptr);
    // From any thread, for what comes next: other limits of connections, rates and times (not of heads), and
    // another certificate for all listeners that have one.
    void limit(const serving&);
    void certify(std::shared_ptr<asio::ssl::context> tls);
    // Until stop().
    void run();
    // From any thread: no new connections; those that are idle end, others have `grace` to finish. Then they
    // are closed, and what was under way has until last_words to be written down.
    void stop(clock::duration grace = 5s);
    static constexpr clock::duration last_words = 1s;

    bool stopping() const { return stopping_; }
    // Called when stopping begins, so that requests held open are answered.
    std::function<void()> on_stop;

    timekeeper& time() { return time_; }
    worker& first() { return *workers_.front(); }
    const std::vector<std::unique_ptr<worker>>& workers() const { return workers_; }
    std::size_t open_connections() const { return open_; }
    const edge_counts& counts() const { return counts_; }
    edge_counts& counts() { return counts_; }
    // Called with every request that is refused: who, which status, why. Status 0: there was none, because
    // TLS did not come about.
    std::function<void(const std::string& who, unsigned status, const std::string& why)> on_refusal;
    // Called when the process or the system is out of descriptors, once per minute while that lasts: what
    // could not be done, and why. On any thread.
    std::function<void(std::string_view what, const std::string& why)> on_shortage;
    // Called once for every request, at its end, and for every connection that is turned away. On any thread.
    std::function<void(const conclusion&)> on_end;

  private:
    struct listener {
        tcp_acceptor acceptor;
        std::shared_ptr<asio::ssl::context> tls;  // null: plain; on the first thread
    };
    std::uint16_t begin(tcp_acceptor, std::shared_ptr<asio::ssl::context>);
    task<void> accept(listener&);
    struct conversation;
    task<void> converse(std::unique_ptr<transport>, worker&);
    task<bool> shake_hands(transport&);
    task<bool> hear(conversation&);
    task<void> drain(transport&, std::size_t most, clock::duration time);
    task<bool> skip_body(request&);
    task<void> refuse(transport&, unsigned status, const std::string& why, bool answered);
    void turn_away(tcp_socket&, const address& who, unsigned status);
    void admit(request&);
    struct ending {
        std::uint64_t bytes = 0;  // that were sent for an answer
        unsigned refused = 0;     // the status
        std::string_view why{};
    };
    void conclude(conversation&, const ending&);
    task<void> receive(tcp_socket, worker&, std::shared_ptr<asio::ssl::context>, bool full);
    task<bool> make_room(worker& first);
    void out_of_descriptors(std::string_view what, const boost::system::error_code&);

    timekeeper& time_;
    const serving how_;
    std::atomic<std::size_t> max_connections_;
    std::atomic<clock::duration> head_time_, idle_time_;
    handler handle_;
    std::vector<std::unique_ptr<worker>> workers_;
    std::vector<std::unique_ptr<listener>> listeners_;
    std::vector<std::thread> threads_;
    std::atomic<std::size_t> open_{0};
    std::atomic<bool> stopping_{false};
    std::size_t next_ = 0;
    std::atomic<clock::rep> next_shortage_{std::numeric_limits<clock::rep>::min()};
    crowd crowd_;
    rates rates_;
    edge_counts counts_;
};

// The usual answer of a handler: fields, length, body, one write.
task<void> reply(request&, const response&);

}  // namespace posy::http
