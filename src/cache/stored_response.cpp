#include "posy/cache/stored_response.hpp"

#include <algorithm>
#include <utility>

#include "posy/cache/freshness.hpp"
#include "posy/cache/hop_by_hop.hpp"

namespace posy::cache {

namespace {

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
    return initial_age + std::max<seconds>(0, now - received);  // a clock may be set back
}

stored completed(stored_response parts) {
    parts.directives = response_directives_of(parts.head.fields);
    parts.lifetime = freshness_lifetime(parts.head, parts.directives, parts.received);
    parts.wire_head = wire_text(parts.head);
    parts.size = parts.body->size() + 2 * (parts.wire_head.size() + parts.url.size()) +
                 parts.variant.key.size() + stored_overhead;
    return std::make_shared<const stored_response>(std::move(parts));
}

stored make_stored(std::string url, const request_head& request, response_head response,
                   std::shared_ptr<const std::string> body, exchange_times times) {
    auto& all = response.fields;
    remove_hop_by_hop(all);
    for (const auto& name : response_directives_of(all).unkept_fields) all.erase(name);
    stored_response parts;
    parts.initial_age = initial_age(all, times.requested, times.received);
    all.erase("Age");
    if (!parse_http_date(all.find("Date").value_or(""), times.received)) {
        all.set("Date", http_date(times.received));
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
    std::string text = "HTTP/1.1 " + std::to_string(head.status) + " ";
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

}  // namespace posy::cache
