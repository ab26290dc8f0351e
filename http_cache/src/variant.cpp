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

std::string secondary_key(const std::vector<std::string>& names, const fields& request) {
    std::string key;
    for (const auto& name : names) {
        key += name;
        if (const auto value = request.combined(name)) {
            std::string_view separator = ":";
            if (list_members(*value).empty()) key += separator;  // there, but empty
            for (const auto member : list_members(*value)) {
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
