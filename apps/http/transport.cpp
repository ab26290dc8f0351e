#include "transport.hpp"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <openssl/sslerr.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/ssl/error.hpp>
#include <boost/asio/ssl/host_name_verification.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <vector>

#include "networks.hpp"

namespace posy::http {

namespace {

using boost::system::error_code;
using boost::system::system_error;

void advance(std::vector<asio::const_buffer>& buffers, std::size_t done) {
    for (auto& each : buffers) {
        const auto part = std::min(done, each.size());
        each += part;
        done -= part;
    }
}

std::string why_no_tls(const error_code& failed) {
    const auto number = static_cast<unsigned long>(failed.value());
    const bool of_tls = failed.category() == asio::error::get_ssl_category();
    const auto reason = of_tls ? ERR_GET_REASON(number) : 0;
    if (reason == SSL_R_HTTP_REQUEST || reason == SSL_R_HTTPS_PROXY_REQUEST)
        return "plain HTTP on a port for TLS; ask for https";
    const char* text = of_tls ? ERR_reason_error_string(number) : nullptr;
    return "no TLS: " + (text ? std::string(text) : failed.message());
}

// What a slow reader has not taken stays with us, not in the kernel: else megabytes wait there, a write that
// follows seems to stand still, and thousands of such readers take gigabytes.
void keep_little_unsent(tcp_socket& socket) {
    const int most = 512 * 1024;
    (void)::setsockopt(socket.native_handle(), IPPROTO_TCP, TCP_NOTSENT_LOWAT, &most, sizeof most);
}

class plain_transport final : public transport {
  public:
    plain_transport(tcp_socket s, watch& w) : transport(s, w), socket_(std::move(s)) {
        error_code ignored;
        socket_.set_option(tcp::no_delay(true), ignored);
        keep_little_unsent(socket_);
        socket_.non_blocking(true, ignored);
    }

    task<void> accept_handshake() override { co_return; }
    task<void> connect_handshake(const std::string& /*host*/) override { co_return; }

    task<std::size_t> begin_read(std::span<char> into, error_code& failed) override {
        return socket_.async_read_some(asio::buffer(into.data(), into.size()),
                                       asio::redirect_error(use_awaitable, failed));
    }

    task<void> write(std::span<const asio::const_buffer> buffers) override {
        const auto done = write_now(buffers);
        if (done == asio::buffer_size(buffers)) co_return;
        std::vector<asio::const_buffer> rest(buffers.begin(), buffers.end());
        advance(rest, done);
        while (asio::buffer_size(rest) > 0) {
            const auto part = co_await socket_.async_write_some(rest, use_awaitable);
            progressed();
            written_ += part;
            advance(rest, part);
        }
    }

    std::size_t write_now(std::span<const asio::const_buffer> buffers) override {
        error_code failed;
        const auto done = socket_.write_some(buffers, failed);
        if (failed && failed != asio::error::would_block) throw system_error(failed);
        written_ += done;
        return done;
    }

    void finish_writing() override {
        error_code ignored;
        socket_.shutdown(tcp::socket::shutdown_send, ignored);
    }
    bool encrypted() const override { return false; }

  private:
    tcp_socket& socket() override { return socket_; }
    tcp_socket socket_;
};

class tls_transport final : public transport {
  public:
    tls_transport(tcp_socket s, watch& w, asio::ssl::context& context)
        : transport(s, w), stream_(std::move(s), context) {
        error_code ignored;
        socket().set_option(tcp::no_delay(true), ignored);
        keep_little_unsent(socket());
    }

    task<void> accept_handshake() override {
        error_code failed;
        co_await stream_.async_handshake(asio::ssl::stream_base::server,
                                         asio::redirect_error(use_awaitable, failed));
        if (!failed) co_return;
        const bool ours = failed == asio::error::operation_aborted && !expired();  // we make room, or stop
        if (ours || BIO_number_read(SSL_get_rbio(stream_.native_handle())) == 0) throw system_error(failed);
        throw failed_handshake(why_no_tls(failed));
    }
    task<void> connect_handshake(const std::string& host) override {
        stream_.set_verify_callback(asio::ssl::host_name_verification(host));
        SSL_set_tlsext_host_name(stream_.native_handle(), host.c_str());
        co_await stream_.async_handshake(asio::ssl::stream_base::client, use_awaitable);
    }

