#include "posy/http_cache/stored_response.hpp"

#include <algorithm>
#include <atomic>
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

moment next_moment() {
    static std::atomic<moment> last{0};
    return ++last;
}

std::partial_ordering by_news(const stored_response& a, const stored_response& b) {
    if (a.asked > b.answered) return std::partial_ordering::greater;
    if (b.asked > a.answered) return std::partial_ordering::less;
    const auto date = [](const stored_response& of) {
        return parse_http_date(of.head.fields.find("Date").value_or(""), of.received).value_or(of.received);
    };
    if (const auto of_a = date(a), of_b = date(b); of_a != of_b) return of_a <=> of_b;
    const bool a_confirms = a.asked == a.answered, b_confirms = b.asked == b.answered;
    if (a_confirms || b_confirms) return b_confirms <=> a_confirms;
    const auto tag = a.head.fields.find("ETag"), other = b.head.fields.find("ETag");
    const bool same = tag && other ? *tag == *other : a.body == b.body || *a.body == *b.body;
    return same ? std::partial_ordering::equivalent : std::partial_ordering::unordered;
}

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

stored completed(stored_response made) {
    made.directives = response_directives_of(made.head.fields);
    made.directives.unkept_fields = {};  // they are not there
    made.lifetime = freshness_lifetime(made.head, made.directives, made.received);
    made.wire_head = wire_text(made.head);
    const auto beside = head_cost(made.head, made.url);
    made.size =
        (made.parts ? made.parts->bytes() + made.parts->texts() * beside : made.body->size() + beside) +
        cost_of(made.variant);
    // What grew on its way here has room to spare; a copy has not.
    made.head = response_head(made.head);
    static_cast<label&>(made) = label(made);
    return std::make_shared<const stored_response>(std::move(made));
}

namespace {

// `made` has the URL, and the body or parts of one.
stored assembled(stored_response made, const request_head& request, response_head response,
                 exchange_times times) {
    auto& all = response.fields;
    remove_hop_by_hop(all);
    const auto says = response_directives_of(all);
    for (const auto& name : says.unkept_fields) all.erase(name);
    if (!says.is_public) {  // a cookie is for the client that asked
        for (const auto* name : {"Set-Cookie", "Set-Cookie2"}) all.erase(name);
    }
    made.initial_age = initial_age(all, times.requested - times.ahead, times.time_of_day());
    all.erase("Age");
    if (!parse_http_date(all.find("Date").value_or(""), times.time_of_day())) {
        all.set("Date", http_date(times.time_of_day()));
    }
    if (response.status == 204) {  // has no content, and may not speak of its length (RFC 9110, 8.6)
        all.erase("Content-Length");
    } else {
        all.set("Content-Length", std::to_string(made.length()));
    }
    made.variant = variant_of(request.fields, all);
    made.received = times.received;
    made.answered = times.answered == 0 ? next_moment() : times.answered;
    made.asked = times.asked == 0 ? made.answered : times.asked;
    made.head = std::move(response);
    return completed(std::move(made));
}

}  // namespace

stored make_stored(std::string url, const request_head& request, response_head response,
                   std::shared_ptr<const std::string> body, exchange_times times) {
    stored_response made;
    made.url = std::move(url);
    made.body = std::move(body);
    return assembled(std::move(made), request, std::move(response), times);
}

stored with_head(const stored_response& kept, const request_head& request, response_head response,
                 exchange_times times) {
    stored_response made;
    made.url = kept.url;
    made.body = kept.body;
    made.parts = kept.parts;
    return assembled(std::move(made), request, std::move(response), times);
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
