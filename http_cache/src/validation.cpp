#include "posy/http_cache/validation.hpp"

#include <algorithm>
#include <array>

#include "posy/http_cache/hop_by_hop.hpp"
#include "text.hpp"

namespace posy::http_cache {

namespace {

// Set-Cookie is for the client that asked, not for those that will be given what is stored.
constexpr std::array<std::string_view, 6> not_updated{"Content-Length", "Content-Encoding", "Content-Range",
                                                      "Content-Type",   "Set-Cookie",       "Set-Cookie2"};
constexpr seconds least_rest = 60;  // between a change and the answer, for a date to be strong
constexpr std::array<std::string_view, 10> of_a_304{
    "Cache-Control", "CDN-Cache-Control", "Content-Location", "Date",
    "ETag",          "Expires",           "Last-Modified",    "Vary",
    "Via",           "Cache-Status"};

std::string_view without_weakness(std::string_view tag) {
    if (tag.starts_with("W/")) tag.remove_prefix(2);
    return tag;
}

// Can the 304 be about what is stored? Only the validators that both have can tell.
bool about(const fields& kept, const fields& update) {
    const auto tag = kept.find("ETag"), new_tag = update.find("ETag");
    if (tag && new_tag) return weakly_equal(*tag, *new_tag);
    const auto modified = kept.find("Last-Modified"), now_modified = update.find("Last-Modified");
    return !modified || !now_modified || trimmed(*modified) == trimmed(*now_modified);
}

}  // namespace

bool weakly_equal(std::string_view a, std::string_view b) {
    a = without_weakness(trimmed(a)), b = without_weakness(trimmed(b));
    return !a.empty() && a == b;
}

std::optional<std::string_view> strong_validator(const fields& all, seconds received) {
    if (const auto tag = all.find("ETag")) {
        const auto text = trimmed(*tag);
        if (text.size() < 2 || text.front() != '"' || text.back() != '"') return std::nullopt;
        return text;
    }
    const auto changed = trimmed(all.find("Last-Modified").value_or(""));
    const auto when = parse_http_date(changed, received);
    const auto date = parse_http_date(all.find("Date").value_or(""), received);
    if (!when || !date || *when + least_rest > *date) return std::nullopt;
    return changed;
}

request_head conditional(const request_head& request, const stored_response& kept) {
    request_head asking = request;
    for (const auto* name : {"If-None-Match", "If-Modified-Since"}) asking.fields.erase(name);
    if (!kept.parts) {
        for (const auto* name : {"If-Range", "Range"}) asking.fields.erase(name);
    }
    if (const auto tag = kept.head.fields.find("ETag")) asking.fields.add("If-None-Match", *tag);
    if (const auto when = kept.head.fields.find("Last-Modified"))
        asking.fields.add("If-Modified-Since", *when);
    return asking;
}

response_head updated(response_head kept, fields update) {
    for (const auto name : not_updated) update.erase(name);
    kept.fields.erase("Date");  // an update without one is of the moment it came
    for (const auto& field : update) kept.fields.erase(field.name);
    for (const auto& field : update) kept.fields.add(field.name, field.value);
    return kept;
}

stored freshened(const stored_response& kept, const request_head& request, const response_head& not_modified,
                 exchange_times times) {
    auto update = not_modified.fields;
    remove_hop_by_hop(update);
    if (!about(kept.head.fields, update)) return nullptr;
    // Another answer that came meanwhile with another body was not overtaken by this confirmation.
    times.answered = times.asked;
    return with_head(kept, request, updated(kept.head, std::move(update)), times);
}

bool head_fits(const stored_response& kept, const response_head& said) {
    const auto same = [&](std::string_view name, std::optional<std::string_view> ours) {
        const auto theirs = said.fields.find(name);
        return !theirs || (ours && trimmed(*ours) == trimmed(*theirs));
    };
    const auto& ours = kept.head.fields;
    return kept.head.status == said.status && same("ETag", ours.find("ETag")) &&
           same("Last-Modified", ours.find("Last-Modified")) &&
           same("Content-Length", std::to_string(kept.length()));
}

stored aged(const stored_response& kept, exchange_times times) {
    stored_response made = kept;
    made.initial_age = std::max(kept.age(times.received), kept.lifetime);
    made.received = times.received;
    made.asked = made.answered = times.asked;
    return completed(std::move(made));
}

response_head impersonal(response_head not_modified) {
    fields all;
    for (const auto& field : not_modified.fields) {
        if (among(of_a_304, field.name) || same_name(field.name, "Age")) all.add(field.name, field.value);
    }
    not_modified.fields = std::move(all);
    return not_modified;
}

bool not_modified(const request_head& request, const stored_response& kept, seconds now) {
    const std::string_view method = request.method;
    if ((method != "GET" && method != "HEAD") || kept.head.status != 200) return false;
    if (const auto tags = request.fields.combined("If-None-Match")) {
        const auto ours = kept.head.fields.find("ETag").value_or("");
        return std::ranges::any_of(list_members(*tags),
                                   [&](auto tag) { return tag == "*" || weakly_equal(tag, ours); });
    }
    const auto named = request.fields.find("If-Modified-Since");
    const auto since = named ? parse_http_date(*named, now) : std::nullopt;
    if (!since) return false;
    const auto& all = kept.head.fields;
    const auto changed = all.find("Last-Modified");
    const auto when = parse_http_date(changed ? *changed : all.find("Date").value_or(""), now);
    return when && *when <= *since;
}

response_head not_modified_head(const stored_response& kept) {
    response_head head{304, "Not Modified", {}};
    for (const auto& field : kept.head.fields) {
        if (among(of_a_304, field.name)) head.fields.add(field.name, field.value);
    }
    return head;
}

}  // namespace posy::http_cache
