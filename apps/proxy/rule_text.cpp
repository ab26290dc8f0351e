// Rules as they are written: words and their lists.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <functional>
#include <set>

#include "rules.hpp"

namespace posy::proxy {

namespace {

using rule_words = std::vector<std::string>;

// Words between blanks; a list may have blanks around its commas.
rule_words words_of_rule(std::string_view text) {
    rule_words all;
    bool open = false;  // the last word goes on
    for (std::size_t i = 0; i < text.size();) {
        if (text[i] == ' ' || text[i] == '\t') {
            ++i;
            continue;
        }
        const auto end = std::min(text.find_first_of(" \t", i), text.size());
        const std::string word(text.substr(i, end - i));
        if (!all.empty() && (open || word.starts_with(','))) {
            all.back() += word;
        } else {
            all.push_back(word);
        }
        open = word.ends_with(',');
        i = end;
    }
    return all;
}

exception wrong_rule(std::string what) { return exception(error::invalid(std::move(what))); }

exception wrong_word(std::string_view word, std::string_view what) {
    return wrong_rule(fmt::format("'{}' {}", word, what));
}

rule_words members_of_list(const std::string& list) {
    rule_words all;
    for (std::size_t i = 0; i <= list.size();) {
        const auto end = std::min(list.find(',', i), list.size());
        if (end == i) throw wrong_word(list, "has an empty place between commas");
        all.push_back(list.substr(i, end - i));
        i = end + 1;
    }
    return all;
}

std::string in_lower_case(std::string text) {
    for (char& c : text)
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    return text;
}

void add_networks(http::networks& to, const http::networks& more) {
    to.insert(to.end(), more.begin(), more.end());
}

void take_from(rule& r, const std::string& list) {
    if (list == "*") return;
    for (const auto& each : members_of_list(list)) {
        const auto found = http::parse_networks(each);
        if (!found)
            throw wrong_word(each, "is not a network; write 10.0.0.0/8, loopback, link-local or private");
        add_networks(r.from, *found);
    }
}

bool is_host_pattern(std::string_view text) {
    if (text.starts_with("*.")) text.remove_prefix(2);
    const auto good = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_' || c == '.';
    };
    return !text.empty() && std::ranges::all_of(text, good) && text.front() != '.' &&
           text.find("..") == std::string_view::npos;
}

// No name ends with a number (RFC 1123, 2.1): what does was meant as an address, and would never hold.
bool is_broken_address(std::string_view host) {
    const auto last = host.substr(host.rfind('.') + 1);
    return std::ranges::all_of(last, [](char c) { return c >= '0' && c <= '9'; });
}

void take_to(rule& r, const std::string& list) {
    if (list == "*") return;
    for (const auto& each : members_of_list(list)) {
        const bool bracketed = each.size() > 2 && each.front() == '[' && each.back() == ']';
        const auto found = http::parse_networks(bracketed ? each.substr(1, each.size() - 2) : each);
        if (found) {
            add_networks(r.to, *found);
            continue;
        }
        auto host = in_lower_case(each);
        if (host.ends_with('.')) host.pop_back();
        if (!is_host_pattern(host))
            throw wrong_word(each,
                             "is not a destination; write example.org, *.example.org, 10.0.0.0/8, "
                             "loopback, link-local, private or * alone");
        if (is_broken_address(host))
            throw wrong_word(each,
                             "is neither an address nor a name; write four numbers without leading zeros, "
                             "10.1.0.1, or a network, 10.1.0.0/16");
        r.hosts.push_back(std::move(host));
    }
}

std::uint16_t port_of(std::string_view text) {
    unsigned value = 0;
    const auto* end = text.data() + text.size();
    const auto [stop, failed] = std::from_chars(text.data(), end, value);
    if (failed != std::errc{} || stop != end || value == 0 || value > 65535)
        throw wrong_word(text, "is not a port; write 443, or 8000-8999");
    return static_cast<std::uint16_t>(value);
}

void take_port(rule& r, const std::string& list) {
    if (list == "*") return;
    for (const auto& each : members_of_list(list)) {
        const auto dash = each.find('-');
        const auto first = port_of(std::string_view(each).substr(0, dash));
        const auto last = dash == each.npos ? first : port_of(std::string_view(each).substr(dash + 1));
        if (last < first) throw wrong_word(each, "ends before it begins; write the lower port first");
        r.ports.push_back({first, last});
    }
}

void take_user(rule& r, const std::string& list) {
    if (list == "*") {
        r.any_user = true;
        return;
    }
    r.users = members_of_list(list);
    if (std::ranges::find(r.users, "*") != r.users.end())
        throw wrong_word(list, "has * beside names; write user * for everyone who is authenticated");
}

void take_group(rule& r, const std::string& list) { r.groups = members_of_list(list); }

void take_method(rule& r, const std::string& list) {
    if (list == "*") return;
    for (const auto& each : members_of_list(list)) {
        if (!std::ranges::all_of(each, [](char c) { return (c >= 'A' && c <= 'Z') || c == '-'; }))
            throw wrong_word(each, "is not a method; write GET or POST, in capital letters");
        r.methods.push_back(each);
    }
}

double rate_of(const std::string& text) {
    double value = 0;
    const auto* end = text.data() + text.size();
    const auto [stop, failed] = std::from_chars(text.data(), end, value);
    if (failed != std::errc{} || stop != end || !(value > 0) || value > 1e9)
        throw wrong_word(text, "is not a number of requests per second; write 50, or 0.5");
    return value;
}

std::uint64_t count_of(const std::string& text) {
    std::uint64_t value = 0;
    const auto* end = text.data() + text.size();
    const auto [stop, failed] = std::from_chars(text.data(), end, value);
    if (failed != std::errc{} || stop != end || value == 0)
        throw wrong_word(text, "is not a number of requests; write 20");
    return value;
}

std::uint64_t size_of(const std::string& text) {
    double value = 0;
    const auto* end = text.data() + text.size();
    const auto [stop, failed] = std::from_chars(text.data(), end, value);
    auto unit = in_lower_case(std::string(stop, end));
    const bool binary = unit.ends_with("ib");
    if (binary) unit.resize(unit.size() - 2);
    if (!binary && unit.ends_with('b')) unit.pop_back();
    const auto power = std::string_view("kmgt").find(unit);
    const double factor =
        unit.empty() ? 1 : std::pow(binary ? 1024.0 : 1000.0, static_cast<double>(power) + 1);
    const bool known = unit.empty() ? !binary : unit.size() == 1 && power != std::string_view::npos;
    if (failed != std::errc{} || !known || !(value * factor >= 1) || value * factor > 1e18)
        throw wrong_word(text, "is not a number of bytes; write 500M, 10GB or 2GiB");
    return static_cast<std::uint64_t>(value * factor);
}

struct rule_word {
    std::string_view name;
    void (*take)(rule&, const std::string&);  // null: it stands alone
    bool limit = false;
};

constexpr rule_word known_words[] = {
    {"from", take_from},
    {"user", take_user},
    {"group", take_group},
    {"to", take_to},
    {"port", take_port},
    {"method", take_method},
    {"tunnel", nullptr},
    {"rate", [](rule& r, const std::string& text) { r.limits.rate = rate_of(text); }, true},
    {"connections", [](rule& r, const std::string& text) { r.limits.connections = count_of(text); }, true},
    {"quota", [](rule& r, const std::string& text) { r.limits.quota = size_of(text); }, true},
    {"total-rate", [](rule& r, const std::string& text) { r.limits.total_rate = rate_of(text); }, true},
    {"total-connections",
     [](rule& r, const std::string& text) { r.limits.total_connections = count_of(text); }, true},
    {"total-quota", [](rule& r, const std::string& text) { r.limits.total_quota = size_of(text); }, true},
};

std::string all_rule_words() {
    std::string text;
    for (const auto& each : known_words)
        text += fmt::format("{}{}",
                            text.empty()                         ? ""
                            : &each == std::end(known_words) - 1 ? " or "
                                                                 : ", ",
                            each.name);
    return text;
}

// Throws posy::exception.
rule parse_rule(const std::string& text) {
    const auto words = words_of_rule(text);
    if (words.empty()) throw wrong_rule("it is empty; write allow or deny, and conditions");
    rule r;
    r.allow = words[0] == "allow";
    if (!r.allow && words[0] != "deny") throw wrong_word(words[0], "is not a decision; write allow or deny");
    std::set<std::string_view> said;
    for (std::size_t i = 1; i < words.size(); ++i) {
        const auto* const found = std::ranges::find(known_words, words[i], &rule_word::name);
        if (found == std::end(known_words))
            throw wrong_word(words[i], "is not a condition or a limit; write " + all_rule_words());
        if (!said.insert(found->name).second)
            throw wrong_word(words[i], "is there twice; write one list with commas");
        if (found->limit && !r.allow)
            throw wrong_word(words[i], "is a limit, and this rule denies; leave it out");
        if (!found->take) continue;
        if (i + 1 == words.size()) throw wrong_word(words[i], "needs a value behind it");
        found->take(r, words[++i]);
    }
    r.tunnel = said.contains("tunnel");
    if (r.tunnel && said.contains("method"))
        throw wrong_rule("'method' and 'tunnel' do not go together: a tunnel is the method CONNECT");
    return r;
}

}  // namespace

result<rule_list> rule_list::parse(std::span<const std::string> texts) {
    rule_list made;
    try {
        for (const auto& text : texts) {
            auto next = parse_rule(text);
            if (!made.empty() && made.rules_.back().unconditional())
                throw wrong_rule(
                    fmt::format("it is never reached: rule {} holds for every request", made.size()));
            made.rules_.push_back(std::move(next));
            made.texts_.push_back(text);
        }
    } catch (const exception& wrong) {
        return error::invalid(fmt::format("{}: {}", made.size() + 1, wrong.what()));
    }
    return made;
}

}  // namespace posy::proxy