    task<std::size_t> begin_read(std::span<char> into, error_code& failed) override {
        return stream_.async_read_some(asio::buffer(into.data(), into.size()),
                                       asio::redirect_error(use_awaitable, failed));
    }
    task<void> write(std::span<const asio::const_buffer> buffers) override {
        std::vector<asio::const_buffer> rest(buffers.begin(), buffers.end());
        while (asio::buffer_size(rest) > 0) {
            const auto part = co_await stream_.async_write_some(rest, use_awaitable);
            progressed();
            written_ += part;
            advance(rest, part);
        }
    }
    std::size_t write_now(std::span<const asio::const_buffer> /*buffers*/) override { return 0; }
    void finish_writing() override {
        error_code ignored;
        socket().shutdown(tcp::socket::shutdown_send, ignored);
    }
    bool encrypted() const override { return true; }

  private:
    tcp_socket& socket() override { return stream_.next_layer(); }
    asio::ssl::stream<tcp_socket> stream_;
};

}  // namespace

std::unique_ptr<transport> transport::plain(tcp_socket socket, watch& w) {
    return std::make_unique<plain_transport>(std::move(socket), w);
}

std::unique_ptr<transport> transport::tls(tcp_socket socket, watch& w, asio::ssl::context& context) {
    return std::make_unique<tls_transport>(std::move(socket), w, context);
}

transport::transport(tcp_socket& socket, watch& w) : watch_(w) {
    error_code ignored;
    remote_ = socket.remote_endpoint(ignored);
    remote_.address(unmapped(remote_.address()));
    expires_after(10s);
    watch_.open_.insert(this);
}

transport::~transport() { watch_.open_.erase(this); }

task<std::size_t> transport::read_some(std::span<char> into) {
    error_code failed;
    const auto got = co_await begin_read(into, failed);
    co_return end_read(got, failed);
}

std::size_t transport::end_read(std::size_t got, const error_code& failed) {
    if (failed == asio::ssl::error::stream_truncated) {
        cut_ = true;
    } else if (failed && failed != asio::error::eof) {
        throw system_error(failed);
    }
    read_ += got;
    return got;
}

task<void> transport::write(std::string_view text) {
    const asio::const_buffer one = asio::buffer(text.data(), text.size());
    co_await write(std::span(&one, 1));
}

void transport::close() {
    error_code ignored;
    socket().close(ignored);
}

void transport::cancel() {
    error_code ignored;
    socket().cancel(ignored);
}

void transport::abort() {
    error_code ignored;
    socket().set_option(tcp::socket::linger(true, 0), ignored);
    socket().close(ignored);
}

asio::ip::address transport::local() {
    error_code ignored;
    return unmapped(socket().local_endpoint(ignored).address());
}

bool transport::quiet() {
    error_code failed;
    return socket().available(failed) == 0 && !failed;
}

void watch::start() { asio::co_spawn(context_, sweep(), asio::detached); }

void watch::stop() {
    stopped_ = true;
    next_look_.stop();
    for (transport* each : open_) each->close();
}

void watch::close_idle() {
    for (transport* each : open_) {
        if (each->idle_) each->close();
    }
}

bool watch::close_longest_idle() {
    transport* longest = nullptr;
    for (transport* each : open_) {
        if (each->idle_ && (!longest || each->idle_since_ < longest->idle_since_)) longest = each;
    }
    if (!longest) return false;
    longest->busy();  // it is on its way out, and not to be closed for another one again
    longest->close();
    return true;
}

task<void> watch::sweep() {
    while (!stopped_) {
        co_await next_look_.pause(500ms);
        const auto now = time_.now();
        for (transport* each : open_) {
            if (each->deadline_ > now || each->expired_) continue;
            each->expired_ = true;
            each->close();
        }
        if (on_look) on_look();
    }
}

}  // namespace posy::http
