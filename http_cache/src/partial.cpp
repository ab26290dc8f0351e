#include "posy/http_cache/partial.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "posy/http_cache/ranges.hpp"
#include "posy/http_cache/validation.hpp"
#include "text.hpp"

namespace posy::http_cache {

namespace {

constexpr std::string_view parts_mark = "#parts";

// A number, or nothing: also for what is larger than any body.
std::optional<std::uint64_t> position(std::string_view digits) {
    constexpr auto most = std::numeric_limits<std::int64_t>::max();
    const auto value = decimal(digits, most);
    if (!value || *value == most) return std::nullopt;
    return static_cast<std::uint64_t>(*value);
}

stored with_parts(const stored_response& of, body_parts parts) {
    stored_response made = of;
    made.parts = std::make_shared<const body_parts>(std::move(parts));
    return completed(std::move(made));
}

}  // namespace

std::string parts_key(std::string_view url) { return std::string(url).append(parts_mark); }

std::string_view url_of_key(std::string_view key) {
    return key.ends_with(parts_mark) ? key.substr(0, key.size() - parts_mark.size()) : key;
}

std::optional<carried_range> carried_by(const response_head& response) {
    const auto type = lower_case(response.fields.find("Content-Type").value_or(""));
    if (response.status != 206 || type.starts_with("multipart/byteranges")) return std::nullopt;
    // "bytes 0-9/100"; several fields are a list, which does not parse.
    const auto field = response.fields.combined("Content-Range").value_or("");
    const auto text = trimmed(field);
    const auto space = text.find(' '), dash = text.find('-'), slash = text.find('/');
    if (space == std::string_view::npos || dash == std::string_view::npos ||
        slash == std::string_view::npos || space > dash || dash > slash ||
        !same_name(text.substr(0, space), "bytes"))
        return std::nullopt;
    const auto first = position(text.substr(space + 1, dash - space - 1));
    const auto last = position(text.substr(dash + 1, slash - dash - 1));
    const auto length = position(text.substr(slash + 1));
    if (!first || !last || !length || *first > *last || *last >= *length) return std::nullopt;
    const carried_range found{{*first, *last}, *length};
    const auto content = response.fields.find("Content-Length");
    if (content && position(trimmed(*content)) != found.at.size()) return std::nullopt;
    return found;
}

response_head head_of_whole(response_head partial_content) {
    partial_content.status = 200;
    partial_content.reason = "OK";
    for (const auto* name : {"Content-Range", "Content-Length"}) partial_content.fields.erase(name);
    return partial_content;
}

stored make_partial(std::string_view url, const request_head& request, response_head response,
                    body_parts parts, exchange_times times) {
    stored_response made;
    made.url = parts_key(url);
    made.body = std::make_shared<const std::string>();
    made.parts = std::make_shared<const body_parts>(std::move(parts));
    auto kept = with_head(made, request, head_of_whole(std::move(response)), times);
    return strong_validator(kept->head.fields, kept->received) ? kept : nullptr;
}

bool answers_in_part(const request_head& request, const stored_response& partial) {
    if (request.method == "HEAD") return true;
    const auto value = request.fields.combined("Range");
    if (request.method != "GET" || !value || !range_applies(request, partial)) return false;
    const auto ranges = parse_ranges(*value, partial.length());
    return ranges && std::ranges::all_of(*ranges, [&](const auto& r) { return partial.parts->covers(r); });
}

bool same_version(const stored_response& a, const stored_response& b) {
    const auto of_a = strong_validator(a.head.fields, a.received);
    const auto of_b = strong_validator(b.head.fields, b.received);
    return of_a && of_b && *of_a == *of_b && a.length() == b.length();
}

stored combined(const stored_response& older, const stored_response& newer) {
    stored_response made = newer;
    made.head = updated(older.head, newer.head.fields);
    made.parts = std::make_shared<const body_parts>(older.parts->joined(*newer.parts));
    return completed(std::move(made));
}

stored packed(const stored_response& of, const std::shared_ptr<room>& from) {
    auto parts = *of.parts;
    return parts.pack(from) ? with_parts(of, std::move(parts)) : nullptr;
}

stored whole_of(const stored_response& partial, const std::shared_ptr<room>& from) {
    auto text = partial.parts->text(from, head_cost(partial.head, partial.url));
    if (!text) return nullptr;
    stored_response made = partial;
    made.url = url_of_key(partial.url);
    made.parts = nullptr;
    made.body = std::move(text);
    return completed(std::move(made));
}

}  // namespace posy::http_cache
