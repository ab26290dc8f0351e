#include "chunks.hpp"

#include <algorithm>
#include <array>
#include <charconv>

#include "message.hpp"

namespace posy::http {

namespace {

constexpr std::array<std::string_view, 45> ahead_only{"Age",
                                                      "Authorization",
                                                      "Cache-Control",
                                                      "Connection",
                                                      "Content-Encoding",
                                                      "Content-Length",
                                                      "Content-Range",
                                                      "Content-Type",
                                                      "Cookie",
                                                      "Date",
                                                      "Expect",
                                                      "Expires",
                                                      "Forwarded",
                                                      "Host",
                                                      "If-Match",
                                                      "If-Modified-Since",
                                                      "If-None-Match",
                                                      "If-Range",
                                                      "If-Unmodified-Since",
                                                      "Keep-Alive",
                                                      "Location",
                                                      "Max-Forwards",
                                                      "Pragma",
                                                      "Proxy-Authenticate",
                                                      "Proxy-Authorization",
                                                      "Proxy-Connection",
                                                      "Range",
                                                      "Retry-After",
                                                      "Set-Cookie",
                                                      "Set-Cookie2",
                                                      "TE",
                                                      "Trailer",
                                                      "Transfer-Encoding",
                                                      "Upgrade",
                                                      "Vary",
                                                      "Via",
                                                      "Warning",
                                                      "WWW-Authenticate",
                                                      "X-Forwarded-For",
                                                      "X-Forwarded-Host",
                                                      "X-Forwarded-Port",
                                                      "X-Forwarded-Proto",
                                                      "X-Forwarded-Server",
                                                      "X-Real-IP",
                                                      "Proxy-Authentication-Info"};

bool blank(char c) { return c == ' ' || c == '\t'; }

std::string_view trimmed(std::string_view text) {
    while (!text.empty() && blank(text.front())) text.remove_prefix(1);
    while (!text.empty() && blank(text.back())) text.remove_suffix(1);
    return text;
}

bool control(char c) { return (static_cast<unsigned char>(c) < ' ' && c != '\t') || c == 0x7f; }

bool of_a_token(char c) {
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    return letter || std::string_view("!#$%&'*+-.^_`|~").find(c) != std::string_view::npos;
}

// The line without its end; nothing if that is not here yet.
std::optional<std::string_view> line_of(std::string_view bytes) {
    const auto end = bytes.find('\n');
    if (end == std::string_view::npos) return std::nullopt;
    if (end == 0 || bytes[end - 1] != '\r') throw refusal(400, "a bare line feed between chunks");
    return bytes.substr(0, end - 1);
}

}  // namespace

// A receiver that has fields from CGI reads X_Real_IP as X-Real-IP.
bool may_trail(std::string_view name) {
    std::string read(name);
    std::ranges::replace(read, '_', '-');
    return std::ranges::none_of(ahead_only, [&](auto each) { return http_cache::same_name(each, read); });
}

std::string last_chunk(const http_cache::fields& trailers) {
    std::string text = "0\r\n";
    for (const auto& [name, value] : trailers) text += name + ": " + value + "\r\n";
    return text + "\r\n";
}

std::size_t chunks::take(std::string_view bytes, std::string& body, const most& limits) {
    std::size_t taken = 0;
    while (!done()) {
        const auto part = step(bytes.substr(taken), body, limits);
        if (part == 0) break;
        taken += part;
    }
    return taken;
}

std::size_t chunks::step(std::string_view bytes, std::string& body, const most& limits) {
    if (where_ == place::data) {
        const auto part = static_cast<std::size_t>(std::min<std::uint64_t>(left_, bytes.size()));
        body.append(bytes.substr(0, part));
        left_ -= part;
        if (left_ == 0) where_ = place::behind_data;
        return part;
    }
    if (where_ == place::behind_data) {
        if (bytes.empty() || bytes == "\r") return 0;
        if (!bytes.starts_with("\r\n")) throw refusal(400, "a chunk is longer than it says");
        where_ = place::size;
        return 2;
    }
    const auto line = line_of(bytes);
    if (!line) return 0;
    where_ == place::size ? begin(*line, limits) : add(*line, limits);
    return line->size() + 2;
}

void chunks::begin(std::string_view line, const most& limits) {
    auto digits = line.substr(0, line.find(';'));
    while (!digits.empty() && blank(digits.back())) digits.remove_suffix(1);
    const auto [end, failed] = std::from_chars(digits.data(), digits.data() + digits.size(), left_, 16);
    if (digits.empty() || digits.front() == '-' || failed != std::errc{} ||
        end != digits.data() + digits.size() || std::ranges::any_of(line, control))
        throw refusal(400, "the size of a chunk is malformed");
    if (left_ > limits.body - all_) throw refusal(413, "the body of the message is too long");
    all_ += left_;
    where_ = left_ > 0 ? place::data : place::trailer;
}

void chunks::add(std::string_view line, const most& limits) {
    if (line.empty()) {
        where_ = place::end;
        return;
    }
    trailer_bytes_ += line.size() + 2;
    if (++trailer_fields_ > limits.fields || trailer_bytes_ > limits.trailer)
        throw refusal(431, "the trailer of the message is too long");
    if (blank(line.front())) return;  // more of the one before: obsolete, and nothing depends on it
    const auto colon = line.find(':');
    const auto name = trimmed(line.substr(0, colon));
    if (colon == std::string_view::npos || name.empty() || !std::ranges::all_of(name, of_a_token) ||
        std::ranges::any_of(line, control))
        throw refusal(400, "a field behind the last chunk is malformed");
    if (may_trail(name)) trailers_.add(name, trimmed(line.substr(colon + 1)));
}

}  // namespace posy::http
