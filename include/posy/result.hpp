// A value, or an error that says what is wrong, where, and what to do about it.
//
// A function that can fail returns result<T>; there is no half-valid object behind an error. (std::expected
// arrives with C++23; this is the part of it that we use.) A constructor that can fail throws the error as a
// posy::exception, and so does a result whose value is taken although there is none.
#pragma once

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

namespace posy {

// What a caller can do about an error depends on its kind.
enum class error_kind : std::uint8_t {
    invalid,       // an argument that cannot be: correct the call
    damaged,       // bytes that are not what they claim to be: get them again
    too_large,     // beyond a limit, or the memory there is: raise the limit or ask for less
    mismatch,      // two things that do not go together: geometries, hashes, a delta and its base
    unsupported,   // a kind, version or operation that this build does not have
    busy,          // another process holds it: try again later
    input_output,  // the system or a file: its text has the reason
};

constexpr std::string_view name_of(error_kind kind) {
    switch (kind) {
        case error_kind::invalid:
            return "invalid";
        case error_kind::damaged:
            return "damaged";
        case error_kind::too_large:
            return "too large";
        case error_kind::mismatch:
            return "mismatch";
        case error_kind::unsupported:
            return "unsupported";
        case error_kind::busy:
            return "busy";
        case error_kind::input_output:
            return "input/output";
    }
    return {};
}

struct error {
    error_kind kind = error_kind::invalid;
    std::string message{};                  // what is wrong and what to do, one line, no full stop
    std::optional<std::uint64_t> offset{};  // byte offset in the input, if the error is about a place in it
    std::optional<std::uint64_t> limit{};   // bytes of memory, if a higher read limit would allow it
    std::optional<int> system{};            // the system's errno, if it was the system that refused

    using place = std::optional<std::uint64_t>;
    static error invalid(std::string what, place at = {}) {
        return {error_kind::invalid, std::move(what), at};
    }
    static error damaged(std::string what, place at = {}) {
        return {error_kind::damaged, std::move(what), at};
    }
    static error too_large(std::string what, place at = {}) {
        return {error_kind::too_large, std::move(what), at};
    }
    static error mismatch(std::string what, place at = {}) {
        return {error_kind::mismatch, std::move(what), at};
    }
    static error unsupported(std::string what, place at = {}) {
        return {error_kind::unsupported, std::move(what), at};
    }
    static error busy(std::string what, place at = {}) { return {error_kind::busy, std::move(what), at}; }
    static error input_output(std::string what, place at = {}) {
        return {error_kind::input_output, std::move(what), at};
    }

    // "at byte 12: message", to be printed after the file's name.
    std::string text() const {
        return offset ? "at byte " + std::to_string(*offset) + ": " + message : message;
    }
    // The same error about a part that starts at byte `start` of a whole.
    error in_part_at(std::uint64_t start) const {
        return {kind, message, offset.value_or(0) + start, limit, system};
    }
    // The same error behind a name, or behind what could not be done because of it.
    error behind(const std::string& name) const { return {kind, name + ": " + text(), {}, limit, system}; }
};

// An error, thrown.
class exception : public std::runtime_error {
  public:
    explicit exception(error why) : std::runtime_error(why.text()), why_(std::move(why)) {}
    const error& why() const { return why_; }

  private:
    error why_;
};

template <class T>
class [[nodiscard]] result {
  public:
    result(T value) : state_(std::move(value)) {}
    result(posy::error why) : state_(std::move(why)) {}

    bool ok() const { return state_.index() == 0; }
    explicit operator bool() const { return ok(); }

    // The value; throws the error if there is none.
    T& operator*() & { return *value(state_); }
    const T& operator*() const& { return *value(state_); }
    T&& operator*() && { return std::move(*value(state_)); }
    T* operator->() { return value(state_); }
    const T* operator->() const { return value(state_); }

    // Precondition: !ok().
    const posy::error& error() const { return std::get<1>(state_); }

  private:
    template <class State>
    static auto* value(State& state) {
        auto* const there = std::get_if<0>(&state);
        if (!there) throw exception(*std::get_if<1>(&state));
        return there;
    }

    std::variant<T, posy::error> state_;
};

template <>
class [[nodiscard]] result<void> {
  public:
    result() = default;
    result(posy::error why) : why_(std::move(why)) {}

    bool ok() const { return !why_; }
    explicit operator bool() const { return ok(); }
    // Throws the error if there is one.
    void operator*() const {
        if (why_) throw exception(*why_);
    }
    const posy::error& error() const { return *why_; }

  private:
    std::optional<posy::error> why_;
};

}  // namespace posy
