#include "lenient.hpp"

#include <algorithm>

namespace posy::http {

namespace {

constexpr std::string_view blanks = " \t";

// Ends its first line so, and then, if it is to be taken at all, all others.
std::string_view line_end(std::string_view bytes) {
    const auto end = bytes.find('\n');
    return end != std::string_view::npos && (end == 0 || bytes[end - 1] != '\r') ? "\n" : "\r\n";
}

bool folded(std::string_view line) { return !line.empty() && blanks.find(line.front()) != blanks.npos; }

// "HTTP/1.1 200", and nothing behind it.
bool without_reason(std::string_view line) { return line.size() == 12 && line[8] == ' '; }

// Of the blanks before the colon; the size of the line if there are none.
std::size_t blanks_of_name(std::string_view line) {
    const auto colon = line.find(':');
    if (colon == std::string_view::npos || colon == 0) return line.size();
    const auto last = line.find_last_not_of(blanks, colon - 1);
    return last == std::string_view::npos || last + 1 == colon ? line.size() : last + 1;
}

}  // namespace

std::size_t head_length(std::string_view bytes, std::size_t seen) {
    const auto end = line_end(bytes);
    const std::string twice = std::string(end) + std::string(end);
    const auto at = bytes.find(twice, seen - std::min(seen, twice.size() - 1));
    return at == std::string_view::npos ? 0 : at + twice.size();
}

bool mixed_ends(std::string_view bytes) {
    return line_end(bytes).size() == 1 && bytes.find('\r') != std::string_view::npos;
}

namespace {

struct line {
    std::size_t number;  // 0 is the status line
    std::string_view text;

    bool continues() const { return number > 1 && folded(text); }
    std::size_t name_end() const { return folded(text) ? text.size() : blanks_of_name(text); }
    bool fit() const {
        return number == 0 ? !without_reason(text) : !continues() && name_end() == text.size();
    }
};

template <class Visit>
bool all_lines(std::string_view head, std::string_view end, Visit visit) {
    for (std::size_t at = 0, number = 0; at < head.size(); ++number) {
        const line next{number, head.substr(at, head.find(end, at) - at)};
        at += next.text.size() + end.size();
        if (!visit(next)) return false;
    }
    return true;
}

void add_mended(std::string& text, const line& l) {
    if (l.number == 0) {
        text += l.text;
        if (without_reason(l.text)) text += ' ';
    } else if (l.continues()) {
        text.resize(text.find_last_not_of("\r\n") + 1);
        text += ' ';
        text += l.text.substr(std::min(l.text.find_first_not_of(blanks), l.text.size()));
    } else {
        const auto name = l.name_end();
        text += l.text.substr(0, name);
        if (name < l.text.size()) text += l.text.substr(l.text.find(':'));
    }
    text += "\r\n";
}

}  // namespace

std::optional<std::string> mended(std::string_view head) {
    const auto end = line_end(head);
    const bool bare = end.size() == 1;
    if (mixed_ends(head)) return std::nullopt;
    if (!bare && all_lines(head, end, [](const line& l) { return l.fit(); })) return std::nullopt;
    std::string text;
    text.reserve(head.size() + 64);
    all_lines(head, end, [&](const line& l) {
        add_mended(text, l);
        return true;
    });
    return text;
}

}  // namespace posy::http
