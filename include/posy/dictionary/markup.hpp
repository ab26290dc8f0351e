// A text without its markup: HTML and XML, LaTeX, Markdown, troff.
//
// What is not text is overwritten with blanks, or with `nothing` (posy/dictionary/words.hpp) where it stands
// inside of a word; what stands for a letter (&eacute;, \'e, \(:o) becomes that letter. Invariant: the result
// has as many bytes as the text and its line breaks in the same places, so that offsets and line numbers are
// those of the text. Whatever the text is, there is a result: markup that does not end is left to the end.
//
// Cost: one pass. Thread safety: functions of their arguments.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace posy::dictionary {

enum class markup : std::uint8_t { none, html, latex, markdown, troff };

constexpr std::string_view name_of(markup member) {
    switch (member) {
        case markup::none:
            return "none";
        case markup::html:
            return "html";
        case markup::latex:
            return "latex";
        case markup::markdown:
            return "markdown";
        case markup::troff:
            return "troff";
    }
    return {};
}

// By the end of the file's name, that of a compressed file included: page.html, ls.1.gz.
markup markup_of(std::string_view file_name);

std::string without_markup(std::string text, markup);

}  // namespace posy::dictionary
