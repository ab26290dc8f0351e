// Markdown: code, the targets of links, emphasis, and whatever it has of HTML.
#include "dictionary/markup_mask.hpp"

namespace posy::dictionary {
namespace {

bool is_word(char c) {
    return (c | 0x20) >= 'a' || (c >= '0' && c <= '9') || static_cast<unsigned char>(c) >= 0x80;
}

// The lines that tell where code is: fences, indentation, a head of YAML.
class lines {
  public:
    // At the start of a line. Blanks it, and whatever it starts, if that is not text.
    bool take(markup_mask& mask) {
        const std::string_view line = mask.line();
        const std::size_t indent = mask.run(is_blank).size();
        const std::string_view text = line.substr(std::min(indent, line.size()));
        if (mask.at() == 0 && line == "---") {
            mask.blank_line();
            mask.blank_through("\n---");
            return true;
        }
        if (text.empty()) {
            after_blank_ = true;
            return false;
        }
        const bool is_code = after_blank_ && !in_list_ && (indent >= 4 || line[0] == '\t');
        if (text.starts_with("```") || text.starts_with("~~~")) {
            skip_fence(mask, indent, text[0]);
            return true;
        }
        if (is_code) {
            mask.blank_line();
            return true;
        }
        in_list_ = is_item(text) || (in_list_ && indent > 0);
        after_blank_ = false;
        return false;
    }

  private:
    static bool is_item(std::string_view text) {
        const std::size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
        const std::string_view mark = digits > 0 ? text.substr(digits) : text;
        const bool marked = mark.starts_with(digits > 0 ? '.' : '-') || (digits == 0 && mark[0] == '*') ||
                            (digits == 0 && mark[0] == '+');
        return marked && mark.size() > 1 && is_blank(mark[1]);
    }
    // To a line with as long a fence of the same character.
    static void skip_fence(markup_mask& mask, std::size_t indent, char of) {
        const std::size_t length = mask.run([&](char c) { return c == of; }, indent).size();
        mask.blank_line();
        while (!mask.done()) {
            mask.keep(1);  // the line break
            const std::size_t spaces = mask.run(is_blank).size();
            const bool ends = mask.run([&](char c) { return c == of; }, spaces).size() >= length;
            mask.blank_line();
            if (ends) return;
        }
    }

    bool after_blank_ = true, in_list_ = false;
};

// `code`, in as many backquotes on either side. Without an end they are text.
void mask_code(markup_mask& mask) {
    const std::string quotes(mask.run([](char c) { return c == '`'; }));
    const std::size_t end = mask.paragraph().find(quotes, quotes.size());
    mask.blank(end == std::string_view::npos ? quotes.size() : end + quotes.size());
}

// Behind the ] of [text](target), [text][name] and [name]: target.
void mask_target(markup_mask& mask, bool defines) {
    mask.blank(1);
    const char opens = mask.next();
    if (defines && opens == ':') return mask.blank_line();
    if (opens != '(' && opens != '[') return;
    const std::size_t end = mask.paragraph().find(opens == '(' ? ')' : ']');
    if (end != std::string_view::npos) mask.blank(end + 1);
}

}  // namespace

void mask_markdown(markup_mask& mask) {
    lines code;
    bool defines = false;  // a line that starts with [
    char before = '\n';
    while (!mask.done()) {
        if (mask.at_line_start()) {
            defines = mask.next() == '[';
            if (code.take(mask)) continue;
        }
        const char c = mask.next();
        if (c == '\\') {
            mask.blank(2);
        } else if (c == '`') {
            mask_code(mask);
        } else if (c == ']') {
            mask_target(mask, defines);
        } else if (c == '*' || c == '[') {  // part of a word can be emphasised, or a link
            mask.drop(1);
        } else if (c == '_' && (!is_word(before) || !is_word(mask.next(1)))) {
            mask.blank(1);
        } else if (!mask_tag(mask) && !mask_entity(mask)) {
            mask.keep(1);
        }
        before = c;
    }
}

}  // namespace posy::dictionary
