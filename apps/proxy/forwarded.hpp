// The Forwarded field (RFC 7239): who asked, by which name and scheme, as each proxy on the way saw it.
#pragma once

#include <algorithm>
#include <boost/asio/ip/address.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "heads.hpp"
#include "http/message.hpp"

namespace posy::proxy::forwarded {

// What one proxy says; empty: it does not.
struct element {
    std::string client, host, scheme;
};

inline bool is_token(std::string_view text) {
    const auto fits = [](char c) {
        return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
               std::string_view("!#$%&'*+-.^_`|~").find(c) != std::string_view::npos;
    };
    return !text.empty() && std::ranges::all_of(text, fits);
}

// As a value of the field. Hosts and addresses have nothing that needs a backslash.
inline std::string value(const std::string& text) { return is_token(text) ? text : '"' + text + '"'; }

inline std::string client(const boost::asio::ip::address& who) {
    return "for=" + value(who.is_v6() ? "[" + who.to_string() + "]" : who.to_string());
}

// An address with or without a port, as both fields write it. Nothing: "unknown", or a name made up.
inline std::optional<boost::asio::ip::address> address_in(std::string_view text) {
    boost::system::error_code failed;
    auto found = boost::asio::ip::make_address(std::string(text), failed);
    if (!failed) return found;
    const auto with_port = http::parse_authority(text, 1);
    if (!with_port) return std::nullopt;
    found = boost::asio::ip::make_address(with_port->host, failed);
    return failed ? std::nullopt : std::optional(found);
}

// Takes "token" or "quoted string" from the front of the text. Nothing: it begins with neither.
inline std::optional<std::string> take_value(std::string_view& text) {
    std::string taken;
    if (!text.starts_with('"')) {
        taken = text.substr(0, text.find_first_of("; \t"));
        text.remove_prefix(taken.size());
        // Many write addresses with colons and brackets as they are.
        const auto fits = [](char c) { return is_token({&c, 1}) || c == ':' || c == '[' || c == ']'; };
        return !taken.empty() && std::ranges::all_of(taken, fits) ? std::optional(taken) : std::nullopt;
    }
    for (std::size_t i = 1; i < text.size(); ++i) {
        if (text[i] == '"') {
            text.remove_prefix(i + 1);
            return taken;
        }
        if (text[i] == '\\') ++i;
        if (i < text.size()) taken += text[i];
    }
    return std::nullopt;
}

inline std::optional<element> parse_element(std::string_view text) {
    element made;
    const auto skip = [&](std::string_view set) {
        text.remove_prefix(std::min(text.find_first_not_of(set), text.size()));
    };
    for (skip("; \t"); !text.empty(); skip(" \t")) {
        const auto equals = text.find('=');
        const auto name = text.substr(0, equals);
        if (equals == std::string_view::npos || !is_token(name)) return std::nullopt;
        text.remove_prefix(equals + 1);
        auto said = take_value(text);
        if (!said) return std::nullopt;
        if (http_cache::same_name(name, "for")) made.client = *said;
        if (http_cache::same_name(name, "host")) made.host = *said;
        if (http_cache::same_name(name, "proto")) made.scheme = *said;
        skip(" \t");
        if (!text.empty() && !text.starts_with(';')) return std::nullopt;
        skip("; \t");
    }
    return made;
}

// Empty if any of it is malformed: who knows what else was meant.
inline std::vector<element> parse(std::string_view field) {
    std::vector<element> all;
    for (const auto each : http_cache::list_members(field)) {
        auto made = parse_element(each);
        if (!made) return {};
        all.push_back(std::move(*made));
    }
    return all;
}

}  // namespace posy::proxy::forwarded
