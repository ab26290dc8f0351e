// A stored value: a message of any kind (docs/format.md), decoded, and what SQL asks of it.
//
// A question that the kind cannot answer is an error that says which kind it is. Cost: reading checks and
// copies the message once; a question is one lookup. Thread safety: const calls from many threads.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "posy/message.hpp"

namespace posy::sqlite {

class stored {
  public:
    // One message and nothing behind it.
    static result<stored> read(byte_view);

    const any_body& body() const { return body_; }
    any_body& body() { return body_; }

    result<bool> may_contain(std::string_view key) const;
    // The value of a key in a map; nothing if the key is not there.
    result<std::optional<std::uint64_t>> lookup(std::string_view key) const;
    // How often a key was counted, or a little more.
    result<std::uint64_t> estimate(std::string_view key) const;

    // Different keys: those inserted, or an estimate where the bits say that keys were repeated. Nothing for
    // an intersection, whose bits do not tell.
    result<std::optional<std::uint64_t>> items() const;
    // Of false positives, from the actual bits.
    result<double> rate() const;
    // An object in JSON.
    std::string info() const;

  private:
    explicit stored(message);
    std::string kind() const { return std::string(name_of(kind_of(body_))); }

    any_body body_;
    std::optional<hasher> hash_;  // none of a delta, which answers nothing
    std::uint64_t size_;          // of the message, in bytes
};

// The size of what two filters have in common, estimated.
result<double> intersection_size(const stored& a, const stored& b);
// into := into ∪ from, where their kind can be united.
result<void> unite(stored& into, const stored& from);

}  // namespace posy::sqlite
