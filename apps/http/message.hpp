// HTTP/1.1 messages on a connection: heads parsed by Beast straight into posy::http_cache values, bodies
// piece by piece.
//
// What is not HTTP as RFC 9112 writes it is refused with `refusal`, which knows the status to answer with:
// both lengths given, lengths that disagree, codings other than chunked, bare line feeds, heads beyond the
// limit. A connection on which a message was refused is closed after the answer: where the next
// message starts is unknown.
#pragma once

#include <boost/beast/http/basic_parser.hpp>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "chunks.hpp"
#include "posy/http_cache/fields.hpp"
#include "transport.hpp"

namespace posy::http {

using http_cache::request_head;
using http_cache::response_head;

struct refusal : std::runtime_error {
    refusal(unsigned status_, const std::string& why) : std::runtime_error(why), status(status_) {}
    unsigned status;
};

struct limits {
    std::uint32_t head = 32 * 1024;               // bytes of start line and fields: 431 beyond
    std::size_t fields = 100;                     // 431 beyond
    std::uint64_t body = std::uint64_t{1} << 40;  // 413 beyond
};

inline constexpr std::size_t usual_fields = 8;  // of a request; one with more makes room for them

// Of answers that are a status and a few words: to questions and hints.
inline constexpr limits short_answer{.body = 64 * 1024};

// Collects one message as Beast's parser finds its parts. `Head` is request_head or response_head.
template <class Head>
class parser final : public boost::beast::http::basic_parser<std::is_same_v<Head, request_head>> {
    static constexpr bool is_request = std::is_same_v<Head, request_head>;
    using base = boost::beast::http::basic_parser<is_request>;
    using text = boost::beast::string_view;
    using error_code = boost::system::error_code;

  public:
    explicit parser(const limits& l = {}) : limits_(l) {
        this->header_limit(l.head);
        this->body_limit(l.body);
    }
    Head head;
    http_cache::fields trailers;  // behind a body in chunks, when it is done; those that may be there
    std::string piece;            // of the body, not yet taken
    int version = 11;             // 10 or 11

    // Chunks of an answer are taken apart by our own hands (chunks.hpp).
    bool in_chunks() const {
        return !is_request && this->is_header_done() && !base::is_done() && this->chunked();
    }
    bool is_done() const { return base::is_done() || chunks_.done(); }
    std::size_t take_chunks(std::string_view bytes) {
        const auto taken = chunks_.take(bytes, piece, {limits_.body, limits_.head, limits_.fields});
        if (chunks_.done()) trailers = chunks_.trailers();
        return taken;
    }

  private:
    void on_request_impl(boost::beast::http::verb, text method, text target, int v, error_code&) override {
        version = v;
        if constexpr (is_request) {
            head.method.assign(method.data(), method.size());
            head.target.assign(target.data(), target.size());
            head.fields.reserve(usual_fields);
        }
    }
    void on_response_impl(int code, text reason, int v, error_code&) override {
        version = v;
        if constexpr (!is_request) {
            head.status = static_cast<unsigned>(code);
            head.reason.assign(reason.data(), reason.size());
        }
    }
    void on_field_impl(boost::beast::http::field, text name, text value, error_code& failed) override {
        taken_ += name.size() + value.size() + 4;  // Beast's limit is for what comes at once
        if (++fields_ > limits_.fields || taken_ > limits_.head)
            failed = make_error_code(boost::beast::http::error::header_limit);
        const std::string_view called(name.data(), name.size());
        const bool trailer = this->is_header_done();
        if (trailer && !may_trail(called)) return;
        (trailer ? trailers : head.fields).add(called, {value.data(), value.size()});
    }
    void on_header_impl(error_code&) override {}
    void on_body_init_impl(const boost::optional<std::uint64_t>&, error_code&) override {}
    std::size_t on_body_impl(text body, error_code&) override {
        piece.append(body.data(), body.size());
        return body.size();
    }
    // Beast lets line feeds into quoted extensions, where others see the end of the line.
    void on_chunk_header_impl(std::uint64_t, text extension, error_code& failed) override {
        for (const char c : extension) {
            if ((static_cast<unsigned char>(c) < ' ' && c != '\t') || c == 0x7f)
                failed = make_error_code(boost::beast::http::error::bad_chunk_extension);
        }
    }
    std::size_t on_chunk_body_impl(std::uint64_t, text body, error_code& failed) override {
        return on_body_impl(body, failed);
    }
    void on_finish_impl(error_code&) override {}

