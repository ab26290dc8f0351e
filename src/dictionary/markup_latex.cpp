// LaTeX: commands, comments, mathematics, and accents.
#include <array>

#include "dictionary/markup_mask.hpp"

namespace posy::dictionary {
namespace {

// How many of a command's arguments in braces are names, numbers or code. Text stands in all others.
struct command {
    std::string_view name;
    int arguments;
};
constexpr std::array commands = {
    command{"addcontentsline", 2},
    command{"autoref", 1},
    command{"bibitem", 1},
    command{"bibliography", 1},
    command{"bibliographystyle", 1},
    command{"cite", 1},
    command{"citep", 1},
    command{"citet", 1},
    command{"color", 1},
    command{"cref", 1},
    command{"def", 1},
    command{"documentclass", 1},
    command{"end", 1},
    command{"eqref", 1},
    command{"fontsize", 2},
    command{"href", 1},
    command{"hspace", 1},
    command{"include", 1},
    command{"includegraphics", 1},
    command{"input", 1},
    command{"label", 1},
    command{"lstinline", 1},
    command{"newcommand", 2},
    command{"newenvironment", 3},
    command{"newtheorem", 1},
    command{"pagenumbering", 1},
    command{"pageref", 1},
    command{"pagestyle", 1},
    command{"providecommand", 2},
    command{"ref", 1},
    command{"renewcommand", 2},
    command{"setcounter", 2},
    command{"setlength", 2},
    command{"textcolor", 1},
    command{"thispagestyle", 1},
    command{"url", 1},
    command{"usepackage", 1},
    command{"vspace", 1},
};
// Environments that are not text, up to their end.
constexpr std::array<std::string_view, 20> environments_not_text = {
    "align",    "align*",    "alltt",        "comment",     "displaymath", "eqnarray", "eqnarray*",
    "equation", "equation*", "gather",       "gather*",     "lstlisting",  "math",     "minted",
    "multline", "multline*", "filecontents", "tikzpicture", "verbatim",    "verbatim*"};

constexpr std::array latex_letters = {
    named_letter{"ss", U'ß'}, named_letter{"ae", U'æ'}, named_letter{"AE", U'Æ'}, named_letter{"oe", U'œ'},
    named_letter{"OE", U'Œ'}, named_letter{"aa", U'å'}, named_letter{"AA", U'Å'}, named_letter{"o", U'ø'},
    named_letter{"O", U'Ø'},  named_letter{"l", U'ł'},  named_letter{"L", U'Ł'},  named_letter{"i", U'i'},
    named_letter{"j", U'j'},
};

bool is_ascii_letter(char c) { return (c | 0x20) >= 'a' && (c | 0x20) <= 'z'; }

// From an opening brace or bracket to the one that closes it. The braces of what is commented out count.
void blank_group(markup_mask& mask, char open, char close) {
    int depth = 0;
    do {
        if (mask.next() == '\\') {
            mask.blank(2);
            continue;
        }
        depth += mask.next() == open;
        depth -= mask.next() == close;
        mask.blank(1);
    } while (depth > 0 && !mask.done());
}

void blank_arguments(markup_mask& mask, int braces) {
    if (mask.next() == '*') mask.blank(1);
    while (!mask.done()) {
        const std::size_t spaces = mask.run(is_blank).size();
        const char opens = mask.next(spaces);
        if (opens != '[' && (opens != '{' || braces == 0)) return;
        if (opens == '[' && spaces > 0) return;  // "\ldots [sic]"
        mask.blank(spaces);
        if (opens == '[') {
            blank_group(mask, '[', ']');
        } else {
            blank_group(mask, '{', '}');
            --braces;
        }
    }
}

void begin_environment(markup_mask& mask) {
    const auto in_braces = [](char c) { return c != '}' && c != '\n'; };
    const std::string name(mask.next() == '{' ? mask.run(in_braces, 1) : std::string_view());
    if (std::ranges::find(environments_not_text, name) != environments_not_text.end())
        return mask.blank_through("\\end{" + name + "}");
    const bool has_columns = name.starts_with("tabular") || name == "array" || name == "minipage";
    blank_arguments(mask, has_columns ? 2 : 1);
}

// \'e, \'{e}, \c{c}, \"\i: the letter under the accent and the bytes of it all; 0 if there is none.
std::size_t accented(const markup_mask& mask, const accent& over, char32_t& both) {
    std::size_t size = 2;
    if (is_ascii_letter(over.latex)) size += mask.run(is_blank, 2).size();
    const bool braces = mask.next(size) == '{';
    size += braces;
    if (mask.next(size) == '\\' && !is_ascii_letter(mask.next(size + 2))) ++size;  // the i without a dot
    const auto whole = compose(static_cast<unsigned char>(mask.next(size)), over);
    if (!whole || (braces && mask.next(size + 1) != '}')) return 0;
    both = *whole;
    return size + 1 + braces;
}

bool put_accented(markup_mask& mask) {
    const accent* over = accent_of_latex(mask.next(1));
    // A letter names an accent if no other follows: \c{c} or \c c, not \cite.
    if (!over || (is_ascii_letter(over->latex) && is_ascii_letter(mask.next(2)))) return false;
    char32_t both = 0;
    const std::size_t size = accented(mask, *over, both);
    if (size == 0) return false;
    mask.put(size, both);
    return true;
}

void mask_command(markup_mask& mask) {
    if (put_accented(mask)) return;
    const std::string name(mask.run(is_ascii_letter, 1));
    if (name.empty()) {  // a character by itself, or mathematics
        if (mask.sees("\\(")) return mask.blank_through("\\)");
        if (mask.sees("\\[")) return mask.blank_through("\\]");
        return mask.next(1) == '-' ? mask.drop(2) : mask.blank(2);
    }
    if (const auto place = std::ranges::find(latex_letters, name, &named_letter::name);
        place != latex_letters.end()) {
        const std::size_t size = 1 + name.size();
        mask.put(size + (mask.next(size) == ' ' ? 1 : 0), place->character);
        return;
    }
    mask.blank(1 + name.size());
    if (name == "verb") {
        const char end = mask.next();
        mask.blank(1);
        return mask.blank_through(std::string(1, end));
    }
    if (name == "begin") return begin_environment(mask);
    const auto place = std::ranges::find(commands, name, &command::name);
    blank_arguments(mask, place == commands.end() ? 0 : place->arguments);
}

}  // namespace

void mask_latex(markup_mask& mask) {
    while (!mask.done()) {
        const char c = mask.next();
        if (c == '\\') {
            mask_command(mask);
        } else if (c == '%') {
            mask.blank_line();
        } else if (c == '$') {
            const std::string_view dollars = mask.sees("$$") ? "$$" : "$";
            const std::size_t end = mask.paragraph().find(dollars, dollars.size());
            mask.blank(dollars.size() + (end == std::string_view::npos ? 0 : end));
        } else if (c == '~') {
            mask.blank(1);
        } else if (c == '{' || c == '}') {
            mask.drop(1);
        } else {
            mask.keep(1);
        }
    }
}

}  // namespace posy::dictionary
