// troff: requests, and the macros of manual pages (man and mdoc) and of papers (ms); escapes; tables,
// pictures and equations, which are not text.
#include <array>

#include "dictionary/markup_mask.hpp"

namespace posy::dictionary {
namespace {

// Macros whose arguments are text. The line of any other request or macro is not.
constexpr std::array<std::string_view, 24> with_text = {"B",  "BI", "BR", "I",  "IB", "IR", "RB", "RI",
                                                        "SB", "SM", "SH", "SS", "IP", "TP", "NH", "TL",
                                                        "Sh", "Ss", "Nd", "Em", "Sy", "Dq", "Qq", "Pq"};
// From one to another: what stands between is not text.
struct region {
    std::string_view from, to;
};
constexpr std::array regions = {region{"TS", "TE"}, region{"EQ", "EN"}, region{"PS", "PE"},
                                region{"de", ""},   region{"ig", ""},   region{"Bd -literal", "Ed"},
                                region{"nf", "fi"}, region{"EX", "EE"}};

// The bytes of the name after an escape: x, (xx, [xxx].
std::size_t name_size(const markup_mask& mask, std::size_t at) {
    if (mask.next(at) == '(') return 3;
    if (mask.next(at) != '[') return 1;
    const auto inside = [](char c) { return c != ']' && c != '\n'; };
    return mask.run(inside, at).size() + 1;
}

// \(:o and \['e]: a letter and an accent; \(ss and their like.
void mask_character(markup_mask& mask, std::size_t size) {
    std::string_view name = mask.rest().substr(2, 2);
    if (size > 5) name = {};
    constexpr std::array troff_letters = {
        named_letter{"ss", U'ß'},  named_letter{"ae", U'æ'},  named_letter{"oe", U'œ'},
        named_letter{"cq", U'\''}, named_letter{"aq", U'\''}, named_letter{"hy", U'-'},
        named_letter{"/o", U'ø'},  named_letter{"oa", U'å'},  named_letter{",c", U'ç'}};
    const auto place = std::ranges::find(troff_letters, name, &named_letter::name);
    if (place != troff_letters.end()) return mask.put(size, place->character);
    const accent* over = name.empty() ? nullptr : accent_of_latex(name[0] == ':' ? '"' : name[0]);
    const auto both = over ? compose(static_cast<unsigned char>(name[1]), *over) : std::nullopt;
    return both ? mask.put(size, *both) : mask.blank(size);
}

void mask_escape(markup_mask& mask) {
    switch (mask.next(1)) {
        case '"':
        case '#':
            return mask.blank_line();
        case '-':
            return mask.put(2, U'-');
        case '\'':
            return mask.put(2, U'\'');
        case '%':
        case '&':
        case '/':
        case ',':
        case '|':
        case '^':
        case '\n':
            return mask.drop(2);
        case 'f':
        case 'F':
            return mask.drop(2 + name_size(mask, 2));
        case 's': {
            const bool sign = mask.next(2) == '+' || mask.next(2) == '-';
            return mask.drop(3 + sign);
        }
        case '*':
        case 'n':
        case 'm':
            return mask.blank(2 + name_size(mask, 2));
        case '(':
        case '[':
            return mask_character(mask, 1 + name_size(mask, 1));
        default:
            return mask.blank(2);
    }
}

void skip_region(markup_mask& mask, std::string_view to) {
    const std::string end = "\n." + std::string(to.empty() ? "." : to);
    mask.blank_through(end);
    mask.blank_line();
}

void mask_request(markup_mask& mask) {
    const std::size_t spaces = mask.run(is_blank, 1).size();
    const std::string_view request = mask.line().substr(1 + spaces);
    for (const region& each : regions) {
        if (request.starts_with(each.from) &&
            (request.size() == each.from.size() || is_blank(request[each.from.size()])))
            return skip_region(mask, each.to);
    }
    const std::string_view name = request.substr(0, request.find_first_of(" \t"));
    if (std::ranges::find(with_text, name) == with_text.end()) return mask.blank_line();
    mask.blank(1 + spaces + name.size());
}

}  // namespace

void mask_troff(markup_mask& mask) {
    while (!mask.done()) {
        if (mask.at_line_start() && (mask.next() == '.' || mask.next() == '\''))
            mask_request(mask);
        else if (mask.next() == '\\')
            mask_escape(mask);
        else
            mask.keep(1);
    }
}

}  // namespace posy::dictionary
