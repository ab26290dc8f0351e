#include "posy/http_cache/ranges.hpp"

#include <algorithm>
#include <limits>

#include "posy/secret_hash.hpp"
#include "text.hpp"

namespace posy::http_cache {

namespace {

constexpr auto no_number = std::numeric_limits<std::int64_t>::max();

// One member, "5-9", "5-" or "-5": false when it is none of these; nothing is added when it lies outside.
bool add_range(std::vector<byte_range>& to, std::string_view text, std::uint64_t size) {
    const auto dash = text.find('-');
    if (dash == std::string_view::npos) return false;
    const auto before = trimmed(text.substr(0, dash)), behind = trimmed(text.substr(dash + 1));
    const auto first = decimal(before, no_number), last = decimal(behind, no_number);
    if ((!before.empty() && !first) || (!behind.empty() && !last) || (before.empty() && behind.empty()))
        return false;
    const auto from = static_cast<std::uint64_t>(first.value_or(0));
    const auto until = static_cast<std::uint64_t>(last.value_or(no_number));
    if (before.empty()) {  // the last so many
        if (until > 0 && size > 0) to.push_back({size - std::min(size, until), size - 1});
        return true;
    }
    if (from > until) return false;
    if (from < size) to.push_back({from, std::min(until, size - 1)});
    return true;
}

bool too_close(const byte_range& a, const byte_range& b) {  // a begins first
    return b.first <= a.last || b.first - a.last <= least_gap;
}

// Those that overlap or nearly touch as one. Others stay in the order of the request.
std::vector<byte_range> coalesced(const std::vector<byte_range>& all) {
    auto sorted = all;
    std::ranges::sort(sorted, {}, &byte_range::first);
    std::vector<byte_range> joined;
    for (const auto& each : sorted) {
        if (!joined.empty() && too_close(joined.back(), each)) {
            joined.back().last = std::max(joined.back().last, each.last);
        } else {
            joined.push_back(each);
        }
    }
    return joined.size() == all.size() ? all : joined;
}

std::string content_range(const byte_range& part, std::uint64_t size) {
    return "bytes " + std::to_string(part.first) + "-" + std::to_string(part.last) + "/" +
           std::to_string(size);
}

// Nobody who writes a body can know it: the hash is secret.
std::string boundary_for(const stored_response& of) {
    const auto name = name_of(of, hash::secret_hasher());
    return "posy-" + std::to_string(name.high) + std::to_string(name.low);
}

}  // namespace

std::optional<std::vector<byte_range>> parse_ranges(std::string_view value, std::uint64_t size) {
    value = trimmed(value);
    const auto equals = value.find('=');
    if (equals == std::string_view::npos || !same_name(value.substr(0, equals), "bytes")) return std::nullopt;
    const auto members = list_members(value.substr(equals + 1));
    if (members.empty() || members.size() > most_ranges) return std::nullopt;
    std::vector<byte_range> parts;
    for (const auto member : members) {
        if (!add_range(parts, member, size)) return std::nullopt;
    }
    return coalesced(parts);
}

bool range_applies(const request_head& request, const stored_response& kept) {
    const auto condition = request.fields.find("If-Range");
    if (!condition) return true;
    const auto wanted = trimmed(*condition);
    const auto& all = kept.head.fields;
    if (wanted.starts_with('"') || wanted.starts_with("W/")) {
        return !wanted.starts_with("W/") && trimmed(all.find("ETag").value_or("")) == wanted;
    }
    const auto changed = trimmed(all.find("Last-Modified").value_or(""));
    const auto when = parse_http_date(changed, kept.received);
    const auto date = parse_http_date(all.find("Date").value_or(""), kept.received);
    return when && date && changed == wanted && *when + 60 <= *date;
}

std::optional<partial_answer> partial_of(const request_head& request, const stored_response& kept) {
    const auto value = request.fields.combined("Range");
    if (!value || request.method != "GET" || kept.head.status != 200 || !range_applies(request, kept))
        return std::nullopt;
    const std::uint64_t size = kept.length();
    const auto ranges = parse_ranges(*value, size);
    if (!ranges) return std::nullopt;
    partial_answer made{{416, "Range Not Satisfiable", {}}, {}, {}, 0};
    auto& fields = made.head.fields;
    if (ranges->empty()) {
        if (const auto date = kept.head.fields.find("Date")) fields.add("Date", *date);
        fields.add("Content-Range", "bytes */" + std::to_string(size));
        fields.add("Content-Length", "0");
        return made;
    }
    made.head = {206, "Partial Content", kept.head.fields};
    fields.erase("Content-Range");
    const auto type = kept.head.fields.find("Content-Type");
    const auto boundary = ranges->size() > 1 ? boundary_for(kept) : std::string();
    for (const auto& each : *ranges) {
        std::string before;
        if (!boundary.empty()) {
            before = (made.parts.empty() ? "--" : "\r\n--") + boundary + "\r\n";
            if (type) before.append("Content-Type: ").append(*type).append("\r\n");
            before.append("Content-Range: ").append(content_range(each, size)).append("\r\n\r\n");
        }
        made.bytes += before.size() + each.size();
        made.parts.push_back({std::move(before), each});
    }
    if (boundary.empty()) {
        fields.add("Content-Range", content_range(ranges->front(), size));
    } else {
        made.behind = "\r\n--" + boundary + "--\r\n";
        made.bytes += made.behind.size();
        fields.set("Content-Type", "multipart/byteranges; boundary=" + boundary);
    }
    fields.set("Content-Length", std::to_string(made.bytes));
    return made;
}

}  // namespace posy::http_cache
