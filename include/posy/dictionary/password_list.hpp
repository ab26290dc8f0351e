// Leaked passwords: a new password is refused if it is one of them, or one edit away from one (Manber and Wu
// 1994, after Spafford's list of bad passwords; Broder and Mitzenmacher 2004, 3.1).
//
// A list is a sealed filter of SHA-1 hashes, since that is how lists are published; passwords in plain are
// hashed as they are read, so that every list can be asked in the same way: for the password and for each of
// its edits (edits.hpp). Invariant: a listed password is refused, and so is every edit of one whose other
// character is in the alphabet. Others are refused with probability 1 − (1 − ε)^q, where q = (2 L + 1) 95 is
// the number of questions for L characters of printable ASCII; that is why the rate of a list is low.
// docs/dictionaries.md compares this with storing the edits.
//
// Cost: 1,995 hashes for ten characters, about a millisecond. Nothing of a password stays in memory.
// Thread safety: immutable.
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "posy/base/names.hpp"
#include "posy/dictionary/edits.hpp"
#include "posy/sealed_filter.hpp"

namespace posy::dictionary {

enum class password_verdict : std::uint8_t {
    fine,
    empty,
    listed,
    near_listed,  // one edit away
};
constexpr std::string_view name_of(password_verdict member) {
    switch (member) {
        case password_verdict::fine:
            return "ok";
        case password_verdict::empty:
            return "empty";
        case password_verdict::listed:
            return "listed";
        case password_verdict::near_listed:
            return "near";
    }
    return {};
}

// What stands for a password in a list.
digest password_digest(std::string_view password);

// The same for a line of a published list: 40 hexadecimal digits, then a colon and a count, or neither. In a
// file of a range the first digits are the file's name: `prefix`, which is put before a line that is that
// much shorter. Nothing for a count of 0: such lines are padding. Errors never show the line.
result<std::optional<digest>> published_digest(std::string_view line, std::string_view prefix = {});

class password_list {
  public:
    static constexpr std::size_t longest = 128;  // bytes of a password that is asked for
    static constexpr double default_rate = 1e-7;

    // Of password_digest() and published_digest(); repeated ones count once.
    static result<password_list> make(std::vector<digest> passwords, sealed_options = {default_rate});
    // A filter that make() made. Any other is an error, except with probability ε: a list contains a mark.
    static result<password_list> open(sealed_filter);

    // Precondition: no longer than that. Replaces and inserts characters of the alphabet.
    password_verdict check(std::string_view password, std::span<const std::string_view> alphabet) const;

    std::uint64_t passwords() const { return filter_.items() - 1; }
    const sealed_filter& filter() const { return filter_; }

  private:
    explicit password_list(sealed_filter filter) : filter_(std::move(filter)) {}

    sealed_filter filter_;
};

// The probability that a password that is neither listed nor near is refused: its characters are printable
// ASCII, which is also the alphabet, and no neighbours are equal.
double false_refusals(double rate, std::size_t length);

}  // namespace posy::dictionary
