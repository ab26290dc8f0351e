#include "keys.hpp"

#include <charconv>
#include <nlohmann/json.hpp>

#include "numbers.hpp"
#include "posy/base/machine.hpp"
#include "tool.hpp"

namespace posy::tool {
namespace {

// Between commas a field is unquoted as in RFC 4180 when it starts with a quote; quotes do not reach over the
// end of a line. `scratch` holds the text where unquoting had to change it.
std::optional<std::string_view> field_of(std::string_view record, std::size_t number, char delimiter,
                                         std::string& scratch) {
    for (std::size_t i = 1;; ++i) {
        if (delimiter == ',' && record.starts_with('"')) {
            scratch.clear();
            std::size_t at = 1;
            for (; at < record.size(); ++at) {
                if (record[at] == '"') {
                    if (at + 1 == record.size() || record[at + 1] != '"') break;
                    ++at;  // a doubled quote stands for one
                }
                scratch.push_back(record[at]);
            }
            if (i == number) return scratch;
            const std::size_t end = record.find(delimiter, at);
            if (end == std::string_view::npos) return std::nullopt;
            record.remove_prefix(end + 1);
            continue;
        }
        const std::size_t end = record.find(delimiter);
        if (i == number) return record.substr(0, end);
        if (end == std::string_view::npos) return std::nullopt;
        record.remove_prefix(end + 1);
    }
}

nlohmann::json::json_pointer pointer(std::string path) {
    if (!path.starts_with('/')) {
        for (char& c : path) c = c == '.' ? '/' : c;
        path.insert(0, "/");
    }
    try {
        return nlohmann::json::json_pointer(path);
    } catch (const nlohmann::json::exception&) {
        throw failure("--json-path " + path +
                      ": write it as user.id or /user/id, with ~0 for ~ and ~1 for /");
    }
}

// Strings as they are, numbers and truth values as JSON writes them; other values are no keys.
std::optional<std::string> json_value(std::string_view record, const nlohmann::json::json_pointer& path) {
    const auto document = nlohmann::json::parse(record, nullptr, false);
    if (document.is_discarded() || !document.contains(path)) return std::nullopt;
    const auto& value = document[path];
    if (value.is_structured() || value.is_null()) return std::nullopt;
    return value.is_string() ? value.get<std::string>() : value.dump();
}

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
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || (c & 0x80) ||
           c == '\'';
}

// Runs of letters, digits and bytes of other scripts; an apostrophe counts inside a word, not at its ends.
template <class Use>
void split_words(std::string_view record, Use use) {
    for (std::size_t at = 0; at < record.size();) {
        std::size_t end = at;
        while (end < record.size() && in_word(record[end])) ++end;
        std::string_view word = record.substr(at, end - at);
        while (word.starts_with('\'')) word.remove_prefix(1);
        while (word.ends_with('\'')) word.remove_suffix(1);
        if (!word.empty()) use(word);
        at = end + 1;
    }
}

}  // namespace

std::string where(const block& block, std::string_view record) {
    const auto at = block.offset + static_cast<std::uint64_t>(record.data() - block.text.data());
    return *block.file + ": at byte " + std::to_string(at);
}

void key_options::add_to(command_line& command, const std::string& name, const std::string& what) {
    command.add_option(name, files, what);
    command
        .add_option("--field N", field,
                    "Number of the field that is the key, counted from 1 (default: the whole line)")
        .between(1, 1'000'000);
    command
        .add_option("--delimiter CHARACTER", delimiter,
                    "Character that separates fields, or \\t for a tab (default: comma in *.csv, else tab)")
        .check([](const std::string& text) {
            return text.size() == 1 || text == "\\t" ? std::string()
                                                     : "--delimiter takes one character, or \\t";
        });
    command
        .add_option("--json-path PATH", json_path,
                    "Lines are JSON, and the key is the value at this path, e.g. user.id or /user/id "
                    "(default: none; the key is the whole line)")
        .excludes("--field");
    command.add_flag("--words", words, "Each word of the text is a key")
        .excludes("--field")
        .excludes("--json-path");
    command.add_flag("--null", null, "Records end with a NUL byte instead of a newline");
    command.add_flag("--integers", integers, "Keys are decimal integers, hashed as 64-bit numbers");
    command.add_flag(
        "--skip-missing", skip_missing,
        "Skip records without the field, JSON value or integer asked for (default: they are an error)");
    add_threads(command, threads);
}

unsigned key_options::thread_count() const { return threads != 0 ? threads : base::usable_cores(); }

digest key_options::hash(const hasher& hash, std::string_view key) const {
    return integers ? hash(integer(key).value_or(0)) : hash(key);  // for_each_key lets only integers pass
}

void key_options::refuse_both_from_stdin(const std::string& filter) const {
    if (filter == "-" && (files.empty() || std::ranges::count(files, "-") != 0)) {
        throw failure(
            "the filter and the keys cannot both come from standard input; name a file for one of them");
    }
}

std::uint64_t number_in(const key_options& options, const block& block, std::string_view record,
                        std::size_t field, unsigned decimals) {
    std::string scratch;
    const auto text = options.field_of(block, record, field, scratch);
    if (const auto number = text ? parse_decimal(*text, decimals) : std::nullopt) return *number;
    throw failure(where(block, record) + ": no unsigned " + (decimals == 0 ? "integer" : "number") +
                  " in field " + std::to_string(field));
}

std::optional<std::string_view> key_options::field_of(const block& block, std::string_view record,
                                                      std::size_t number, std::string& scratch) const {
    const bool csv = delimiter.empty() && block.file->ends_with(".csv");
    const char separator = csv ? ',' : delimiter.empty() || delimiter == "\\t" ? '\t' : delimiter[0];
    return tool::field_of(record, number, separator, scratch);
}

void key_options::missing(const block& block, std::string_view record, const std::string& what) const {
    if (skip_missing) return;
    throw failure(where(block, record) + ": a record without " + what +
                  "; --skip-missing skips such records");
}

void for_each_key(const key_options& options, const block& block,
                  const std::function<void(std::string_view, std::string_view)>& use) {
    std::string scratch;
    const auto path = options.json_path.empty() ? nlohmann::json::json_pointer() : pointer(options.json_path);

    const auto give = [&](std::string_view key, std::string_view record) {
        if (options.integers && !integer(key)) return options.missing(block, record, "a 64-bit integer");
        use(key, record);
    };

    std::string_view rest = block.text;
    while (!rest.empty()) {
        const std::size_t end = rest.find(options.record_end());
        const std::string_view record = rest.substr(0, end);
        rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
        if (options.words) {
            split_words(record, [&](std::string_view word) { give(word, word); });
        } else if (options.field != 0) {
            const auto key = options.field_of(block, record, options.field, scratch);
            key ? give(*key, record)
                : options.missing(block, record, "field " + std::to_string(options.field));
        } else if (!options.json_path.empty()) {
            const auto key = json_value(record, path);
            key ? give(*key, record) : options.missing(block, record, "a value at " + options.json_path);
        } else {
            give(record, record);
        }
    }
}

}  // namespace posy::tool
