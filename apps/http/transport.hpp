// A connection: bytes in, bytes out, over TCP or TLS, with a deadline.
//
// A transport belongs to one thread, the one whose io_context its socket has. It is always doing something
// by a deadline; the watch of its thread looks twice a second and closes those that are late, which ends
// whatever their coroutine waits for: slow, silent and half-open peers all go the same way, and no operation
// needs a timer of its own.
//
// Errors are exceptions (boost::system::system_error), as Asio's coroutines have them; the end of the
// stream is not an error.
#pragma once

#include <algorithm>
#include <boost/asio/buffer.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/context.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <unordered_set>

#include "timekeeper.hpp"

namespace posy::http {

using asio::ip::tcp;
using tcp_socket = asio::basic_stream_socket<tcp, executor>;
using tcp_acceptor = asio::basic_socket_acceptor<tcp, executor>;

class transport;

// Why a client that has sent something has no TLS connection.
struct failed_handshake : std::runtime_error {
    using std::runtime_error::runtime_error;
};

// The open connections of one thread.
class watch {
  public:
    watch(asio::io_context& context, timekeeper& time)
        : context_(context), time_(time), next_look_(time, context) {}
    // Looks at the deadlines twice a second, until stop().
    void start();
    void stop();
    // Those that wait for a request that may never come.
    void close_idle();
    // Of those the one that has waited longest; false: there is none.
    bool close_longest_idle();
    asio::io_context& context() { return context_; }
    timekeeper& time() { return time_; }
    // Called each time, after the deadlines: for what else is to be let go in time.
    std::function<void()> on_look;

  private:
    friend class transport;
    task<void> sweep();

    asio::io_context& context_;
    timekeeper& time_;
    alarm next_look_;
    std::unordered_set<transport*> open_;
    bool stopped_ = false;
};

class transport {
  public:
    static std::unique_ptr<transport> plain(tcp_socket, watch&);
    // Before its handshake; handshake() comes first.
    static std::unique_ptr<transport> tls(tcp_socket, watch&, asio::ssl::context&);
    transport(const transport&) = delete;
    transport& operator=(const transport&) = delete;
    virtual ~transport();

    // As the server, which throws failed_handshake; or as the client of `host`, whose certificate must name
    // it.
    virtual task<void> accept_handshake() = 0;
    virtual task<void> connect_handshake(const std::string& host) = 0;
    // Some bytes; 0 at the end of the stream.
    task<std::size_t> read_some(std::span<char> into);
    // The two halves of it, for whoever is a coroutine and needs no further one: what to wait for, and what
    // came of it.
    virtual task<std::size_t> begin_read(std::span<char> into, boost::system::error_code& failed) = 0;
    std::size_t end_read(std::size_t got, const boost::system::error_code& failed);
    // All of them.
    virtual task<void> write(std::span<const asio::const_buffer> buffers) = 0;
    // As many of them as can go without waiting. Nearly always that is all, and then no coroutine is needed.
    virtual std::size_t write_now(std::span<const asio::const_buffer> buffers) = 0;
    task<void> write(std::string_view text);
    // Nothing more will be written; reading goes on.
    virtual void finish_writing() = 0;
    virtual bool encrypted() const = 0;

    // What it does now has to progress within `time`, and again within `time` after each progress.
    void expires_after(clock::duration time) { expires_after(time, watch_.time().now()); }
    void expires_after(clock::duration time, clock::time_point now) {
        time_ = time;
        progressed(now);
    }
    void progressed() { progressed(watch_.time().now()); }
    void progressed(clock::time_point now) { deadline_ = std::min(now + time_, end_); }
    // What it does now has to be done by then, if that is sooner.
    void due(clock::time_point then) { deadline_ = std::min(deadline_, then); }
    // All that it does together has to be done by then: a byte now and then does not keep it open.
    void ends_by(clock::time_point end) {
        end_ = end;
        progressed();
    }
    void close();
    // Ends what waits to be read or written; the connection stays, if half a write does not matter.
    void cancel();
    // Closes so that the other side cannot take what it has for the whole.
    void abort();
    // Between two exchanges: has nothing arrived? Bytes would belong to no request.
    bool quiet();
    bool expired() const { return expired_; }
    // TLS that ended without a close_notify: by the other side, or by anybody on the way.
    bool cut() const { return cut_; }
    // It would not be missed: its owner says so.
    void idle_since(clock::time_point then) {
        idle_ = true;
        idle_since_ = then;
    }
    void busy() { idle_ = false; }
    // Our own address on this connection.
    asio::ip::address local();
    const tcp::endpoint& remote() const { return remote_; }
    std::uint64_t bytes_read() const { return read_; }
    std::uint64_t bytes_written() const { return written_; }

  protected:
    transport(tcp_socket& socket, watch& w);
    virtual tcp_socket& socket() = 0;
    std::uint64_t read_ = 0, written_ = 0;

  private:
    friend class watch;
    watch& watch_;
    tcp::endpoint remote_;
    clock::duration time_{};
    clock::time_point deadline_, end_ = clock::time_point::max();
    bool expired_ = false, idle_ = false, cut_ = false;
    clock::time_point idle_since_;
};

}  // namespace posy::http
