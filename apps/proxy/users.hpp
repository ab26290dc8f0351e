// The users of a proxy: names with hashed passwords, tokens and groups, from files of lines.
//
//   passwords   NAME:HASH         as htpasswd -B writes it: bcrypt, sha512-crypt or sha256-crypt
//   tokens      NAME:SHA256       of a token, as 64 hexadecimal digits; a user may have several
//   groups      GROUP: NAME …     a group may have several lines
//
// Empty lines and those that start with # do not count. A password is checked in the time that its hash was
// made to take, tens of milliseconds. For a name that is not there the costliest hash of the file is
// computed, so that an answer does not tell which names there are, if all hashes are by the same method and
// cost. Where they differ, names with cheaper hashes than the costliest can be told apart by time. A token is
// looked up by its own hash: it is long and random, and needs no slow one. Thread safety: immutable.
#pragma once

#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>

#include "posy/result.hpp"
#include "posy/secret_hash.hpp"
#include "rules.hpp"

namespace posy::proxy {

// Paths; empty: none.
struct user_files {
    std::string passwords, tokens, groups;
    friend bool operator==(const user_files&, const user_files&) = default;
    bool any() const { return !passwords.empty() || !tokens.empty(); }
};

class users {
  public:
    users() = default;
    // Of the contents of the files. The error says in which of them, and in which line.
    struct texts {
        std::string_view passwords, tokens, groups;
    };
    static result<std::shared_ptr<const users>> parse(const texts&, const user_files& names);
    // Throws std::runtime_error: FILE:LINE, what is wrong and what to do.
    static std::shared_ptr<const users> read(const user_files&);

    // Null: there is no such user.
    std::shared_ptr<const identity> find(std::string_view name) const;
    bool has_group(std::string_view name) const { return groups_.contains(name); }
    // The hash of a user's password; "" if there is none.
    const std::string& hash_of(std::string_view name) const;
    // What a password is hashed with for a name that has none: of the hashes in the file the one that takes
    // longest, the first if there are several; "" if there are none.
    const std::string& costliest_hash() const { return costliest_; }
    // Slow.
    bool has_password(std::string_view name, const std::string& password) const;
    std::shared_ptr<const identity> by_token(std::string_view token) const;

  private:
    using lines = std::string_view;
    void take_passwords(lines, const std::string& path);
    void take_tokens(lines, const std::string& path);
    void take_groups(lines, const std::string& path);
    identity& known(const std::string& name);

    template <class Value>
    using by_name = std::unordered_map<std::string, Value, hash::by_secret, std::equal_to<>>;
    by_name<std::shared_ptr<identity>> all_;
    by_name<std::string> hashes_;
    std::string costliest_;
    by_name<std::string> tokens_;  // name by digest, 32 bytes
    std::set<std::string, std::less<>> groups_;
};

// What a client says of itself in Proxy-Authorization.
struct credentials {
    enum class scheme { none, basic, bearer, other } how = scheme::none;
    std::string name, secret;  // a password or a token
};
// Malformed ones are `other`: they prove nothing.
credentials parse_credentials(std::string_view field);

}  // namespace posy::proxy
