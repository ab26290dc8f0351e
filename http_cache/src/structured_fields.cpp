#include "posy/http_cache/structured_fields.hpp"

#include <algorithm>
#include <array>

namespace posy::http_cache::structured {

namespace {

bool digit(char c) { return c >= '0' && c <= '9'; }
bool small(char c) { return c >= 'a' && c <= 'z'; }
bool letter(char c) { return small(c) || (c >= 'A' && c <= 'Z'); }
bool one_of(char c, std::string_view set) { return set.find(c) != std::string_view::npos; }

int value_of_hex(char c) { return digit(c) ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1; }

int value_of_base64(char c) {
    if (c >= 'A' && c <= 'Z') return c - 'A';
    if (small(c)) return c - 'a' + 26;
    return digit(c) ? c - '0' + 52 : c == '+' ? 62 : c == '/' ? 63 : -1;
}

// Padding may be left out, and bits beyond the last byte are ignored (4.2.7).
std::optional<std::string> from_base64(std::string_view text) {
    const auto digits = text.substr(0, text.find('='));
    const auto padding = text.substr(digits.size());
    if (padding.size() > 2 || padding.find_first_not_of('=') != std::string_view::npos ||
        digits.size() % 4 == 1)
        return std::nullopt;
    std::string bytes;
    unsigned held = 0, bits = 0;
    for (const char c : digits) {
        const int value = value_of_base64(c);
        if (value < 0) return std::nullopt;
        held = held << 6 | static_cast<unsigned>(value);
        if ((bits += 6) >= 8) bytes += static_cast<char>(held >> (bits -= 8) & 255);
    }
    return bytes;
}

// Well-formed UTF-8: no overlong forms, no surrogates, nothing above U+10FFFF.
bool is_utf8(std::string_view text) {
    for (std::size_t i = 0; i < text.size();) {
        const auto first = static_cast<unsigned char>(text[i++]);
        if (first < 0x80) continue;
        const int more = first >= 0xf0 ? 3 : first >= 0xe0 ? 2 : 1;
        if (first < 0xc2 || first > 0xf4 || text.size() - i < static_cast<std::size_t>(more)) return false;
        std::uint32_t code = first & (0x3f >> more);
        for (int n = 0; n < more; ++n) {
            const auto next = static_cast<unsigned char>(text[i++]);
            if ((next & 0xc0) != 0x80) return false;
            code = code << 6 | (next & 0x3f);
        }
        constexpr std::array<std::uint32_t, 4> least{0, 0x80, 0x800, 0x10000};
        if (code < least[static_cast<std::size_t>(more)] || code > 0x10ffff ||
            (code >= 0xd800 && code < 0xe000))
            return false;
    }
    return true;
}

template <class Value>
void set(std::vector<std::pair<std::string, Value>>& all, std::string key, Value value) {
    const auto same = std::ranges::find_if(all, [&](const auto& each) { return each.first == key; });
    if (same == all.end()) {
        all.emplace_back(std::move(key), std::move(value));
    } else {
        same->second = std::move(value);
    }
}

// Reads from left to right; once something does not fit, all of it is wrong.
class parser {
  public:
    explicit parser(std::string_view text) : rest_(text) { skip(" "); }

    bool good() const { return good_; }
    bool finish() {
        skip(" ");
        return good_ && rest_.empty();
    }

    structured::item item() {
        auto value = bare();
        return {std::move(value), parameters()};
    }
    member item_or_inner_list() {
        if (!take('(')) return item();
        inner_list inner;
        while (good_) {
            skip(" ");
            if (take(')')) {
                inner.parameters = parameters();
                break;
            }
            inner.items.push_back(item());
            good_ = good_ && !rest_.empty() && one_of(rest_.front(), " )");
        }
        return inner;
    }
    // Between members: true if another follows.
    bool another() {
        skip(" \t");
        if (!good_ || rest_.empty()) return false;
        good_ = take(',');
        skip(" \t");
        good_ = good_ && !rest_.empty();  // no comma at the end
        return good_;
    }
    std::string key() {
        std::string name;
        good_ = good_ && !rest_.empty() && (small(rest_.front()) || rest_.front() == '*');
        while (good_ && !rest_.empty() &&
               (small(rest_.front()) || digit(rest_.front()) || one_of(rest_.front(), "_-.*")))
            name += next();
        return name;
    }
    member value_of_key() {
        if (take('=')) return item_or_inner_list();
        return structured::item{true, parameters()};
    }
    bool empty() const { return rest_.empty(); }

