#include "posy/http_cache/fields.hpp"

#include <algorithm>

#include "text.hpp"

namespace posy::http_cache {

namespace {

// The end of the member that starts at `from`: the next comma outside a quoted string. A quote that never
// ends quotes nothing, neither here nor in the rest of the list: else it would hide whatever follows it.
std::size_t end_of_member(std::string_view list, std::size_t from, bool& quotes_count) {
    bool quoted = false;
    for (std::size_t i = from; quotes_count && i < list.size(); ++i) {
        if (quoted && list[i] == '\\') {
            ++i;
        } else if (list[i] == '"') {
            quoted = !quoted;
        } else if (list[i] == ',' && !quoted) {
            return i;
        }
    }
    if (quoted) quotes_count = false;
    return quotes_count ? list.size() : std::min(list.find(',', from), list.size());
}

}  // namespace

bool same_letters(std::string_view a, std::string_view b) {
    return std::equal(a.begin(), a.end(), b.begin(), [](char x, char y) { return lower(x) == lower(y); });
}

std::vector<std::string_view> list_members(std::string_view list) {
    std::vector<std::string_view> members;
    bool quotes_count = true;
    for (std::size_t from = 0; from < list.size();) {
        const auto end = end_of_member(list, from, quotes_count);
        if (const auto member = trimmed(list.substr(from, end - from)); !member.empty()) {
            members.push_back(member);
        }
        from = end + 1;
    }
    return members;
}

void fields::set(std::string_view name, std::string_view value) {
    const auto first = std::ranges::find_if(all_, [&](const field& f) { return same_name(f.name, name); });
    if (first == all_.end()) return add(name, value);
    first->value = value;
    all_.erase(std::remove_if(first + 1, all_.end(), [&](const field& f) { return same_name(f.name, name); }),
               all_.end());
}

void fields::erase(std::string_view name) {
    std::erase_if(all_, [&](const field& f) { return same_name(f.name, name); });
}

std::optional<std::string_view> fields::find(std::string_view name) const {
    for (const auto& f : all_) {
        if (same_name(f.name, name)) return f.value;
    }
    return std::nullopt;
}

std::optional<std::string> fields::combined(std::string_view name) const {
    std::optional<std::string> all;
    for (const auto& f : all_) {
        if (!same_name(f.name, name)) continue;
        if (all) {
            *all += ", " + f.value;
        } else {
            all = f.value;
        }
    }
    return all;
}

bool fields::lists(std::string_view name, std::string_view token) const {
    return std::ranges::any_of(all_, [&](const field& f) {
        return same_name(f.name, name) && std::ranges::any_of(list_members(f.value), [&](auto member) {
                   return same_name(member, token);
               });
    });
}

}  // namespace posy::http_cache
