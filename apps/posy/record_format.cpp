#include "record_format.hpp"

#include <algorithm>

namespace posy::tool {
namespace {

constexpr std::size_t npos = std::string_view::npos;

constexpr std::string_view blank_characters = " \t";

// Behind the quote that closes the field whose text begins here; npos if it has not come.
std::size_t behind_quotes(std::string_view text, std::size_t from) {
    for (std::size_t at = text.find('"', from); at != npos; at = text.find('"', at + 2)) {
        if (at + 1 == text.size() || text[at + 1] != '"') return at + 1;
    }
    return npos;
}

// The text between quotes, with each two of them as one.
std::string_view single_quotes(std::string_view text, std::string& scratch) {
    scratch.clear();
    for (std::size_t at = 0; at < text.size(); ++at) {
        scratch.push_back(text[at]);
        if (text.substr(at).starts_with(R"("")")) ++at;
    }
    return scratch;
}

}  // namespace

// Fields are looked for up to the next end mark only: a row without a delimiter is not to cost a search
// through all rows behind it.
std::size_t record_format::end_of(std::string_view text, std::size_t from) const {
    std::size_t end_mark = std::min(text.find(end, from), text.size());
    if (quotes && text.substr(from, end_mark - from).find('"') != npos) {
        for (std::size_t field = from;;) {
            if (field < text.size() && text[field] == '"') field = behind_quotes(text, field + 1);
            if (field == npos) return npos;
            if (end_mark < field) end_mark = std::min(text.find(end, field), text.size());
            const std::size_t next = text.substr(0, end_mark).find(delimiter, field);
            if (next == npos) break;
            field = next + 1;
        }
    }
    return end_mark == text.size() ? npos : end_mark + 1;
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

std::size_t record_format::open_quote(std::string_view last_record) const {
    if (!quotes) return npos;
    for (std::size_t field = 0; field < last_record.size(); ++field) {
        const std::size_t begin = field;
        if (last_record[field] == '"') field = behind_quotes(last_record, field + 1);
        if (field == npos) return begin;
        field = last_record.find(delimiter, field);
        if (field == npos) return npos;
    }
    return npos;
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
        from = behind_quotes(record, 1);
        field = record.substr(1, from == npos ? npos : from - 2);
        if (field.find('"') != npos) field = single_quotes(field, scratch);
    }
    from = std::min(from, record.size());
    const std::size_t next = record.find(delimiter, from);
    const std::string_view rest = record.substr(from, next == npos ? npos : next - from);
    if (!quoted) {
        field = rest;
    } else if (!rest.empty()) {  // against RFC 4180, but not to be lost
        scratch = std::string(field).append(rest);
        field = scratch;
    }
    more = next != npos;
    record.remove_prefix(more ? next + 1 : record.size());
    return field;
}

// Takes the next word off a record of words between blanks; nothing if there is none.
std::optional<std::string_view> record_format::take_word(std::string_view& record) {
    const std::size_t first = record.find_first_not_of(blank_characters);
    if (first == npos) return std::nullopt;
    record.remove_prefix(first);
    const std::string_view word = record.substr(0, record.find_first_of(blank_characters));
    record.remove_prefix(word.size());
    return word;
}

// Calls use(field) for the fields of the record, from the first, until it says false or none is left.
template <class Use>
void record_format::each_field(std::string_view record, std::string& scratch, Use use) const {
    if (blanks) {
        for (auto word = take_word(record); word && use(*word);) word = take_word(record);
        return;
    }
    for (bool more = true; more;)
        if (!use(take_field(record, more, scratch))) return;
}

std::optional<std::string_view> record_format::field(std::string_view record, std::size_t number,
                                                     std::string& scratch) const {
    std::optional<std::string_view> found;
    each_field(record, scratch, [&](std::string_view each) {
        if (--number == 0) found = each;
        return number != 0;
    });
    return found;
}

std::vector<std::string> record_format::fields(std::string_view record) const {
    std::vector<std::string> all;
    std::string scratch;
    each_field(record, scratch, [&](std::string_view each) {
        all.emplace_back(each);
        return true;
    });
    return all;
}

}  // namespace posy::tool
