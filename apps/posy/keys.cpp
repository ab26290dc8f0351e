#include "keys.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cctype>
#include <charconv>
#include <nlohmann/json.hpp>

#include "json_value.hpp"
#include "numbers.hpp"
#include "posy/base/machine.hpp"
#include "posy/bytes.hpp"
#include "tool.hpp"

namespace posy::tool {
namespace {

// A decimal integer of 64 bits, signed or not, as the 64 bits it is hashed by.
std::optional<std::uint64_t> integer(std::string_view key) {
    const char* end = key.data() + key.size();
    std::int64_t small = 0;
    if (const auto [at, wrong] = std::from_chars(key.data(), end, small); wrong == std::errc{} && at == end) {
        return static_cast<std::uint64_t>(small);
    }
    std::uint64_t large = 0;
    if (const auto [at, wrong] = std::from_chars(key.data(), end, large); wrong == std::errc{} && at == end)
        return large;
    return std::nullopt;
}

bool in_word(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || (c & 0x80);
}

// Runs of letters, digits and bytes of other scripts; characters of `inner` count inside a word, not at its
// ends.
template <class Use>
void split_words(std::string_view record, std::string_view inner, Use use) {
    const auto is_inner = [&](char c) { return inner.find(c) != std::string_view::npos; };
    for (std::size_t at = 0; at < record.size();) {
        std::size_t end = at;
        while (end < record.size() && (in_word(record[end]) || is_inner(record[end]))) ++end;
        std::string_view word = record.substr(at, end - at);
        while (!word.empty() && is_inner(word.front())) word.remove_prefix(1);
        while (!word.empty() && is_inner(word.back())) word.remove_suffix(1);
        if (!word.empty()) use(word);
        at = end + 1;
    }
}

std::string_view trimmed(std::string_view key) {
    constexpr std::string_view blanks = " \t\r\n";
    const std::size_t first = key.find_first_not_of(blanks);
    if (first == std::string_view::npos) return {};
    return key.substr(first, key.find_last_not_of(blanks) - first + 1);
}

std::vector<std::string> columns_of(const std::string& list) {
    std::vector<std::string> all(1);
    for (const char c : list) {
        if (c == ',') {
            all.emplace_back();
        } else {
            all.back().push_back(c);
        }
    }
    return all;
}

std::optional<std::size_t> column_number(std::string_view column) {
    std::size_t number = 0;
    const char* end = column.data() + column.size();
    const auto [at, wrong] = std::from_chars(column.data(), end, number);
    return wrong == std::errc{} && at == end ? std::optional(number) : std::nullopt;
}

// What is wrong with it.
std::string empty_column(const std::string& text) {
    if (!text.empty()) return {};
    return "it is empty; give the number or the name of a column, and the number of one without a name";
}

std::string lower_case(std::string text) {
    for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    return text;
}

// Without what says how it is compressed.
std::string extension_of(const std::string& file) {
    std::string name = lower_case(file);
    for (const std::string_view ending : {".gz", ".zst"})
        if (name.ends_with(ending)) name.resize(name.size() - ending.size());
    const std::size_t dot = name.find_last_of("./");
    return dot == std::string::npos || name[dot] == '/' ? "" : name.substr(dot);
}

// The keys of the records of one block.
class key_reader {
  public:
    key_reader(const key_options& o, const block& of, const auto& use)
        : o_(o),
          block_(of),
          use_(use),
          path_(o.json_path.empty() ? json_steps() : parse_json_path(o.json_path)) {
        if (o.field.empty()) return;
        for (const std::string& column : columns_of(o.field)) fields_.push_back(of.file->number_of(column));
    }

    void read(std::string_view record) {
        if (record.empty() && block_.file->format.quotes) return;  // a blank line between rows
        if (o_.words) {
            split_words(record, o_.inner, [&](std::string_view word) { give(word, word); });
        } else if (fields_.size() > 1) {
            give_several(record);
        } else if (!fields_.empty()) {
            const auto key = block_.file->format.field(record, fields_[0], scratch_);
            key ? give(*key, record) : o_.missing(block_, record, "field " + o_.field);
        } else if (!o_.json_path.empty()) {
            const auto key = json_value(record, path_);
            key ? give(*key, record) : without_value(record);
        } else {
            give(record, record);
        }
    }

