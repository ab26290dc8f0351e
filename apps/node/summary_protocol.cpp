#include "summary_protocol.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <stdexcept>

#include "posy/http_cache/http_date.hpp"
#include "posy/message_length.hpp"

namespace posy::node {

namespace {

constexpr std::string_view delta_coding = "posy-delta", stream_coding = "posy-stream",
                           wait_preference = "wait=";

template <class Number>
std::optional<Number> hexadecimal(std::string_view text) {
    Number value = 0;
    const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), value, 16);
    if (failed != std::errc{} || end != text.data() + text.size()) return std::nullopt;
    return value;
}

// Prefer: wait=N (RFC 7240, 4.3).
std::chrono::seconds wait_of(const http_cache::fields& fields) {
    for (const auto& [name, value] : fields) {
        if (!http_cache::same_name(name, "Prefer")) continue;
        for (const auto member : http_cache::list_members(value)) {
            if (!member.starts_with(wait_preference)) continue;
            int wait = 0;
            std::from_chars(member.data() + wait_preference.size(), member.data() + member.size(), wait);
            return std::clamp(std::chrono::seconds(wait), std::chrono::seconds(0), question::longest_wait);
        }
    }
    return std::chrono::seconds(0);
}

}  // namespace

std::string tag_of(const edition& e) { return fmt::format("\"{:x}-{:08x}\"", e.generation, e.checksum); }

std::optional<held> held_of(std::string_view tag) {
    if (tag.size() < 3 || tag.front() != '"' || tag.back() != '"') return std::nullopt;
    tag = tag.substr(1, tag.size() - 2);
    const auto dash = tag.find('-');
    const auto generation = hexadecimal<std::uint64_t>(tag.substr(0, dash));
    if (!generation) return std::nullopt;
    if (dash == std::string_view::npos) return held{*generation};
    const auto checksum = hexadecimal<std::uint32_t>(tag.substr(dash + 1));
    if (!checksum) return std::nullopt;
    return held{*generation, *checksum};
}

void add_to(http_cache::fields& fields, const question& q) {
    if (q.deltas || q.stream)
        fields.add("A-IM", !q.stream   ? std::string(delta_coding)
                           : !q.deltas ? std::string(stream_coding)
                                       : fmt::format("{}, {}", delta_coding, stream_coding));
    if (!q.tag.empty()) fields.add("If-None-Match", q.tag);
    if (q.wait.count() > 0) fields.add("Prefer", fmt::format("{}{}", wait_preference, q.wait.count()));
}

question question_of(const http_cache::fields& fields) {
    return {std::string(fields.find("If-None-Match").value_or("")), fields.lists("A-IM", delta_coding),
            wait_of(fields), fields.lists("A-IM", stream_coding)};
}

http::response_head head_of(const publisher::reply& reply, std::int64_t time_of_day) {
    http::response_head head;
    switch (reply.what) {
        case publisher::reply::kind::unchanged:
            head.status = 304;
            break;
        case publisher::reply::kind::whole:
            head.status = 200;
            break;
        case publisher::reply::kind::delta:
            head.status = 226;
            head.fields.add("IM", delta_coding);
            break;
    }
    head.fields.add("Date", http_cache::http_date(time_of_day));
    head.fields.add("ETag", tag_of(reply.which));
    return head;
}

http::response_head stream_head(const edition& e, std::int64_t time_of_day) {
    http::response_head head;
    head.status = 226;
    head.fields.add("IM", stream_coding);
    head.fields.add("Date", http_cache::http_date(time_of_day));
    head.fields.add("ETag", tag_of(e));
    head.fields.add("Cache-Control", "no-store");
    head.fields.add("Transfer-Encoding", "chunked");
    return head;
}

bool is_stream(const http::response_head& head) {
    return head.status == 226 && head.fields.lists("IM", stream_coding);
}

std::string chunk_start(std::size_t bytes) { return fmt::format("{:x}\r\n", bytes); }

std::optional<std::string> stream_messages::next() {
    if (pending_.starts_with(sign_of_life)) {  // any number of them says the same
        pending_.erase(0, pending_.find_first_not_of(sign_of_life));
        return std::string();
    }
    const auto length = message_length(as_byte_view(pending_));
    if (!length) throw std::runtime_error("its stream: " + length.error().text());
    if (!*length) return std::nullopt;
    if (**length > most_)
        throw std::runtime_error(
            fmt::format("its stream: a message of {} bytes, above the limit of {}", **length, most_));
    if (pending_.size() < **length) return std::nullopt;
    std::string message = pending_.substr(0, **length);
    pending_.erase(0, **length);
    return message;
}

}  // namespace posy::node
