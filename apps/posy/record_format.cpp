#include "record_format.hpp"

#include <algorithm>

namespace posy::tool {
namespace {

constexpr std::size_t npos = std::string_view::npos;

bool is_blank(char c) { return c == ' ' || c == '\t'; }

// Behind the quote that closes the field whose text begins here; npos if it has not come.
std::size_t behind_quotes(std::string_view text, std::size_t from) {
    for (std::size_t at = text.find('"', from); at != npos; at = text.find('"', at + 2)) {
        if (at + 1 == text.size() || text[at + 1] != '"') return at + 1;
    }
    return npos;
}

}  // namespace

std::size_t record_format::end_of(std::string_view text, std::size_t from) const {
    std::size_t end_mark = text.find(end, from);
    if (!quotes || text.substr(from, end_mark - from).find('"') == npos)
        return end_mark == npos ? npos : end_mark + 1;
    for (std::size_t field = from; field < text.size();) {
        if (text[field] == '"') field = behind_quotes(text, field + 1);
        if (field == npos) return npos;
        if (end_mark < field) end_mark = text.find(end, field);
        const std::size_t next = text.find(delimiter, field);
        if (end_mark != npos && (next == npos || end_mark < next)) return end_mark + 1;
        if (next == npos) return npos;
        field = next + 1;
    }
    return npos;
}

std::size_t record_format::last_end(std::string_view text) const {
    if (!quotes || text.find('"') == npos) {
        const std::size_t last = text.rfind(end);
        return last == npos ? 0 : last + 1;
    }
    std::size_t last = 0;
    for (std::size_t next = end_of(text, 0); next != npos; next = end_of(text, next)) last = next;
    return last;
}

bool record_format::cut_off(std::string_view last_record) const {
    if (!quotes) return false;
    std::string closed(last_record);
    closed.push_back(end);  // would have ended it, if not for a quote
    return end_of(closed, 0) == npos;
}

std::string_view record_format::take_row(std::string_view& text) const {
    const std::size_t next = end_of(text, 0);
    std::string_view record = text.substr(0, next == npos ? npos : next - 1);
    text.remove_prefix(next == npos ? text.size() : next);
    if (record.ends_with('\r')) record.remove_suffix(1);
    return record;
}

// Takes the first field off the record, and says if there are more.
std::string_view record_format::take_field(std::string_view& record, bool& more, std::string& scratch) const {
    std::string_view field;
    std::size_t from = 0;
    const bool quoted = quotes && record.starts_with('"');
    if (quoted) {
        scratch.clear();
        for (from = 1; from < record.size(); ++from) {
            if (record[from] == '"' && (++from == record.size() || record[from] != '"')) break;
            scratch.push_back(record[from]);
        }
        field = scratch;
    }
    const std::size_t next = record.find(delimiter, std::min(from, record.size()));
    if (!quoted) field = record.substr(0, next);
    more = next != npos;
    record.remove_prefix(more ? next + 1 : record.size());
    return field;
}

std::optional<std::string_view> record_format::field(std::string_view record, std::size_t number,
                                                     std::string& scratch) const {
    if (blanks) {
        for (std::size_t at = 0;;) {
            while (at < record.size() && is_blank(record[at])) ++at;
            if (at == record.size()) return std::nullopt;
            const std::size_t first = at;
            while (at < record.size() && !is_blank(record[at])) ++at;
            if (--number == 0) return record.substr(first, at - first);
        }
    }
    for (bool more = true; more;) {
        const std::string_view field = take_field(record, more, scratch);
        if (--number == 0) return field;
    }
    return std::nullopt;
}

std::vector<std::string> record_format::fields(std::string_view record) const {
    std::vector<std::string> all;
    std::string scratch;
    while (const auto next = field(record, all.size() + 1, scratch)) all.emplace_back(*next);
    return all;
}

}  // namespace posy::tool
