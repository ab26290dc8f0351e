// HTML and XML: tags, comments, entities, and elements whose content is not text.
#include <array>
#include <charconv>

#include "dictionary/markup_mask.hpp"

namespace posy::dictionary {
namespace {

// Inside of a word these change how a part of it looks.
constexpr std::array<std::string_view, 20> inline_elements = {
    "a",   "abbr", "acronym", "b",     "big",  "del",    "em",  "emphasis", "font", "i",
    "ins", "mark", "s",       "small", "span", "strong", "sub", "sup",      "u",    "wbr"};
constexpr std::array<std::string_view, 14> elements_not_text = {
    "script", "style",          "pre",    "code",    "kbd",      "samp",    "tt",
    "math",   "programlisting", "screen", "literal", "filename", "command", "option"};

struct entity {
    std::string_view name;
    char32_t character;
};
// Those that are not a letter and the name of an accent.
constexpr std::array entities = {
    entity{"szlig", U'ß'},     entity{"aelig", U'æ'},  entity{"AElig", U'Æ'},    entity{"oelig", U'œ'},
    entity{"OElig", U'Œ'},     entity{"eth", U'ð'},    entity{"ETH", U'Ð'},      entity{"thorn", U'þ'},
    entity{"THORN", U'Þ'},     entity{"inodot", U'ı'}, entity{"lstrok", U'ł'},   entity{"Lstrok", U'Ł'},
    entity{"rsquo", U'’'},     entity{"apos", U'\''},  entity{"shy", U'\u00ad'}, entity{"hyphen", U'-'},
    entity{"zwnj", U'\u00ad'},
};

template <std::size_t size>
bool is_in(const std::array<std::string_view, size>& names, std::string_view name) {
    return std::ranges::find(names, name) != names.end();
}

bool is_name(char c) {
    const char small = static_cast<char>(c | 0x20);
    return (small >= 'a' && small <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == ':';
}

// Bytes from < to its >, which does not count inside of a quoted value.
std::size_t tag_size(std::string_view text) {
    char quote = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        if (quote != 0) {
            if (c == quote) quote = 0;
        } else if ((c == '"' || c == '\'') && text[i - 1] == '=') {
            quote = c;
        } else if (c == '>') {
            return i + 1;
        }
    }
    return text.size();
}

// To the tag that closes the element.
void blank_content(markup_mask& mask, std::string_view element) {
    while (!mask.done()) {
        mask.blank(mask.run([](char c) { return c != '<'; }).size());
        const std::string_view rest = mask.rest();
        const bool closes = rest.starts_with("</") && lower(rest.substr(2, element.size())) == element &&
                            !is_name(mask.next(2 + element.size()));
        if (closes) return;
        mask.blank(1);
    }
}

char32_t number_of(std::string_view digits) {
    const bool hexadecimal = digits.starts_with('x') || digits.starts_with('X');
    if (hexadecimal) digits.remove_prefix(1);
    std::uint32_t number = 0;
    const auto end = digits.data() + digits.size();
    const auto [stop, wrong] = std::from_chars(digits.data(), end, number, hexadecimal ? 16 : 10);
    return wrong == std::errc() && stop == end && number < 0x110000 ? number : U' ';
}

// A blank for what is no letter.
char32_t character_of(std::string_view name) {
    if (name.starts_with('#')) return number_of(name.substr(1));
    const auto place = std::ranges::find(entities, name, &entity::name);
    if (place != entities.end()) return place->character;
    if (const accent* over = accent_of_entity(name.substr(1)))
        return compose(static_cast<unsigned char>(name[0]), *over).value_or(U' ');
    return U' ';
}

}  // namespace

bool mask_tag(markup_mask& mask) {
    if (mask.next() != '<') return false;
    if (mask.sees("<!--")) {
        mask.blank_through("-->");
        return true;
    }
    if (mask.sees("<![CDATA[")) {  // text
        mask.blank(9);
        return true;
    }
    const bool closing = mask.next(1) == '/';
    const std::string name = lower(mask.run(is_name, closing ? 2 : 1));
    if (name.empty() && mask.next(1) != '!' && mask.next(1) != '?') return false;
    const std::string_view tag = mask.rest().substr(0, tag_size(mask.rest()));
    const bool empty = tag.ends_with("/>");
    if (is_in(inline_elements, name))
        mask.drop(tag.size());
    else
        mask.blank(tag.size());
    if (!closing && !empty && is_in(elements_not_text, name)) blank_content(mask, name);
    return true;
}

bool mask_entity(markup_mask& mask) {
    if (mask.next() != '&') return false;
    constexpr std::size_t longest = 32;
    const std::string_view name = mask.run([](char c) { return is_name(c) || c == '#'; }, 1);
    if (name.empty() || name.size() > longest || mask.next(1 + name.size()) != ';') return false;
    mask.put(name.size() + 2, character_of(name));
    return true;
}

void mask_html(markup_mask& mask) {
    while (!mask.done()) {
        if (!mask_tag(mask) && !mask_entity(mask)) mask.keep(1);
    }
}

}  // namespace posy::dictionary
