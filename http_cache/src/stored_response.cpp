#include "posy/http_cache/stored_response.hpp"

#include <algorithm>
#include <utility>

#include "posy/http_cache/freshness.hpp"
#include "posy/http_cache/hop_by_hop.hpp"

namespace posy::http_cache {

namespace {

// A piece of memory as malloc() of glibc makes it.
std::uint64_t allocated(std::uint64_t bytes) {
    return bytes == 0 ? 0 : std::max<std::uint64_t>(32, (bytes + 8 + 15) / 16 * 16);
}
// A text beyond its own object, which has short ones in itself.
std::uint64_t cost_of(std::string_view text) { return text.size() < 16 ? 0 : allocated(text.size() + 1); }

std::uint64_t cost_of(const variant& of) {
    std::uint64_t all = allocated(of.names.size() * sizeof(std::string)) + cost_of(of.key);
    for (const auto& name : of.names) all += cost_of(name);
    return all;
}

std::size_t wire_size(const response_head& head) {
    std::size_t all = std::string_view("HTTP/1.1 200 \r\n").size() + head.reason.size();
    for (const auto& field : head.fields) all += field.name.size() + field.value.size() + 4;
    return all;
}

void append_on_one_line(std::string& to, std::string_view text) {
    for (const char c : text) to += c == '\r' || c == '\n' || c == '\0' ? ' ' : c;
}

}  // namespace

digest name_of(const label& of, const hasher& hash) {
    std::string text;
    text.reserve(of.url.size() + 1 + of.variant.key.size());
    text.append(of.url).append("\n").append(of.variant.key);
    return hash(text);
}

seconds stored_response::age(seconds now) const {
    // Before it came: the clock was set back, and its true age is unknown.
    return now < received ? most_seconds : initial_age + (now - received);
}

std::uint64_t head_cost(const response_head& head, std::string_view url) {
    std::uint64_t all = allocated(head.fields.size() * sizeof(fields::field)) + cost_of(head.reason);
    for (const auto& field : head.fields) all += cost_of(field.name) + cost_of(field.value);
    return all + allocated(wire_size(head) + 1) + 3 * cost_of(url) + stored_overhead;
}

stored completed(stored_response parts) {
    parts.directives = response_directives_of(parts.head.fields);
    parts.directives.unkept_fields = {};  // they are not there
    parts.lifetime = freshness_lifetime(parts.head, parts.directives, parts.received);
    parts.wire_head = wire_text(parts.head);
    parts.size = parts.body->size() + head_cost(parts.head, parts.url) + cost_of(parts.variant);
    // What grew on its way here has room to spare; a copy has not.
    parts.head = response_head(parts.head);
    static_cast<label&>(parts) = label(parts);
    return std::make_shared<const stored_response>(std::move(parts));
}

stored make_stored(std::string url, const request_head& request, response_head response,
                   std::shared_ptr<const std::string> body, exchange_times times) {
    auto& all = response.fields;
    remove_hop_by_hop(all);
    for (const auto& name : response_directives_of(all).unkept_fields) all.erase(name);
    stored_response parts;
    parts.initial_age = initial_age(all, times.requested - times.ahead, times.time_of_day());
    all.erase("Age");
    if (!parse_http_date(all.find("Date").value_or(""), times.time_of_day())) {
        all.set("Date", http_date(times.time_of_day()));
    }
    if (response.status == 204) {  // has no content, and may not speak of its length (RFC 9110, 8.6)
        all.erase("Content-Length");
    } else {
        all.set("Content-Length", std::to_string(body->size()));
    }
    parts.url = std::move(url);
    parts.variant = variant_of(request.fields, all);
    parts.received = times.received;
    parts.head = std::move(response);
    parts.body = std::move(body);
    return completed(std::move(parts));
}

std::string wire_text(const response_head& head) {
    std::string text;
    text.reserve(wire_size(head));
    text.append("HTTP/1.1 ").append(std::to_string(head.status)).append(" ");
    append_on_one_line(text, head.reason);
    text += "\r\n";
    for (const auto& field : head.fields) {
        append_on_one_line(text, field.name);
        text += ": ";
        append_on_one_line(text, field.value);
        text += "\r\n";
    }
    return text;
}

}  // namespace posy::http_cache
