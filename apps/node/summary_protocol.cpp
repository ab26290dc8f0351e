#include "summary_protocol.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "posy/http_cache/http_date.hpp"

namespace posy::node {

namespace {

constexpr std::string_view delta_coding = "posy-delta", wait_preference = "wait=";

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
    if (q.deltas) fields.add("A-IM", delta_coding);
    if (!q.tag.empty()) fields.add("If-None-Match", q.tag);
    if (q.wait.count() > 0) fields.add("Prefer", fmt::format("{}{}", wait_preference, q.wait.count()));
}

question question_of(const http_cache::fields& fields) {
    return {std::string(fields.find("If-None-Match").value_or("")), fields.lists("A-IM", delta_coding),
            wait_of(fields)};
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

}  // namespace posy::node