  private:
    void give(std::string_view key, std::string_view record) {
        if (o_.trim) key = trimmed(key);
        if (o_.integers && !integer(key)) return o_.missing(block_, record, "a 64-bit integer");
        use_(key, record);
    }
    void without_value(std::string_view record) const {
        if (trimmed(record).empty()) return;
        if (!nlohmann::json::accept(record))
            return o_.missing(block_, record, "JSON in it",
                              "; each line must be JSON of its own: 'jq -c .' makes such lines");
        const bool list = trimmed(record).starts_with('[');
        o_.missing(block_, record, "a value at " + o_.json_path,
                   list ? "; it is an array: 'jq -c .[]' makes a line of each element" : "");
    }
    void append(std::uint64_t number) {
        std::array<std::byte, 8> bytes;
        store_little(bytes.data(), number);
        several_.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    }
    void give_several(std::string_view record) {
        several_.clear();
        for (const std::size_t number : fields_) {
            auto part = block_.file->format.field(record, number, scratch_);
            if (!part) return o_.missing(block_, record, "field " + std::to_string(number));
            if (o_.trim) part = trimmed(*part);
            if (o_.integers) {
                const auto value = integer(*part);
                if (!value) return o_.missing(block_, record, "64-bit integers in fields " + o_.field);
                append(*value);
            } else {
                append(part->size());
                several_.append(*part);
            }
        }
        use_(several_, record);
    }

