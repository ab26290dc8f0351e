// A store of keys with values, as a differential file sees one: bytes to bytes, in the order of the keys.
// bindings/gates/ has it for SQLite and LevelDB.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "posy/result.hpp"

namespace posy::store {

// A value for a key; nothing: the key is erased.
struct change {
    std::string key;
    std::optional<std::string> value;

    friend bool operator==(const change&, const change&) = default;
};

class pairs {
  public:
    pairs() = default;
    pairs(const pairs&) = delete;
    pairs& operator=(const pairs&) = delete;
    virtual ~pairs() = default;

    virtual result<std::optional<std::string>> get(std::string_view key) const = 0;
    // All of them, in this order, or none, whatever fails and whenever the process is killed. What one call
    // has written is there before anything that a later one writes, to this store or to another.
    virtual result<void> write(std::span<const change>) = 0;
    // Shows the keys from `first` on, in the order of their bytes, until visit() returns false. Nothing is
    // written meanwhile.
    using visitor = std::function<bool(std::string_view key, std::string_view value)>;
    virtual result<void> each(std::string_view first, const visitor& visit) const = 0;
};

}  // namespace posy::store
