#include "posy/dictionary/password_list.hpp"

#include <algorithm>
#include <cmath>

#include "hash/sha1.hpp"
#include "posy/base/wipe.hpp"

namespace posy::dictionary {
namespace {

// A key of every list. It is no hash, which has 20 bytes.
constexpr std::string_view list_mark = "posy: leaked passwords by SHA-1";
constexpr std::size_t digits = 2 * hash::sha1_hash().size();

digest digest_of(const hash::sha1_hash& hash) { return hasher()(byte_view(hash)); }

std::optional<unsigned> hexadecimal(char c) {
    if (c >= '0' && c <= '9') return static_cast<unsigned>(c - '0');
    if (c >= 'a' && c <= 'f') return static_cast<unsigned>(c - 'a' + 10);
    if (c >= 'A' && c <= 'F') return static_cast<unsigned>(c - 'A' + 10);
    return {};
}

}  // namespace

digest password_digest(std::string_view password) { return digest_of(hash::sha1(as_byte_view(password))); }

result<std::optional<digest>> published_digest(std::string_view line, std::string_view prefix) {
    const auto wrong = [] {
        return error::invalid(
            "not a SHA-1 hash of a password: 40 hexadecimal digits, then :COUNT or nothing");
    };
    if (line.ends_with('\r')) line.remove_suffix(1);
    const std::size_t colon = line.find(':');
    const std::string_view hex = line.substr(0, colon);
    if (hex.size() == digits) prefix = {};
    if (prefix.size() + hex.size() != digits) return wrong();
    if (colon != std::string_view::npos) {
        const std::string_view count = line.substr(colon + 1);
        if (count.empty() || count.find_first_not_of("0123456789") != std::string_view::npos) return wrong();
        if (count.find_first_not_of('0') == std::string_view::npos) return std::optional<digest>();
    }
    hash::sha1_hash hash;
    for (std::size_t i = 0; i < digits; ++i) {
        const auto digit = hexadecimal(i < prefix.size() ? prefix[i] : hex[i - prefix.size()]);
        if (!digit) return wrong();
        auto& byte = hash[i / 2];
        byte = i % 2 == 0 ? static_cast<std::byte>(*digit << 4) : byte | static_cast<std::byte>(*digit);
    }
    return std::optional(digest_of(hash));
}

result<password_list> password_list::make(std::vector<digest> passwords, sealed_options how) {
    passwords.push_back(hasher()(list_mark));
    auto filter = sealed_filter::make(hasher(), passwords, how);
    if (!filter) return filter.error();
    return password_list(std::move(*filter));
}

result<password_list> password_list::open(sealed_filter filter) {
    if (filter.hash() != hasher() || !filter.may_contain(hasher()(list_mark)))
        return error::mismatch("not a list of passwords; 'posy password seal' makes one");
    return password_list(std::move(filter));
}

password_verdict password_list::check(std::string_view password,
                                      std::span<const std::string_view> alphabet) const {
    if (password.empty()) return password_verdict::empty;
    const auto listed = [&](std::string_view text) { return filter_.may_contain(password_digest(text)); };
    if (listed(password)) return password_verdict::listed;
    base::secret_text edited(2 * longest);  // room for any edit: a text that grows leaves copies behind
    const bool near = any_edit(
        password, alphabet, [&](std::string_view text, edit) { return listed(text); }, *edited);
    return near ? password_verdict::near_listed : password_verdict::fine;
}

double false_refusals(double rate, std::size_t length) {
    const double questions =
        (2 * static_cast<double>(length) + 1) * static_cast<double>(printable_ascii().size());
    return -std::expm1(questions * std::log1p(-rate));
}

}  // namespace posy::dictionary
