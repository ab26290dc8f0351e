#include "message.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <boost/asio/ip/address_v6.hpp>
#include <boost/beast/http/error.hpp>
#include <boost/beast/http/status.hpp>
#include <charconv>

#include "lenient.hpp"
#include "posy/http_cache/stored_response.hpp"

namespace posy::http {

namespace {

// What has arrived and cannot be parsed yet: half a head, which has its own limit, or what comes between the
// chunks of a body.
constexpr std::size_t first_buffer = 16 * 1024;

using error_code = boost::system::error_code;
using beast_error = boost::beast::http::error;

[[noreturn]] void refuse(const error_code& why) {
    if (why == beast_error::header_limit) throw refusal(431, "the head of the message is too long");
    if (why == beast_error::body_limit) throw refusal(413, "the body of the message is too long");
    if (why == beast_error::bad_version) throw refusal(505, "only HTTP/1.0 and HTTP/1.1 are spoken here");
    throw refusal(400, "malformed message: " + why.message());
}

// A record of TLS, of the kind that a client begins with (RFC 8446, 5.1).
bool begins_handshake(std::string_view bytes) { return bytes.starts_with("\x16\x03"); }

// Characters that no host has: those of URLs, and those that would end it early in a list or a parameter.
constexpr auto strange_in_a_host = [] {
    std::array<bool, 256> strange{};
    for (std::size_t c = 0; c <= ' '; ++c) strange[c] = true;
    for (const char c : std::string_view("@/\\?#[]<>\",;^`{|}%\x7f"))
        strange[static_cast<unsigned char>(c)] = true;
    return strange;
}();

bool is_ipv6(const std::string& text) {
    error_code failed;
    boost::asio::ip::make_address_v6(text, failed);
    return !failed;
}

// What Beast leaves to its user.
template <class Head>
void check(parser<Head>& message) {
    auto& fields = message.head.fields;
    if (fields.has("Transfer-Encoding")) {
        if (!message.chunked()) throw refusal(501, "a transfer coding other than chunked");
        // One coding, without parameters: "chunked;q=1" is chunked to some and unknown to others.
        if (!http_cache::same_name(*fields.combined("Transfer-Encoding"), "chunked"))
            throw refusal(501, "a transfer coding besides chunked, or a parameter of it");
        if (fields.has("Content-Length")) throw refusal(400, "both Transfer-Encoding and Content-Length");
        if (message.version < 11) throw refusal(400, "Transfer-Encoding in HTTP/1.0");
    }
    // "5, 5" and two fields that agree are one length; the next hop sees it once.
    if (const auto length = message.content_length(); length && fields.has("Content-Length"))
        fields.set("Content-Length", std::to_string(*length));
    if constexpr (std::is_same_v<Head, request_head>) {
        const auto hosts = std::ranges::count_if(
            fields, [](const auto& f) { return http_cache::same_name(f.name, "Host"); });
        if (hosts > 1 || (hosts == 0 && message.version >= 11))
            throw refusal(400, "a request needs one Host field");
        const auto host = fields.find("Host").value_or("");
        if (!host.empty() && !parse_authority(host, 80)) throw refusal(400, "the Host field is not a host");
    }
}

}  // namespace

task<bool> reader::fill() {
    if (ended_) co_return false;  // the end is told once: who waits for it again waits for ever
    if (begin_ > 0) {
        std::copy(buffer_.begin() + static_cast<std::ptrdiff_t>(begin_),
                  buffer_.begin() + static_cast<std::ptrdiff_t>(end_), buffer_.begin());
        end_ -= begin_;
        begin_ = 0;
    }
    if (end_ == buffer_.size()) {
        if (buffer_.size() >= max_buffer_)
            throw refusal(431, "a line of the head, a chunk extension or the trailer is too long");
        buffer_.resize(buffer_.empty() ? first_buffer : std::min(2 * buffer_.size(), max_buffer_));
    }
    error_code failed;
    auto got = co_await from_.begin_read(std::span(buffer_).subspan(end_), failed);
    got = from_.end_read(got, failed);
    end_ += got;
    ended_ = got == 0;
    co_return !ended_;
}

template <class Head>
bool reader::feed(parser<Head>& message) {
    if (message.in_chunks()) {
        const auto taken = message.take_chunks({buffer_.data() + begin_, end_ - begin_});
        begin_ += taken;
        return taken > 0;
    }
    error_code failed;
    const bool handshake = begins_handshake({buffer_.data() + begin_, end_ - begin_});
    begin_ += message.put(asio::buffer(buffer_.data() + begin_, end_ - begin_), failed);
    if (failed == beast_error::need_more) return false;
    if (failed == beast_error::bad_method && handshake)
        throw refusal(400, "a TLS handshake on a port without TLS; speak plain HTTP here");
    if (failed) refuse(failed);
    return true;
}

// The length of the head of an answer, when all of it is here; 0 for what is none, or breaks off.
task<std::size_t> reader::gather() {
    for (std::size_t seen = 0;;) {
        while (end_ - begin_ >= 2 && buffer_[begin_] == '\r' && buffer_[begin_ + 1] == '\n') begin_ += 2;
        const std::string_view bytes(buffer_.data() + begin_, end_ - begin_);
        constexpr std::string_view start = "HTTP/";
        if (!bytes.starts_with(start.substr(0, bytes.size())) && bytes != "\r") co_return 0;
        const auto length = head_length(bytes, seen);
        if (mixed_ends(length > 0 ? bytes.substr(0, length) : bytes)) co_return 0;
        if (length > 0) co_return length;
        seen = bytes.size();
        const bool more = co_await fill();
        if (!more) co_return 0;
    }
}

// Puts the mended head of an answer into the parser, if it has to be mended.
task<void> reader::mend(parser<response_head>& message) {
    const auto length = co_await gather();
    const auto text = mended({buffer_.data() + begin_, length});
    if (!text) co_return;
    for (std::size_t at = 0; !message.is_header_done();) {
        error_code failed;
        at += message.put(asio::buffer(text->data() + at, text->size() - at), failed);
        if (failed) refuse(failed);
    }
    begin_ += length;
}

template <class Head>
bool reader::head_at_hand(parser<Head>& message) {
    message.eager(false);
    for (bool more = true; more && !message.is_header_done();) {
        // Some senders end a body with an empty line that was not counted (RFC 9112, 2.2).
        while (!message.got_some() && end_ - begin_ >= 2 && buffer_[begin_] == '\r' &&
               buffer_[begin_ + 1] == '\n')
            begin_ += 2;
        const bool half_a_line = !message.got_some() && end_ - begin_ == 1 && buffer_[begin_] == '\r';
        more = pending() && !half_a_line && feed(message);
    }
    if (!message.is_header_done()) return false;
    check(message);
    return true;
}

template <class Head>
task<bool> reader::head(parser<Head>& message) {
    bool any = pending();
    if constexpr (std::is_same_v<Head, response_head>) co_await mend(message);
    any = any || pending();
    while (!head_at_hand(message)) {
        const bool more = co_await fill();
        if (!more && !any && !pending()) co_return false;
        if (!more) throw refusal(400, "the connection ended inside a message");
        any = true;
    }
    co_return true;
}

template <class Head>
task<bool> reader::more(parser<Head>& message) {
    message.piece.clear();
    message.eager(true);
    from_.progressed();
    if (continue_) co_await say(go_on);
    while (!message.is_done()) {
        if (pending()) {
            feed(message);
            if (!message.piece.empty()) co_return true;
            if (message.is_done()) break;
        }
        const bool more = co_await fill();
        if (!more) {
            if (!message.need_eof() || from_.cut())
                throw refusal(400, "the connection ended inside a message");
            error_code failed;
            message.put_eof(failed);
            if (failed) refuse(failed);
        }
    }
    co_return !message.piece.empty();
}

task<void> reader::say(std::string_view interim) {
    if (interim.starts_with("HTTP/1.1 100 ")) continue_ = false;
    interim_ += interim.size();
    co_await from_.write(interim);
}

template <class Head>
bool reader::at_hand(parser<Head>& message) {
    message.piece.clear();
    message.eager(true);
    for (auto before = end_; !message.is_done() && pending() && begin_ != before;) {
        before = begin_;
        feed(message);
    }
    return !message.piece.empty();
}

template <class Head>
task<std::string> reader::body(parser<Head>& message) {
    constexpr std::uint64_t most_at_once = std::uint64_t{64} << 20;
    std::string all;
    // Of a length that is known nothing is copied; pages that nothing is written to take no memory.
    if (const auto length = message.content_length())
        all.reserve(std::min<std::uint64_t>(*length, most_at_once));
    for (;;) {
        const bool any = co_await more(message);
        if (!any) break;
        all += message.piece;
    }
    co_return all;
}

std::string reader::rest() {
    std::string bytes(buffer_.data() + begin_, end_ - begin_);
    begin_ = end_ = 0;
    return bytes;
}

void reader::release() {
    begin_ = end_ = 0;
    std::vector<char>().swap(buffer_);
}

template task<bool> reader::head(parser<request_head>&);
template bool reader::head_at_hand(parser<request_head>&);
template task<bool> reader::head(parser<response_head>&);
template task<bool> reader::more(parser<request_head>&);
template task<bool> reader::more(parser<response_head>&);
template bool reader::at_hand(parser<response_head>&);
template task<std::string> reader::body(parser<request_head>&);
template task<std::string> reader::body(parser<response_head>&);

std::string_view reason_of(unsigned status) {
    if (status == 431) return "Request Header Fields Too Large";
    const auto text = boost::beast::http::obsolete_reason(boost::beast::http::int_to_status(status));
    return {text.data(), text.size()};
}

std::string to_text(const response_head& head) {
    if (!head.reason.empty()) return http_cache::wire_text(head);
    response_head named = head;
    named.reason = reason_of(head.status);
    return http_cache::wire_text(named);
}

std::string to_text(const request_head& head) {
    std::string text = head.method + " " + head.target + " HTTP/1.1\r\n";
    for (const auto& [name, value] : head.fields) text += name + ": " + value + "\r\n";
    return text;
}

std::string host_port::text() const { return fmt::format("{}:{}", host_text(), port); }

std::optional<host_port> parse_authority(std::string_view text, std::uint16_t default_port) {
    host_port found{{}, default_port};
    if (text.starts_with('[')) {
        const auto end = text.find(']');
        if (end == std::string_view::npos) return std::nullopt;
        found.host = text.substr(1, end - 1);
        if (!is_ipv6(found.host)) return std::nullopt;  // [a.example] is no other way to write a name
        text.remove_prefix(end + 1);
    } else {
        const auto end = std::min(text.find(':'), text.size());
        found.host = text.substr(0, end);
        text.remove_prefix(end);
    }
    const auto strange = [](char c) { return strange_in_a_host[static_cast<unsigned char>(c)]; };
    if (found.host.empty() || std::ranges::any_of(found.host, strange)) return std::nullopt;
    if (text.empty()) return found;
    if (text.front() != ':') return std::nullopt;  // [::1]80
    text.remove_prefix(1);
    if (text.empty()) return found;
    const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), found.port);
    if (failed != std::errc{} || end != text.data() + text.size() || found.port == 0) return std::nullopt;
    return found;
}

