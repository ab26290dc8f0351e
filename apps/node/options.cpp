#include "options.hpp"

#include <fmt/format.h>
#include <openssl/err.h>
#include <openssl/x509err.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>

namespace posy::node {

namespace {
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
        if (!good) return error::invalid("a name has to be UTF-8 text without control characters", at);
        at += more + 1;
    }
    return {};
}

result<peer_address> parse_peer(std::string_view text) {
    if (auto good = check_name(text); !good)
        return error::invalid(fmt::format("'{}' is not a peer: {}", printable(text), good.error().text()));
    const error malformed =
        error::invalid(fmt::format("'{}' is not a peer; write NAME=http://HOST:PORT", text));
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
    auto where = http::parse_server(text);
    if (!where) return malformed;
    if (peer.name.empty()) peer.name = where->authority.text();
    peer.where = std::move(*where);
    return peer;
}

namespace {

constexpr std::string_view form = "it should read {\"peers\": [\"NAME=http://HOST:PORT\", …]}";

// The line of the byte, both counted from 1.
std::size_t line_at(const std::string& path, std::size_t byte) {
    std::ifstream file(path);
    std::size_t line = 1;
    for (std::size_t i = 1; i < byte; ++i) line += file.get() == '\n';
    return line;
}

}  // namespace

std::vector<peer_address> read_peers(const std::string& path) {
    const std::string where = "--peers " + path;
    std::ifstream file(path);
    if (!file) throw std::runtime_error(fmt::format("{}: cannot be opened: {}", where, strerror(errno)));
    std::vector<peer_address> peers;
    try {
        const auto all = nlohmann::json::parse(file);
        for (const auto& text : all.at("peers").get<std::vector<std::string>>()) {
            auto peer = parse_peer(text);
            if (!peer) throw std::runtime_error(where + ": " + peer.error().message);
            peers.push_back(std::move(*peer));
        }
    } catch (const nlohmann::json::parse_error& e) {
        throw std::runtime_error(
            fmt::format("{}: not JSON in line {}; {}", where, line_at(path, e.byte), form));
    } catch (const nlohmann::json::exception&) {
        throw std::runtime_error(fmt::format("{}: not a list of peers; {}", where, form));
    }
    return peers;
}

namespace {

// Throws with the option, the file, and what OpenSSL says of it.
void check_file(std::string_view option, const std::string& path, std::string_view what,
                const boost::system::error_code& failed) {
    if (!failed) return;
    if (!std::ifstream(path))
        throw std::runtime_error(fmt::format("{} {}: cannot be opened: {}", option, path, strerror(errno)));
    const char* why = ERR_reason_error_string(static_cast<unsigned long>(failed.value()));
    throw std::runtime_error(fmt::format("{} {}: cannot be used: no {} in PEM format is in it ({})", option,
                                         path, what, why ? why : failed.message()));
}

}  // namespace

std::shared_ptr<asio::ssl::context> server_tls(const options& how) {
    if (how.tls_certificate.empty()) return nullptr;
    auto context = std::make_shared<asio::ssl::context>(asio::ssl::context::tls_server);
    context->set_options(asio::ssl::context::default_workarounds | asio::ssl::context::no_tlsv1 |
                         asio::ssl::context::no_tlsv1_1);
    boost::system::error_code failed;
    context->use_certificate_chain_file(how.tls_certificate, failed);
    check_file("--tls-cert", how.tls_certificate, "certificate", failed);
    const bool together = how.tls_key.empty();
    context->use_private_key_file(together ? how.tls_certificate : how.tls_key, asio::ssl::context::pem,
                                  failed);
    if (failed && together)
        throw std::runtime_error(fmt::format(
            "--tls-cert {}: no private key of the certificate is in it; name its file with --tls-key",
            how.tls_certificate));
    const auto reason = failed ? ERR_GET_REASON(static_cast<unsigned long>(failed.value())) : 0;
    // A key of another algorithm is taken, as if its certificate were still to come.
    const bool stranger = !failed && SSL_CTX_check_private_key(context->native_handle()) != 1;
    if (stranger || reason == X509_R_KEY_VALUES_MISMATCH || reason == X509_R_KEY_TYPE_MISMATCH)
        throw std::runtime_error(fmt::format("--tls-key {}: not the key of the certificate in --tls-cert {}",
                                             how.tls_key, how.tls_certificate));
    check_file("--tls-key", how.tls_key, "private key", failed);
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
        check_file("--tls-ca", how.tls_authority, "certificate", failed);
    }
    return context;
}

}  // namespace posy::node
