// Where keys come from: files and pipes, cut into records, and a key in each record.
//
// Input is handed out in blocks that end with a record, to all threads; a regular file that is not compressed
// is mapped and never copied. Inside a block, records are lines (or end with NUL, or are rows of CSV), and
// the key is the record, one of its fields or several, a JSON value in it, or each of its words.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "posy/bloom_filter.hpp"
#include "record_format.hpp"

namespace posy::tool {

class command_line;

struct block;

struct key_options {
    std::vector<std::string> files;  // none: standard input
    std::string field;               // columns, separated by commas; empty: the whole record
    std::string delimiter;           // of fields; empty: by the name of the file
    std::string json_path;           // a.b.c or /a/b/c
    std::string inner = "'";         // characters that belong to a word if letters surround them
    bool csv = false, tsv = false, header = false;
    bool words = false;
    bool null = false;
    bool integers = false;
    bool trim = false;
    bool skip_missing = false;
    // For a command whose keys are lines as any editor writes them: they end with LF or CR LF, a byte-order
    // mark is not part of the first one, and only where a field is asked for does a name say *.csv or *.tsv.
    bool lines_of_text = false;
    unsigned threads = 0;
    int stop = -1;  // a descriptor: the input ends when this can be read

    // `name` is that of the positional argument, and `what` its description.
    void add_to(command_line&, const std::string& name = "KEYS",
                const std::string& what =
                    "Files of keys, compressed by gzip or zstd or not; - or none for "
                    "standard input");
    // The command reads this column as well: if it is a name, files have a header.
    void also_reads(const std::string& column);
    bool has_header() const;
    char record_end() const { return null ? '\0' : '\n'; }
    record_format format_of(const std::string& file) const;
    unsigned thread_count() const;
    // The key's digest; an integer in integer mode.
    digest hash(const hasher&, std::string_view key) const;
    // What is hashed: the eight bytes of an integer in integer mode.
    std::string bytes_of(std::string_view key) const;
    // A key for people: the parts of one of several fields, separated by tabs.
    std::string shown(std::string_view key) const;
    bool several_fields() const { return field.find(',') != std::string::npos; }
    // Throws failure for a record without what it should have, unless such records are to be skipped.
    void missing(const block&, std::string_view record, const std::string& what,
                 const std::string& hint = "") const;
    void refuse_both_from_stdin(const std::string& filter) const;
};

// A file of records.
struct input_file {
    std::string name;
    record_format format;
    std::vector<std::string> header;  // the names of its columns, if it has them
    // So much from its start stands in memory before the text of a block that begins there.
    std::uint64_t at_hand = 0;
    mutable std::uint64_t skipped = 0;  // records, counted by all threads

    // Columns have numbers from 1 and, with a header, names. Throws failure if there is no such one.
    std::size_t number_of(std::string_view column) const;
};

// Some records of one file.
struct block {
    std::string_view text;       // whole records
    std::uint64_t sequence = 0;  // blocks are numbered through all files
    const input_file* file = nullptr;
    std::uint64_t offset = 0;  // of the text in its file
};

// What stands in a column of a record of the block, or, where records are JSON, at this path.
std::optional<std::string> text_in(const key_options&, const block&, std::string_view record,
                                   const std::string& column);

// Calls work(block) for all of the input, on several threads, in any order. `title` is what the progress on a
// terminal is called.
void for_each_block(const key_options&, const std::string& title,
                    const std::function<void(const block&)>& work);

// Calls use(key, record) for every key of the block; the text is valid during the call. Throws failure
// for a record without a key, unless such records are to be skipped.
//
// A key of several fields is the fields one after the other: text behind its length, which has 8 bytes, and
// an integer as 8 bytes; all little-endian. So it is the key that a std::tuple is in posy/key.hpp.
void for_each_key(const key_options&, const block&,
                  const std::function<void(std::string_view key, std::string_view record)>& use);

// "FILE: at byte N, line L", for an error about a record of the block; the line if that is at hand.
std::string where(const block&, std::string_view record);

// The unsigned integer there; if there is none, nothing, or a failure unless such records are to be skipped.
std::optional<std::uint64_t> number_in(const key_options&, const block&, std::string_view record,
                                       const std::string& column);

// Calls use(digests) with the digests of all keys, in batches, on several threads, in any order.
void for_each_batch(const key_options&, const hasher&, const std::string& title,
                    const std::function<void(std::span<const digest>)>& use);

// Inserts all keys, on several threads.
void insert_keys(bloom_filter&, const key_options&, const hasher&, const std::string& title);

// True if all input is in files that can be read twice.
bool seekable(const key_options&);
std::uint64_t count_keys(const key_options&);

}  // namespace posy::tool
