#include "users.hpp"

#include <crypt.h>
#include <fmt/format.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <fstream>
#include <functional>
#include <iterator>
#include <vector>

#include "posy/base/file.hpp"

namespace posy::proxy {

namespace {

// Of both: what takes longer than a second would make a client wait for nothing.
constexpr unsigned most_bcrypt = 14;
constexpr unsigned most_rounds = 2'000'000;
constexpr std::size_t longest_password = 511;  // of libcrypt

exception wrong_line(const std::string& path, std::size_t number, std::string_view what) {
    return exception(error::invalid(fmt::format("{}:{}: {}", path, number, what)));
}

// The lines that count, without blanks at their ends.
void for_each_line(std::string_view text, const std::function<void(std::size_t, std::string_view)>& visit) {
    for (std::size_t start = 0, number = 1; start < text.size(); ++number) {
        const auto end = std::min(text.find('\n', start), text.size());
        auto line = text.substr(start, end - start);
        start = end + 1;
        line.remove_prefix(std::min(line.find_first_not_of(" \t\r"), line.size()));
        while (!line.empty() && std::string_view(" \t\r").find(line.back()) != std::string_view::npos)
            line.remove_suffix(1);
        if (!line.empty() && line.front() != '#') visit(number, line);
    }
}

// A name of a user or group stands in rules, logs and files with commas and colons.
bool is_user_name(std::string_view name) {
    return !name.empty() && name != "*" && name.size() <= 255 && std::ranges::none_of(name, [](char c) {
        return static_cast<unsigned char>(c) <= ' ' || c == 0x7f || c == ',' || c == ':';
    });
}

unsigned number_behind(std::string_view text, std::size_t at) {
    unsigned value = 0;
    if (at < text.size()) std::from_chars(text.data() + at, text.data() + text.size(), value);
    return value;
}

// Why we do not take it; empty: we do.
std::string_view fault_of_hash(std::string_view hash) {
    constexpr std::string_view remedy =
        "; write bcrypt (htpasswd -B), sha512-crypt or sha256-crypt (openssl passwd -6 or -5)";
    static const std::string md5 = fmt::format("MD5 is too fast to protect passwords{}", remedy);
    static const std::string sha1 = fmt::format("SHA-1 without salt does not protect passwords{}", remedy);
    static const std::string plain =
        fmt::format("the password is not hashed, or by crypt, which cuts it after 8 characters{}", remedy);
    if (hash.starts_with("$apr1$") || hash.starts_with("$1$")) return md5;
    if (hash.starts_with("{SHA}")) return sha1;
    const bool bcrypt = hash.starts_with("$2a$") || hash.starts_with("$2b$") || hash.starts_with("$2y$");
    const bool sha = hash.starts_with("$5$") || hash.starts_with("$6$");
    if (!bcrypt && !sha) return plain;
    const auto tail = hash.size() - std::min(hash.size(), hash.rfind('$') + 1);
    if (bcrypt ? hash.size() != 60 : tail != (hash[1] == '5' ? 43U : 86U)) return "the hash is not whole";
    if (bcrypt && number_behind(hash, 4) > most_bcrypt)
        return "the cost of this bcrypt is above 14: a check would take seconds; hash it with 10 to 12";
    if (sha && hash.substr(3).starts_with("rounds=") && number_behind(hash, 10) > most_rounds)
        return "more than 2,000,000 rounds: a check would take seconds; hash it with fewer";
    return {};
}

// How long a hash that we take needs, in rounds of sha-crypt, about 0.2 us. Both methods of SHA count alike:
// which is faster depends on the password's length. A step of bcrypt takes as long as 200 rounds (measured:
// 41 ms at cost 10, 1.1 ms for 5,000 rounds and a password of 8 characters).
std::uint64_t work_of(std::string_view hash) {
    constexpr std::uint64_t rounds_of_a_step = 200, usual_rounds = 5000, least_rounds = 1000;
    if (hash.starts_with("$2")) return rounds_of_a_step << number_behind(hash, 4);
    if (!hash.substr(3).starts_with("rounds=")) return usual_rounds;
    return std::max<std::uint64_t>(number_behind(hash, 10), least_rounds);
}

bool hashes_to(const std::string& password, const std::string& hash) {
    // Its working space is 32 KB.
    const auto space = std::make_unique<crypt_data>();
    const char* const made = crypt_r(password.c_str(), hash.c_str(), space.get());
    return made && std::string_view(made).size() == hash.size() &&
           CRYPTO_memcmp(made, hash.data(), hash.size()) == 0;
}

std::string sha256_of(std::string_view text) {
    std::array<unsigned char, EVP_MAX_MD_SIZE> digest;
    unsigned size = 0;
    if (EVP_Digest(text.data(), text.size(), digest.data(), &size, EVP_sha256(), nullptr) != 1) size = 0;
    return {digest.begin(), digest.begin() + size};
}

// 64 hexadecimal digits; "" if it is none.
std::string digest_of_hex(std::string_view text) {
    std::string bytes;
    for (std::size_t i = 0; text.size() == 64 && i < text.size(); i += 2) {
        unsigned value = 0;
        const auto* end = text.data() + i + 2;
        if (const auto [stop, failed] = std::from_chars(text.data() + i, end, value, 16);
            failed != std::errc{} || stop != end)
            return {};
        bytes += static_cast<char>(value);
    }
    return bytes;
}

std::string content_of(const std::string& path) {
    if (path.empty()) return {};
    std::ifstream file(path, std::ios::binary);
    if (!file) throw std::runtime_error(base::system_error(path + ": cannot be opened").message);
    std::string text{std::istreambuf_iterator<char>(file), {}};
    if (file.bad()) throw std::runtime_error(path + ": cannot be read");
    return text;
}

}  // namespace

identity& users::known(const std::string& name) {
    auto& found = all_[name];
    if (!found) found = std::make_shared<identity>(identity{name, {}});
    return *found;
}

void users::take_passwords(lines text, const std::string& path) {
    for_each_line(text, [&](std::size_t number, std::string_view line) {
        const auto colon = line.find(':');
        const std::string name(line.substr(0, colon));
        if (colon == line.npos || !is_user_name(name)) throw wrong_line(path, number, "write NAME:HASH");
        const auto hash = line.substr(colon + 1);
        if (const auto fault = fault_of_hash(hash); !fault.empty())
            throw wrong_line(path, number, fmt::format("user '{}': {}", name, fault));
        if (!hashes_.emplace(name, hash).second)
            throw wrong_line(path, number, fmt::format("user '{}' is there twice", name));
        if (costliest_.empty() || work_of(hash) > work_of(costliest_)) costliest_ = hash;
        known(name);
    });
}

void users::take_tokens(lines text, const std::string& path) {
    for_each_line(text, [&](std::size_t number, std::string_view line) {
        const auto colon = line.find(':');
        const std::string name(line.substr(0, colon));
        const auto digest = colon == line.npos ? "" : digest_of_hex(line.substr(colon + 1));
        if (!is_user_name(name) || digest.empty())
            throw wrong_line(path, number,
                             "write NAME:SHA256, the 64 hexadecimal digits of: printf %s TOKEN | sha256sum");
        if (!tokens_.emplace(digest, name).second)
            throw wrong_line(path, number, fmt::format("user '{}': this token is there already", name));
        known(name);
    });
}

void users::take_groups(lines text, const std::string& path) {
    for_each_line(text, [&](std::size_t number, std::string_view line) {
        const auto colon = line.find(':');
        const std::string group(line.substr(0, colon));
        if (colon == line.npos || !is_user_name(group))
            throw wrong_line(path, number, "write GROUP: NAME NAME …");
        groups_.insert(group);
        auto members = line.substr(colon + 1);
        for (;;) {
            members.remove_prefix(std::min(members.find_first_not_of(" \t,"), members.size()));
            if (members.empty()) break;
            const auto name = members.substr(0, members.find_first_of(" \t,"));
            members.remove_prefix(name.size());
            // Whoever has left the other files is no user any more.
            if (const auto found = all_.find(name); found != all_.end())
                found->second->groups.push_back(group);
        }
    });
}

result<std::shared_ptr<const users>> users::parse(const texts& of, const user_files& names) {
    auto made = std::make_shared<users>();
    try {
        made->take_passwords(of.passwords, names.passwords);
        made->take_tokens(of.tokens, names.tokens);
        made->take_groups(of.groups, names.groups);
    } catch (const exception& wrong) {
        return wrong.why();
    }
    return std::shared_ptr<const users>(std::move(made));
}

std::shared_ptr<const users> users::read(const user_files& files) {
    const auto passwords = content_of(files.passwords), tokens = content_of(files.tokens),
               groups = content_of(files.groups);
    const auto made = parse({passwords, tokens, groups}, files);
    if (!made) throw std::runtime_error(made.error().message);
    return *made;
}

std::shared_ptr<const identity> users::find(std::string_view name) const {
    const auto found = all_.find(name);
    return found == all_.end() ? nullptr : found->second;
}

const std::string& users::hash_of(std::string_view name) const {
    static const std::string none;
    const auto found = hashes_.find(name);
    return found == hashes_.end() ? none : found->second;
}

bool users::has_password(std::string_view name, const std::string& password) const {
    if (hashes_.empty() || password.size() > longest_password || password.find('\0') != password.npos)
        return false;
    const auto& hash = hash_of(name);
    if (!hash.empty()) return hashes_to(password, hash);
    (void)hashes_to(password, costliest_);  // by work_of, no user's takes longer
    return false;
}

std::shared_ptr<const identity> users::by_token(std::string_view token) const {
    const auto found = tokens_.find(sha256_of(token));
    return found == tokens_.end() ? nullptr : find(found->second);
}

credentials parse_credentials(std::string_view field) {
    const auto blank = std::min(field.find(' '), field.size());
    std::string scheme(field.substr(0, blank));
    for (char& c : scheme) c = static_cast<char>(c | 0x20);
    auto rest = field.substr(blank);
    rest.remove_prefix(std::min(rest.find_first_not_of(' '), rest.size()));
    if (scheme == "bearer" && !rest.empty()) return {credentials::scheme::bearer, {}, std::string(rest)};
    constexpr std::string_view alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const credentials none{credentials::scheme::other, {}, {}};
    const auto digits = std::min(rest.find_last_not_of('=') + 1, rest.size());
    if (scheme != "basic" || rest.empty() || rest.size() % 4 != 0 || rest.size() - digits > 2 ||
        rest.substr(0, digits).find_first_not_of(alphabet) != std::string_view::npos)
        return none;
    std::string text(rest.size() / 4 * 3, '\0');
    if (EVP_DecodeBlock(reinterpret_cast<unsigned char*>(text.data()),
                        reinterpret_cast<const unsigned char*>(rest.data()),
                        static_cast<int>(rest.size())) < 0)
        return none;
    text.resize(text.size() - (rest.size() - digits));
    const auto colon = text.find(':');
    if (colon == text.npos) return none;
    return {credentials::scheme::basic, text.substr(0, colon), text.substr(colon + 1)};
}

}  // namespace posy::proxy
