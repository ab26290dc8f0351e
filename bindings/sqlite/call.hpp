// What stands between SQLite and C++: no exception leaves, and SQL values become bytes and back.
//
// Every function that SQLite calls does its work inside call(). An error becomes an SQL error, "posy: …".
#pragma once

#include <sqlite3ext.h>

#include <array>
#include <charconv>
#include <exception>
#include <new>
#include <string>
#include <string_view>

#include "posy/bytes.hpp"
#include "posy/result.hpp"

SQLITE_EXTENSION_INIT3

namespace posy::sqlite {

template <class Work>
void call(sqlite3_context* context, const Work& work) noexcept {
    try {
        work();
    } catch (const std::bad_alloc&) {
        sqlite3_result_error_nomem(context);
    } catch (const std::exception& e) {
        // To make the text may fail as well.
        char* const text = sqlite3_mprintf("posy: %s", e.what());
        sqlite3_result_error(context, text ? text : "out of memory", -1);
        sqlite3_free(text);
    }
}

inline bool is_null(sqlite3_value* value) { return sqlite3_value_type(value) == SQLITE_NULL; }

// The byte form of a key, which is also a line of the tool's input: text is its UTF-8, a number its text as
// SQLite prints it, a blob its bytes. Valid as long as the value is. Precondition: !is_null(value).
class key_of {
  public:
    explicit key_of(sqlite3_value* value) {
        switch (sqlite3_value_type(value)) {
            case SQLITE_INTEGER: {
                const auto end = std::to_chars(digits_.begin(), digits_.end(), sqlite3_value_int64(value));
                bytes_ = {digits_.data(), end.ptr};
                break;
            }
            case SQLITE_BLOB:
                bytes_ = taken(static_cast<const char*>(sqlite3_value_blob(value)), value);
                break;
            default:
                bytes_ = taken(reinterpret_cast<const char*>(sqlite3_value_text(value)), value);
        }
    }
    key_of(const key_of&) = delete;
    key_of& operator=(const key_of&) = delete;
    operator std::string_view() const { return bytes_; }

  private:
    static std::string_view taken(const char* bytes, sqlite3_value* value) {
        const auto size = static_cast<std::size_t>(sqlite3_value_bytes(value));
        if (!bytes && size != 0) throw std::bad_alloc();
        return {bytes, size};
    }

    std::array<char, 24> digits_;
    std::string_view bytes_;
};

// The bytes of a message.
inline byte_view message_of(sqlite3_value* value) {
    if (sqlite3_value_type(value) != SQLITE_BLOB)
        throw exception(error::invalid("a filter is a BLOB, and this is not; read a file with readfile()"));
    const auto* bytes = static_cast<const std::byte*>(sqlite3_value_blob(value));
    return {bytes, static_cast<std::size_t>(sqlite3_value_bytes(value))};
}

inline void return_blob(sqlite3_context* context, byte_view bytes) {
    sqlite3_result_blob64(context, bytes.data(), bytes.size(), SQLITE_TRANSIENT);
}

// Both add functions to a connection and return SQLite's code.
int add_functions(sqlite3*);
int add_aggregates(sqlite3*);

}  // namespace posy::sqlite
