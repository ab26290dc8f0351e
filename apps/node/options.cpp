#include "options.hpp"

#include <fmt/format.h>
#include <openssl/err.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>

namespace posy::node {

namespace {
constexpr std::array sharings{sharing::none, sharing::full, sharing::compressed, sharing::delta,
                              sharing::ask};

// What is not printable as \xff, so that an error can show it.
std::string printable(std::string_view text) {
    std::string shown;
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        shown += byte >= 0x20 && byte < 0x7f ? std::string(1, c) : fmt::format("\\x{:02x}", byte);
    }
    return shown;
}
}  // namespace

std::optional<sharing> sharing_named(std::string_view name) {
    const auto found = std::ranges::find(sharings, name, [](sharing s) { return name_of(s); });
    return found == sharings.end() ? std::nullopt : std::optional(*found);
}

std::string_view name_of(sharing s) {
    switch (s) {
        case sharing::none:
            return "none";
        case sharing::full:
            return "full";
        case sharing::compressed:
            return "compressed";
        case sharing::delta:
            return "delta";
        case sharing::ask:
            return "ask";
    }
    return "";
}

std::vector<std::string> sharing_names() {
    std::vector<std::string> names;
    for (const auto each : sharings) names.emplace_back(name_of(each));
    return names;
}

result<void> check_name(std::string_view name) {
    std::size_t at = 0;
    const auto byte = [&](std::size_t i) {
        return i < name.size() ? static_cast<unsigned char>(name[i]) : 0U;
    };
    while (at < name.size()) {
        const unsigned lead = byte(at);
        const std::size_t more = lead < 0x80 ? 0 : lead < 0xe0 ? 1 : lead < 0xf0 ? 2 : 3;
        bool good = lead >= 0x20 && lead != 0x7f && (lead < 0x80 || (lead >= 0xc2 && lead <= 0xf4));
        for (std::size_t i = 1; i <= more; ++i) good = good && (byte(at + i) & 0xc0U) == 0x80;
        // Longer than needed, halves of surrogate pairs, and beyond Unicode.
        if (more == 2)
            good = good && !(lead == 0xe0 && byte(at + 1) < 0xa0) && !(lead == 0xed && byte(at + 1) > 0x9f);
        if (more == 3)
            good = good && !(lead == 0xf0 && byte(at + 1) < 0x90) && !(lead == 0xf4 && byte(at + 1) > 0x8f);
        if (!good) return error{"a name has to be UTF-8 text without control characters", at};
        at += more + 1;
    }
    return {};
}

result<peer_address> parse_peer(std::string_view text) {
    if (auto good = check_name(text); !good)
        return error{fmt::format("'{}' is not a peer: {}", printable(text), good.error().text())};
    const error malformed{fmt::format("'{}' is not a peer; write NAME=http://HOST:PORT", text)};
    peer_address peer;
    if (text.starts_with("squid:")) {
        peer.kind = peer_kind::squid;
        text.remove_prefix(6);
    }
    const auto scheme = text.find("://"), equals = text.find('=');
    if (equals != std::string_view::npos && (scheme == std::string_view::npos || equals < scheme)) {
        peer.name = text.substr(0, equals);
        text.remove_prefix(equals + 1);
    }
    const bool bare = text.find("://") == std::string_view::npos;
    auto where = http::parse_url(bare ? "http://" + std::string(text) : std::string(text));
    if (!where) return malformed;
    // A word alone is a name that lacks its URL, more likely than a host.
    const auto written = http::parse_authority(text.substr(0, text.find('/')), 0);
    if (bare && (!written || written->port == 0)) return malformed;
    if (peer.name.empty()) peer.name = where->authority.text();
    peer.where = std::move(*where);
    return peer;
}

std::vector<peer_address> read_peers(const std::string& path) {
    std::ifstream file(path);
    if (!file) throw std::runtime_error(path + ": cannot be read");
    std::vector<peer_address> peers;
    try {
        const auto all = nlohmann::json::parse(file);
        for (const auto& text : all.at("peers").get<std::vector<std::string>>()) {
            auto peer = parse_peer(text);
            if (!peer) throw std::runtime_error(path + ": " + peer.error().message);
            peers.push_back(std::move(*peer));
        }
    } catch (const nlohmann::json::exception& e) {
        throw std::runtime_error(fmt::format(
            "{}: not a list of peers ({}); it should read {{\"peers\": [\"NAME=URL\"]}}", path, e.what()));
    }
    return peers;
}

namespace {

// Throws with the option, the file, and what OpenSSL says of it.
void check_file(std::string_view option, const std::string& path, const boost::system::error_code& failed) {
    if (!failed) return;
    if (!std::ifstream(path))
        throw std::runtime_error(fmt::format("{} {}: cannot be opened: {}", option, path, strerror(errno)));
    const char* why = ERR_reason_error_string(static_cast<unsigned long>(failed.value()));
    throw std::runtime_error(
        fmt::format("{} {}: cannot be used: {}", option, path, why ? why : failed.message()));
}

}  // namespace

std::shared_ptr<asio::ssl::context> server_tls(const options& how) {
    if (how.tls_certificate.empty()) return nullptr;
    auto context = std::make_shared<asio::ssl::context>(asio::ssl::context::tls_server);
    context->set_options(asio::ssl::context::default_workarounds | asio::ssl::context::no_tlsv1 |
                         asio::ssl::context::no_tlsv1_1);
    boost::system::error_code failed;
    context->use_certificate_chain_file(how.tls_certificate, failed);
    check_file("--tls-cert", how.tls_certificate, failed);
    const bool together = how.tls_key.empty();
    context->use_private_key_file(together ? how.tls_certificate : how.tls_key, asio::ssl::context::pem,
                                  failed);
    if (failed && together)
        throw std::runtime_error(fmt::format(
            "--tls-cert {}: no private key of the certificate is in it; name its file with --tls-key",
            how.tls_certificate));
    check_file("--tls-key", how.tls_key, failed);
    return context;
}

std::shared_ptr<asio::ssl::context> client_tls(const options& how) {
    auto context = std::make_shared<asio::ssl::context>(asio::ssl::context::tls_client);
    context->set_options(asio::ssl::context::no_tlsv1 | asio::ssl::context::no_tlsv1_1);
    context->set_verify_mode(asio::ssl::verify_peer);
    if (how.tls_authority.empty()) {
        context->set_default_verify_paths();
    } else {
        boost::system::error_code failed;
        context->load_verify_file(how.tls_authority, failed);
        check_file("--tls-ca", how.tls_authority, failed);
    }
    return context;
}

}  // namespace posy::node
