#include "letter_seal.hpp"

#include <fmt/format.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/sha.h>

#include <array>
#include <charconv>

namespace posy::node {

namespace {

using sum_bytes = std::array<unsigned char, SHA256_DIGEST_LENGTH>;
constexpr std::string_view seal_scheme = "Posy-Letter ";
constexpr std::size_t sum_text = 2 * SHA256_DIGEST_LENGTH;

const unsigned char* octets(std::string_view text) {
    return reinterpret_cast<const unsigned char*>(text.data());
}

std::string hexadecimal(const sum_bytes& sum) {
    std::string text;
    for (const unsigned char each : sum) text += fmt::format("{:02x}", each);
    return text;
}

std::string sum_of(std::string_view body) {
    sum_bytes sum{};
    SHA256(octets(body), body.size(), sum.data());
    return hexadecimal(sum);
}

// No field holds a line feed, so the parts cannot be taken for each other.
std::string mac_of(std::string_view token, std::string_view from, std::string_view to, std::uint64_t time,
                   std::string_view body_sum) {
    const std::string said = fmt::format("{}\n{}\n{}\n{}", from, to, time, body_sum);
    sum_bytes mac{};
    unsigned written = 0;
    HMAC(EVP_sha256(), token.data(), static_cast<int>(token.size()), octets(said), said.size(), mac.data(),
         &written);
    return hexadecimal(mac);
}

}  // namespace

bool letter_seal::fits(std::string_view body) const { return sum_of(body) == body_sum; }

void add_to(http_cache::fields& fields, std::string_view token, std::string_view from, std::string_view to,
            std::uint64_t now, std::string_view body) {
    fields.add("Posy-From", from);
    fields.add("Posy-To", to);
    if (token.empty()) return;
    const std::string sum = sum_of(body);
    fields.add("Authorization",
               fmt::format("{}{} {} {}", seal_scheme, now, sum, mac_of(token, from, to, now, sum)));
}

std::optional<letter_seal> seal_of(const http_cache::fields& fields, std::string_view token) {
    const auto given = fields.find("Authorization"), from = fields.find("Posy-From"),
               to = fields.find("Posy-To");
    if (token.empty() || !given || !from || !to || !given->starts_with(seal_scheme)) return std::nullopt;
    const std::string_view rest = std::string_view(*given).substr(seal_scheme.size());
    letter_seal seal;
    const auto [end, failed] = std::from_chars(rest.data(), rest.data() + rest.size(), seal.time);
    const auto sums = rest.substr(static_cast<std::size_t>(end - rest.data()));
    if (failed != std::errc() || sums.size() != 2 * (1 + sum_text) || sums[0] != ' ' ||
        sums[1 + sum_text] != ' ')
        return std::nullopt;
    seal.body_sum = sums.substr(1, sum_text);
    const std::string right = mac_of(token, *from, *to, seal.time, seal.body_sum);
    if (CRYPTO_memcmp(right.data(), sums.data() + 2 + sum_text, sum_text) != 0) return std::nullopt;
    return seal;
}

}  // namespace posy::node
