// How a file is cut into records, and a record into fields.
//
// With quotes, by RFC 4180: a field that begins with a quote ends with the next single one, and in between
// delimiters and line ends are text, and two quotes are one. A carriage return before a line end belongs to
// the end. A quote elsewhere is text, and so is what stands between the closing quote and the delimiter.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace posy::tool {

struct record_format {
    char end = '\n';
    char delimiter = '\t';
    bool blanks = false;  // runs of blanks and tabs are the delimiter
    bool quotes = false;
    bool cr_lf = false;  // a carriage return before the end belongs to it; with quotes it always does

    // Where the record that begins at `from` ends, its end mark included; npos if that has not come.
    std::size_t end_of(std::string_view text, std::size_t from) const;
    // Where the last record ends that ends in the text; 0 if none does. The text begins with a record.
    std::size_t last_end(std::string_view text) const;
    // Where the quote is that opens a field without end, in the last record of a file; npos if none does.
    std::size_t open_quote(std::string_view last_record) const;
    // Takes the first record off the text, without its end mark.
    std::string_view take_record(std::string_view& text) const {
        if (quotes) return take_row(text);
        const std::size_t end_mark = text.find(end);
        std::string_view record = text.substr(0, end_mark);
        text.remove_prefix(end_mark == std::string_view::npos ? text.size() : end_mark + 1);
        if (cr_lf && record.ends_with('\r')) record.remove_suffix(1);
        return record;
    }
    // The field with this number, counted from 1. `scratch` holds its text if quotes had to be removed.
    std::optional<std::string_view> field(std::string_view record, std::size_t number,
                                          std::string& scratch) const;
    std::vector<std::string> fields(std::string_view record) const;

    // Commas, and no tab, where tabs are expected?
    static bool looks_like_csv(std::string_view record) {
        return record.find('\t') == std::string_view::npos && record.find(',') != std::string_view::npos;
    }

  private:
    std::string_view take_row(std::string_view& text) const;
    std::string_view take_field(std::string_view& record, bool& more, std::string& scratch) const;
    static std::optional<std::string_view> take_word(std::string_view& record);
    template <class Use>
    void each_field(std::string_view record, std::string& scratch, Use use) const;
};

}  // namespace posy::tool
