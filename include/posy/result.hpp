// A value, or an error that says what is wrong, where, and what to do about it.
//
// Nothing in Posy throws for bad input: a function that can fail returns result<T>. There is no half-valid
// object behind an error. (std::expected arrives with C++23; this is the part of it that we use.)
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>

namespace posy {

struct error {
    std::string message;                    // what is wrong and what to do, one line, no full stop
    std::optional<std::uint64_t> offset{};  // byte offset in the input, if the error is about a place in it

    // "at byte 12: message", to be printed after the file's name.
    std::string text() const {
        return offset ? "at byte " + std::to_string(*offset) + ": " + message : message;
    }
};

template <class T>
class [[nodiscard]] result {
  public:
    result(T value) : state_(std::move(value)) {}
    result(posy::error why) : state_(std::move(why)) {}

    bool ok() const { return state_.index() == 0; }
    explicit operator bool() const { return ok(); }

    // Precondition: ok().
    T& operator*() & { return std::get<0>(state_); }
    const T& operator*() const& { return std::get<0>(state_); }
    T&& operator*() && { return std::get<0>(std::move(state_)); }
    T* operator->() { return &std::get<0>(state_); }
    const T* operator->() const { return &std::get<0>(state_); }

    // Precondition: !ok().
    const posy::error& error() const { return std::get<1>(state_); }

  private:
    std::variant<T, posy::error> state_;
};

template <>
class [[nodiscard]] result<void> {
  public:
    result() = default;
    result(posy::error why) : why_(std::move(why)) {}

    bool ok() const { return !why_; }
    explicit operator bool() const { return ok(); }
    const posy::error& error() const { return *why_; }

  private:
    std::optional<posy::error> why_;
};

}  // namespace posy
