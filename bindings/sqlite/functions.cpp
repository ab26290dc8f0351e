// Functions of stored values: may_contain, lookup, estimate, items, rate, intersection_size, info.
//
// Decoding a filter takes far longer than asking it. So a decoded one is kept twice: with the statement,
// where SQLite knows that the argument is constant (a literal, a bound parameter), and with the function on
// this connection, where the next call may bring the same bytes (a column of a joined table, a subquery).
// There the bytes are compared, so that what is kept never answers for another value.
#include <cstring>
#include <memory>
#include <vector>

#include "call.hpp"
#include "stored.hpp"

namespace posy::sqlite {
namespace {

using shared_value = std::shared_ptr<const stored>;

// The value that a function decoded last.
class last_value {
  public:
    shared_value get(byte_view bytes) {
        if (value_ && bytes.size() == bytes_.size() &&
            std::memcmp(bytes.data(), bytes_.data(), bytes.size()) == 0)
            return value_;
        value_ = nullptr;
        bytes_.assign(bytes.begin(), bytes.end());
        value_ = std::make_shared<const stored>(*stored::read(bytes));
        return value_;
    }

  private:
    std::vector<std::byte> bytes_;
    shared_value value_;
};

// Valid until the next call of the same function.
const stored& value_of(sqlite3_context* context, sqlite3_value* argument) {
    if (const auto* kept = static_cast<shared_value*>(sqlite3_get_auxdata(context, 0))) return **kept;
    auto& last = *static_cast<last_value*>(sqlite3_user_data(context));
    const shared_value value = last.get(message_of(argument));
    sqlite3_set_auxdata(context, 0, new shared_value(value),
                        [](void* kept) { delete static_cast<shared_value*>(kept); });
    return *value;
}

void give(sqlite3_context* context, bool answer) { sqlite3_result_int(context, answer); }
void give(sqlite3_context* context, double number) { sqlite3_result_double(context, number); }
void give(sqlite3_context* context, const std::string& text) {
    sqlite3_result_text64(context, text.data(), text.size(), SQLITE_TRANSIENT, SQLITE_UTF8);
}
void give(sqlite3_context* context, std::uint64_t number) {
    if (number > static_cast<std::uint64_t>(INT64_MAX))
        throw exception(error::too_large(std::to_string(number) + " is more than an INTEGER holds"));
    sqlite3_result_int64(context, static_cast<sqlite3_int64>(number));
}
void give(sqlite3_context* context, std::optional<std::uint64_t> number) {
    if (number) give(context, *number);
}
template <class T>
void give(sqlite3_context* context, const result<T>& answer) {
    give(context, *answer);
}

// A question about a value, or about a key in it. The answer is NULL if either is.
template <auto question>
void ask_value(sqlite3_context* context, int, sqlite3_value** arguments) {
    call(context, [&] {
        if (!is_null(arguments[0])) give(context, (value_of(context, arguments[0]).*question)());
    });
}
template <auto question>
void ask_key(sqlite3_context* context, int, sqlite3_value** arguments) {
    call(context, [&] {
        if (is_null(arguments[0]) || is_null(arguments[1])) return;
        give(context, (value_of(context, arguments[0]).*question)(key_of(arguments[1])));
    });
}

void ask_intersection_size(sqlite3_context* context, int, sqlite3_value** arguments) {
    call(context, [&] {
        if (is_null(arguments[0]) || is_null(arguments[1])) return;
        const stored& a = value_of(context, arguments[0]);
        give(context, intersection_size(a, *stored::read(message_of(arguments[1]))));
    });
}

struct function {
    const char* name;
    int arguments;
    void (*run)(sqlite3_context*, int, sqlite3_value**);
};
constexpr std::array functions{
    function{"may_contain", 2, ask_key<&stored::may_contain>},
    function{"lookup", 2, ask_key<&stored::lookup>},
    function{"estimate", 2, ask_key<&stored::estimate>},
    function{"items", 1, ask_value<&stored::items>},
    function{"rate", 1, ask_value<&stored::rate>},
    function{"info", 1, ask_value<&stored::info>},
    function{"intersection_size", 2, ask_intersection_size},
};

}  // namespace

int add_functions(sqlite3* db) {
    for (const function& f : functions) {
        auto* last = new (std::nothrow) last_value;
        if (!last) return SQLITE_NOMEM;
        const int code = sqlite3_create_function_v2(
            db, f.name, f.arguments, SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS, last, f.run,
            nullptr, nullptr, [](void* kept) { delete static_cast<last_value*>(kept); });
        if (code != SQLITE_OK) return code;  // and SQLite has deleted what was kept
    }
    return SQLITE_OK;
}

}  // namespace posy::sqlite