    const key_options& o_;
    const block& block_;
    const std::function<void(std::string_view, std::string_view)>& use_;
    json_steps path_;
    std::vector<std::size_t> fields_;
    std::string scratch_, several_;
};

}  // namespace

std::string where(const block& block, std::string_view record) {
    const auto at = block.offset + static_cast<std::uint64_t>(record.data() - block.text.data());
    std::string place = block.file->name + ": at byte " + std::to_string(at);
    if (block.offset >= block.file->at_hand || block.file->format.end != '\n') return place;
    const std::string_view before(block.text.data() - block.offset, at);
    return place + ", line " + std::to_string(std::ranges::count(before, '\n') + 1);
}

void key_options::add_to(command_line& command, const std::string& name, const std::string& what) {
    command.add_option(name, files, what);
    command
        .add_option("--field COLUMN", field,
                    "Column that is the key: its number, counted from 1, or its name in the first row, which "
                    "is then no "
                    "key; several, e.g. city,country, are one key together; a column whose name is a number "
                    "is given by "
                    "its place, with --header (default: the whole line)")
        .check(empty_column);
    command.add_flag("--csv", csv,
                     "Rows of CSV, with quotes as in RFC 4180 (default: if a file is named *.csv)");
    command.add_flag("--tsv", tsv, "The same with tabs (default: if a file is named *.tsv)")
        .excludes("--csv");
    command.add_flag(
        "--header", header,
        "The first row of each file has the names of its columns (default: if --field is a name)");
    command
        .add_option("--delimiter CHARACTER", delimiter,
                    "What separates fields: an ASCII character, e.g. ';', \\t for a tab, or 'blank' for runs "
                    "of blanks and tabs; quotes are text, except in CSV and with a comma (default: comma in "
                    "CSV, else tab)")
        .check([](const std::string& text) {
            return text.size() == 1 || text == "\\t" || text == "blank"
                       ? std::string()
                       : "it takes one character, \\t, or blank";
        });
    command
        .add_option(
            "--json-path PATH", json_path,
            "Lines are JSON, and the key is the value at this path, e.g. user.id, .user.id or /user/id "
            "(default: none; the key is the whole line)")
        .excludes("--field")
        .excludes("--csv")
        .excludes("--tsv")
        .excludes("--delimiter");
    command.add_flag("--words", words, "Each word of the text is a key")
        .excludes("--field")
        .excludes("--csv")
        .excludes("--tsv")
        .excludes("--delimiter")
        .excludes("--json-path");
    command
        .add_option("--inner CHARACTERS", inner,
                    "Characters that belong to a word of --words inside it, not at its ends, e.g. \"'-\" "
                    "(default: ')")
        .needs("--words");
    command.add_flag(
        "--trim", trim,
        "Remove blanks, tabs and carriage returns from both ends of every key, and a byte-order mark "
        "from the start of a file");
    command.add_flag("--null", null, "Records end with a NUL byte instead of a newline")
        .excludes("--csv")
        .excludes("--tsv");
    command.add_flag("--integers", integers, "Keys are decimal integers, hashed as 64-bit numbers");
    command.add_flag("--skip-missing", skip_missing,
                     "Skip records without the field, JSON value or integer asked for, also lines that are "
                     "not JSON, and say how many there were (default: they are an error)");
    add_threads(command, threads);
}

unsigned key_options::thread_count() const { return threads != 0 ? threads : base::usable_cores(); }

digest key_options::hash(const hasher& hash, std::string_view key) const {
    return integers && !several_fields() ? hash(integer(key).value_or(0))
                                         : hash(key);  // for_each_key lets only integers pass
}

std::string key_options::bytes_of(std::string_view key) const {
    if (!integers || several_fields()) return std::string(key);
    const auto bytes = key_bytes(integer(key).value_or(0));
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

void key_options::refuse_both_from_stdin(const std::string& filter) const {
    if (filter == "-" && (files.empty() || std::ranges::count(files, "-") != 0)) {
        throw failure(
            "the filter and the keys cannot both come from standard input; name a file for one of them");
    }
}

void key_options::also_reads(const std::string& column) {
    if (!column.empty() && json_path.empty() && !column_number(column)) header = true;
}

bool key_options::has_header() const {
    const auto is_name = [](const std::string& column) { return !column_number(column); };
    return header || (!field.empty() && std::ranges::any_of(columns_of(field), is_name));
}

record_format key_options::format_of(const std::string& file) const {
    record_format format;
    format.end = record_end();
    format.cr_lf = lines_of_text && !null;
    const std::string extension = lines_of_text && field.empty() ? "" : extension_of(file);
    const bool commas = !tsv && (csv || extension == ".csv");
    const bool tabs = tsv || (delimiter.empty() && extension == ".tsv");
    const bool plain = null || words || !json_path.empty();
    format.blanks = delimiter == "blank";
    format.quotes = !plain && !format.blanks && (commas || tabs || delimiter == ",");
    if (commas) format.delimiter = ',';
    if (!delimiter.empty() && !format.blanks) format.delimiter = delimiter == "\\t" ? '\t' : delimiter[0];
    return format;
}

std::string key_options::shown(std::string_view key) const {
    if (!several_fields()) return std::string(key);
    std::string text;
    while (key.size() >= 8) {
        const auto number = load_little<std::uint64_t>(as_byte_view(key).data());
        key.remove_prefix(8);
        if (!text.empty()) text += '\t';
        if (integers) {
            text += std::to_string(static_cast<std::int64_t>(number));
        } else {
            text += key.substr(0, number);
            key.remove_prefix(std::min<std::size_t>(number, key.size()));
        }
    }
    return text;
}

std::size_t input_file::number_of(std::string_view column) const {
    if (const auto number = column_number(column)) {
        if (*number == 0) throw failure("columns are counted from 1");
        return *number;
    }
    const auto found = std::ranges::find(header, column);
    if (found != header.end()) return static_cast<std::size_t>(found - header.begin()) + 1;
    std::string names;
    for (const std::string& each : header) names += (names.empty() ? "" : ", ") + each;
    if (format.delimiter == '\t' && header.size() == 1 && record_format::looks_like_csv(names))
        names += "; if it is CSV, give --csv";
    throw failure(name + ": no column is named '" + std::string(column) + "'; its first row has: " + names);
}

std::optional<std::string> text_in(const key_options& options, const block& block, std::string_view record,
                                   const std::string& column) {
    if (!options.json_path.empty()) return json_value(record, parse_json_path(column));
    std::string scratch;
    const auto text = block.file->format.field(record, block.file->number_of(column), scratch);
    return text ? std::optional<std::string>(trimmed(*text)) : std::nullopt;
}

std::optional<std::uint64_t> number_in(const key_options& options, const block& block,
                                       std::string_view record, const std::string& column) {
    const auto text = text_in(options, block, record, column);
    if (const auto number = text ? parse_decimal(*text, 0) : std::nullopt) return *number;
    options.missing(block, record, "an unsigned integer in field " + column);
    return std::nullopt;
}

void key_options::missing(const block& block, std::string_view record, const std::string& what,
                          const std::string& hint) const {
    if (skip_missing) {
        std::atomic_ref(block.file->skipped).fetch_add(1, std::memory_order_relaxed);
        return;
    }
    const bool first = block.offset == 0 && record.data() == block.text.data();
    const bool names = first && json_path.empty() && !words && !has_header();
    throw failure(where(block, record) + ": a record without " + what + hint +
                  (names ? "; if it has the names of columns, give --header" : "") +
                  "; --skip-missing skips such records");
}

void for_each_key(const key_options& options, const block& block,
                  const std::function<void(std::string_view, std::string_view)>& use) {
    key_reader reader(options, block, use);
    std::string_view rest = block.text;
    while (!rest.empty()) reader.read(block.file->format.take_record(rest));
}

}  // namespace posy::tool
