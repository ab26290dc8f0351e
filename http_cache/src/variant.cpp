#include "posy/http_cache/variant.hpp"

#include <algorithm>
#include <string_view>

#include "text.hpp"

namespace posy::http_cache {

namespace {

// No value can look like the end of its own line.
void append_normal(std::string& to, std::string_view value) {
    for (const char c : value) to += c == '\n' ? ' ' : c;
}

// Preferences, whose order and case mean nothing: RFC 9110, 12.5.3 and 12.5.4.
bool is_set_of_preferences(std::string_view name) {
    return name == "accept-encoding" || name == "accept-language";
}

// "De ; q=0.5" is "de;q=0.5".
std::string preference(std::string_view member) {
    const auto joins = [](char c) { return c == ';' || c == '='; };
    const auto blank = [](char c) { return c == ' ' || c == '\t'; };
    std::string made;
    for (const char c : member) {
        if (joins(c)) made.erase(made.find_last_not_of(" \t") + 1);
        if (!blank(c) || made.empty() || !joins(made.back())) made += lower(c);
    }
    return made;
}

std::vector<std::string> normal_members(std::string_view name, std::string_view value) {
    const auto members = list_members(value);
    std::vector<std::string> made(members.begin(), members.end());
    if (is_set_of_preferences(name)) {
        std::ranges::transform(made, made.begin(), preference);
        std::ranges::sort(made);
    }
    return made;
}

std::string secondary_key(const std::vector<std::string>& names, const fields& request) {
    std::string key;
    for (const auto& name : names) {
        key += name;
        if (const auto value = request.combined(name)) {
            std::string_view separator = ":";
            const auto members = normal_members(name, *value);
            if (members.empty()) key += separator;  // there, but empty
            for (const auto& member : members) {
                append_normal(key.append(separator), member);
                separator = ",";
            }
        }
        key += '\n';
    }
    return key;
}

}  // namespace

bool variant::matches(const fields& request) const {
    return names.empty() || secondary_key(names, request) == key;
}

variant variant_of(const fields& request, const fields& response) {
    variant made;
    const auto vary = response.combined("Vary").value_or("");
    for (const auto name : list_members(vary)) made.names.push_back(lower_case(name));
    std::ranges::sort(made.names);
    made.names.erase(std::unique(made.names.begin(), made.names.end()), made.names.end());
    made.key = secondary_key(made.names, request);
    return made;
}

bool varies_on_everything(const fields& response) {
    return response.lists("Vary", "*") ||
           list_members(response.combined("Vary").value_or("")).size() > most_vary_names;
}

}  // namespace posy::http_cache