    limits limits_;
    http::chunks chunks_;
    std::size_t fields_ = 0, taken_ = 0;
};

inline constexpr std::string_view go_on = "HTTP/1.1 100 Continue\r\n\r\n";

// The bytes that have arrived on a connection and the messages in them.
class reader {
  public:
    // `head`: bytes of the longest head that it has to hold.
    explicit reader(transport& from, std::size_t head = limits{}.head)
        : from_(from), max_buffer_(std::max<std::size_t>(head, 16 * 1024)) {}

    // Waits for the first byte of a message; false when the connection ended before it. Precondition: nothing
    // is pending.
    task<bool> arrived() { return fill(); }
    // Up to the end of the head. False when the connection ended before its first byte.
    template <class Head>
    task<bool> head(parser<Head>&);
    // The same without waiting: false when some of it is still to come, and head() has to wait for it.
    template <class Head>
    bool head_at_hand(parser<Head>&);
    // The next piece of the body, in parser.piece; false when there is none any more.
    template <class Head>
    task<bool> more(parser<Head>&);
    // The same without waiting: what has arrived already; false when that is nothing.
    template <class Head>
    bool at_hand(parser<Head>&);
    // The rest of the body.
    template <class Head>
    task<std::string> body(parser<Head>&);
    // Is part of a message here already?
    bool pending() const { return begin_ < end_; }
    // The sender waits for "100 Continue" before its body: it is told when a handler reads on, and only then.
    void continue_when_read() { continue_ = true; }
    bool awaits_continue() const { return continue_; }
    // An interim answer (1xx) to the sender; behind a 100 it waits no longer.
    task<void> say(std::string_view interim);
    // Bytes of that, which are not an answer.
    std::uint64_t interim_bytes() const { return interim_; }
    // Bytes beyond what was parsed: the tunnel behind a CONNECT starts with them.
    std::string rest();
    // Gives its memory back until bytes are wanted again. Precondition: nothing is pending.
    void release();

  private:
    template <class Head>
    bool feed(parser<Head>&);  // false: needs more bytes
    task<bool> fill();         // false: at the end
    task<std::size_t> gather();
    task<void> mend(parser<response_head>&);

    transport& from_;
    std::size_t max_buffer_;
    std::vector<char> buffer_;
    std::size_t begin_ = 0, end_ = 0;
    bool continue_ = false, ended_ = false;
    std::uint64_t interim_ = 0;
};

std::string_view reason_of(unsigned status);

// "HTTP/1.1 200 OK\r\nname: value\r\n…", without the empty line.
std::string to_text(const response_head&);
// "GET target HTTP/1.1\r\nname: value\r\n…", without the empty line.
std::string to_text(const request_head&);

// An authority and what it stands for.
struct host_port {
    std::string host;
    std::uint16_t port = 80;
    friend bool operator==(const host_port&, const host_port&) = default;
    std::string text() const;  // "host:port", IPv6 in brackets
    std::string host_text() const { return host.find(':') == host.npos ? host : "[" + host + "]"; }
};
std::optional<host_port> parse_authority(std::string_view, std::uint16_t default_port);

struct url {
    bool secure = false;
    host_port authority;
    std::string path = "/";  // with the query
    friend bool operator==(const url&, const url&) = default;
};
// http://… and https://…; nothing else, no user information.
std::optional<url> parse_url(std::string_view);
// A URL, or HOST:PORT, which then speaks http. A word alone is no server: it may be anything.
std::optional<url> parse_server(std::string_view);
// %xx decoded; nothing if that is malformed.
std::optional<std::string> percent_decoded(std::string_view);
// All but letters, digits and - . _ ~ as %xx.
std::string percent_encoded(std::string_view);

}  // namespace posy::http
