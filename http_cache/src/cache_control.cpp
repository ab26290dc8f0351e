#include "posy/http_cache/cache_control.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <variant>

#include "posy/http_cache/structured_fields.hpp"
#include "text.hpp"

namespace posy::http_cache {

namespace {

// A directive's argument: "a", "" or none at all. Quotes are taken off; the backslashes inside them too.
using argument = std::optional<std::string>;

argument unquoted(std::string_view text) {
    if (!text.starts_with('"')) return std::string(text);
    text.remove_prefix(1);
    std::string plain;
    while (!text.empty() && text.front() != '"') {
        if (text.front() == '\\' && text.size() > 1) text.remove_prefix(1);
        plain += text.front();
        text.remove_prefix(1);
    }
    return plain;
}

bool is_token(std::string_view text) {
    return !text.empty() && std::ranges::all_of(text, [](char c) {
        return is_digit(c) || (lower(c) >= 'a' && lower(c) <= 'z') ||
               std::string_view("!#$%&'*+-.^_`|~").find(c) != std::string_view::npos;
    });
}

// Does it open with a quote, and is its last character the one that closes it?
bool is_quoted(std::string_view text) {
    if (text.size() < 2 || text.front() != '"') return false;
    for (std::size_t i = 1; i < text.size(); ++i) {
        if (text[i] == '\\') {
            ++i;
        } else if (text[i] == '"') {
            return i + 1 == text.size();
        }
    }
    return false;
}

// Calls use(name, argument) for each directive of every Cache-Control line. False when some of it is not of
// the form token[=token|"text"]: then what else was meant is unknown (max-age=9; no-store, x="a, no-store).
template <class Use>
[[nodiscard]] bool for_each_directive(const fields& all, const Use& use) {
    bool well_formed = true;
    for (const auto& field : all) {
        if (!same_name(field.name, "Cache-Control")) continue;
        for (const auto member : list_members(field.value)) {
            const auto equals = member.find('=');
            const auto name = trimmed(member.substr(0, equals));
            const bool plain = equals == std::string_view::npos;
            const auto text = plain ? std::string_view() : member.substr(equals + 1);
            well_formed =
                well_formed && is_token(name) && (text.empty() || is_token(text) || is_quoted(text));
            use(name, plain ? argument{} : unquoted(text));
        }
    }
    return well_formed;
}

// A number of seconds that may already have come: `strictest` when it did with another value, or is none.
void settle(std::optional<seconds>& value, const argument& text, seconds strictest) {
    const seconds next = (text ? decimal(*text, most_seconds) : std::nullopt).value_or(strictest);
    value = value && *value != next ? strictest : next;
}

// Names of fields in one directive; a message has no more fields than this.
constexpr std::size_t most_named = 100;

// no-cache or private: the plain form sets the flag, the other adds to the list.
void settle(bool& plain, std::vector<std::string>& listed, const argument& text) {
    const auto names = text ? list_members(*text) : std::vector<std::string_view>{};
    const bool ours = std::ranges::any_of(
        names, [](auto name) { return same_name(name, "Cache-Control") || same_name(name, "Vary"); });
    if (names.empty() || ours || names.size() > most_named) {
        plain = true;
    } else {
        listed.insert(listed.end(), names.begin(), names.end());
    }
}

void settle(response_directives& found, std::string_view name, const argument& text) {
    if (same_name(name, "no-store")) {
        found.no_store = true;
    } else if (same_name(name, "no-cache")) {
        settle(found.no_cache, found.unkept_fields, text);
    } else if (same_name(name, "private")) {
        settle(found.is_private, found.unkept_fields, text);
    } else if (same_name(name, "public")) {
        found.is_public = true;
    } else if (same_name(name, "must-revalidate")) {
        found.must_revalidate = true;
    } else if (same_name(name, "proxy-revalidate")) {
        found.proxy_revalidate = true;
    } else if (same_name(name, "must-understand")) {
        found.must_understand = true;
    } else if (same_name(name, "max-age")) {
        settle(found.max_age, text, 0);
    } else if (same_name(name, "s-maxage")) {
        settle(found.s_maxage, text, 0);
    } else if (same_name(name, "stale-while-revalidate")) {
        settle(found.stale_while_revalidate, text, 0);
    } else if (same_name(name, "stale-if-error")) {
        settle(found.stale_if_error, text, 0);
    }
}

// The directive's argument as it would stand in Cache-Control. Nothing: the directive is off (?0).
struct no_directive {};
struct wrong_type {};
std::variant<argument, no_directive, wrong_type> argument_of(std::string_view name,
                                                             const structured::member& value) {
    const auto* item = std::get_if<structured::item>(&value);
    if (!item) return wrong_type{};
    const bool counts = name == "max-age" || name == "s-maxage" || name.starts_with("stale-");
    if (const auto* number = std::get_if<std::int64_t>(&item->value)) {
        if (!counts || *number < 0) return wrong_type{};
        return argument(std::to_string(*number));
    }
    if (counts) return wrong_type{};
    if (const auto* flag = std::get_if<bool>(&item->value)) {
        if (!*flag) return no_directive{};
        return argument{};
    }
    const auto* names = std::get_if<std::string>(&item->value);
    if (!names || (name != "no-cache" && name != "private")) return wrong_type{};
    return argument(*names);
}

bool is_known(std::string_view name) {
    static constexpr std::array<std::string_view, 11> known{
        "no-store",         "no-cache",        "private", "public",   "must-revalidate",
        "proxy-revalidate", "must-understand", "max-age", "s-maxage", "stale-while-revalidate",
        "stale-if-error"};
    return std::ranges::find(known, name) != known.end();
}

std::optional<response_directives> targeted_directives_of(const fields& all, std::string_view target) {
    const auto text = all.combined(target);
    const auto members = text ? structured::parse_dictionary(*text) : std::nullopt;
    if (!members || members->empty()) return std::nullopt;
    response_directives found{.targeted = true};
    for (const auto& [name, value] : *members) {
        if (!is_known(name)) continue;
        const auto said = argument_of(name, value);
        if (std::holds_alternative<wrong_type>(said)) return std::nullopt;
        if (const auto* one = std::get_if<argument>(&said)) settle(found, name, *one);
    }
    return found;
}

}  // namespace

request_directives request_directives_of(const fields& all) {
    request_directives found;
    const bool well_formed = for_each_directive(all, [&](std::string_view name, const argument& text) {
        if (same_name(name, "no-cache")) {
            found.no_cache = true;
        } else if (same_name(name, "no-store")) {
            found.no_store = true;
        } else if (same_name(name, "only-if-cached")) {
            found.only_if_cached = true;
        } else if (same_name(name, "max-age")) {
            settle(found.max_age, text, 0);
        } else if (same_name(name, "min-fresh")) {
            settle(found.min_fresh, text, most_seconds);
        } else if (same_name(name, "max-stale")) {
            settle(found.max_stale, text ? text : std::to_string(most_seconds), 0);
        } else if (same_name(name, "stale-if-error")) {
            settle(found.stale_if_error, text, 0);
        }
    });
    if (!well_formed) found.no_cache = found.no_store = true;
    if (!all.has("Cache-Control") && all.lists("Pragma", "no-cache")) found.no_cache = true;
    return found;
}

response_directives response_directives_of(const fields& all) {
    for (const auto target : targeted_fields) {
        if (auto found = targeted_directives_of(all, target)) return *found;
    }
    response_directives found;
    const bool well_formed = for_each_directive(
        all, [&](std::string_view name, const argument& text) { settle(found, name, text); });
    if (!well_formed) found.no_store = found.is_private = true;
    return found;
}

}  // namespace posy::http_cache