  private:
    void skip(std::string_view set) {
        while (!rest_.empty() && one_of(rest_.front(), set)) rest_.remove_prefix(1);
    }
    bool take(char c) {
        if (rest_.empty() || rest_.front() != c) return false;
        rest_.remove_prefix(1);
        return true;
    }
    char next() {
        good_ = good_ && !rest_.empty();
        if (!good_) return 0;
        const char c = rest_.front();
        rest_.remove_prefix(1);
        return c;
    }
    bare_item wrong() {
        good_ = false;
        return false;
    }

    structured::parameters parameters() {
        structured::parameters all;
        while (good_ && take(';')) {
            skip(" ");
            auto name = key();
            auto value = take('=') ? bare() : bare_item(true);
            set(all, std::move(name), std::move(value));
        }
        return all;
    }
    bare_item bare() {
        if (!good_ || rest_.empty()) return wrong();
        const char c = rest_.front();
        if (c == '-' || digit(c)) return number();
        if (c == '"') return string();
        if (letter(c) || c == '*') return token_here();
        if (take(':')) return bytes();
        if (take('?')) return take('1') ? bare_item(true) : take('0') ? bare_item(false) : wrong();
        if (take('@')) {
            const auto when = number();
            const auto* whole = std::get_if<std::int64_t>(&when);
            return whole ? bare_item(date{*whole}) : wrong();
        }
        return take('%') ? display() : wrong();
    }
    bare_item number() {
        const bool negative = take('-');
        std::int64_t whole = 0, fraction = 0;
        std::size_t digits = 0, places = 0;
        for (; !rest_.empty() && digit(rest_.front()) && digits <= 15; ++digits)
            whole = whole * 10 + (next() - '0');
        if (digits == 0 || digits > 15) return wrong();
        if (!take('.')) return negative ? -whole : whole;
        for (; !rest_.empty() && digit(rest_.front()) && places <= 3; ++places)
            fraction = fraction * 10 + (next() - '0');
        if (digits > 12 || places == 0 || places > 3) return wrong();
        for (; places < 3; ++places) fraction *= 10;
        return decimal{(negative ? -1 : 1) * (whole * 1000 + fraction)};
    }
    bare_item string() {
        std::string text;
        take('"');
        while (good_ && !take('"')) {
            char c = next();
            if (c == '\\') {
                c = next();
                good_ = good_ && one_of(c, "\"\\");
            } else {
                good_ = good_ && c >= ' ' && c <= '~';
            }
            text += c;
        }
        return text;
    }
    bare_item token_here() {
        std::string text;
        while (!rest_.empty() &&
               (letter(rest_.front()) || digit(rest_.front()) || one_of(rest_.front(), "!#$%&'*+-.^_`|~:/")))
            text += next();
        return token{text};
    }
    bare_item bytes() {
        const auto end = rest_.find(':');
        const auto found = from_base64(rest_.substr(0, end));
        if (end == std::string_view::npos || !found) return wrong();
        rest_.remove_prefix(end + 1);
        return byte_sequence{*found};
    }
    bare_item display() {
        std::string text;
        if (!take('"')) return wrong();
        while (good_ && !take('"')) {
            const char c = next();
            if (c != '%') {
                good_ = good_ && c >= ' ' && c <= '~';
                text += c;
                continue;
            }
            const int high = value_of_hex(next()), low = value_of_hex(next());
            if (high < 0 || low < 0) return wrong();
            text += static_cast<char>(high * 16 + low);
        }
        return is_utf8(text) ? bare_item(display_string{text}) : wrong();
    }

    std::string_view rest_;
    bool good_ = true;
};

}  // namespace

std::optional<item> parse_item(std::string_view text) {
    parser from(text);
    auto found = from.item();
    if (!from.finish()) return std::nullopt;
    return found;
}

std::optional<list> parse_list(std::string_view text) {
    parser from(text);
    list all;
    if (!from.empty()) {
        do all.push_back(from.item_or_inner_list());
        while (from.another());
    }
    if (!from.finish()) return std::nullopt;
    return all;
}

std::optional<dictionary> parse_dictionary(std::string_view text) {
    parser from(text);
    dictionary all;
    if (!from.empty()) {
        do {
            auto name = from.key();
            set(all, std::move(name), from.value_of_key());
        } while (from.another());
    }
    if (!from.finish()) return std::nullopt;
    return all;
}

}  // namespace posy::http_cache::structured