std::optional<url> parse_url(std::string_view text) {
    url found;
    const auto scheme = text.substr(0, text.find("://"));
    if (http_cache::same_name(scheme, "https")) {
        found.secure = true;
    } else if (!http_cache::same_name(scheme, "http")) {
        return std::nullopt;
    }
    if (text.size() < scheme.size() + 3) return std::nullopt;
    text.remove_prefix(scheme.size() + 3);
    const auto slash = static_cast<std::size_t>(
        std::ranges::find_if(text, [](char c) { return c == '/' || c == '?' || c == '#'; }) - text.begin());
    auto authority = parse_authority(text.substr(0, slash), found.secure ? 443 : 80);
    if (!authority) return std::nullopt;
    found.authority = std::move(*authority);
    text.remove_prefix(slash);
    text = text.substr(0, text.find('#'));
    found.path = text.starts_with('/') ? std::string(text) : "/" + std::string(text);
    return found;
}

std::optional<url> parse_server(std::string_view text) {
    if (text.find("://") != text.npos) return parse_url(text);
    const auto written = parse_authority(text.substr(0, text.find('/')), 0);
    if (!written || written->port == 0) return std::nullopt;
    return parse_url("http://" + std::string(text));
}

std::optional<std::string> percent_decoded(std::string_view text) {
    std::string plain;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] != '%') {
            plain += text[i];
            continue;
        }
        unsigned value = 0;
        if (i + 2 >= text.size()) return std::nullopt;
        const auto [end, failed] = std::from_chars(text.data() + i + 1, text.data() + i + 3, value, 16);
        if (failed != std::errc{} || end != text.data() + i + 3) return std::nullopt;
        plain += static_cast<char>(value);
        i += 2;
    }
    return plain;
}

std::string percent_encoded(std::string_view plain) {
    std::string text;
    for (const char c : plain) {
        const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
        if (letter || (c >= '0' && c <= '9') || std::string_view("-._~").find(c) != std::string_view::npos) {
            text += c;
        } else {
            text += fmt::format("%{:02X}", static_cast<unsigned char>(c));
        }
    }
    return text;
}

}  // namespace posy::http
