// Where keys come from: files and pipes, cut into records, and a key in each record.
//
// Input is handed out in blocks that end with a record, to all threads; a regular file is
// mapped and never copied. Inside a block, records are lines (or end with NUL), and the key is the record,
// one of its fields, a JSON value in it, or each of its words.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "posy/bloom_filter.hpp"

namespace posy::tool {

class command_line;

struct block;

struct key_options {
    std::vector<std::string> files;  // none: standard input
    std::size_t field = 0;           // 1 is the first; 0: the whole record
    std::string delimiter;           // of fields; empty: a comma in *.csv, else a tab
    std::string json_path;           // a.b.c or /a/b/c
    bool words = false;
    bool null = false;
    bool integers = false;
    bool skip_missing = false;
    unsigned threads = 0;
    int stop = -1;  // a descriptor: the input ends when this can be read

    // `name` is that of the positional argument, and `what` its description.
    void add_to(command_line&, const std::string& name = "KEYS",
                const std::string& what = "Files of keys; - or none for standard input");
    char record_end() const { return null ? '\0' : '\n'; }
    unsigned thread_count() const;
    // The key's digest; an integer in integer mode.
    digest hash(const hasher&, std::string_view key) const;
    // A field of a record of the block; `scratch` holds its text if quotes had to be removed.
    std::optional<std::string_view> field_of(const block&, std::string_view record, std::size_t number,
                                             std::string& scratch) const;
    // Throws failure for a record without what it should have, unless such records are to be skipped.
    void missing(const block&, std::string_view record, const std::string& what) const;
    void refuse_both_from_stdin(const std::string& filter) const;
};

// Some records of one file.
struct block {
    std::string_view text;       // whole records
    std::uint64_t sequence = 0;  // blocks are numbered through all files
    const std::string* file = nullptr;
    std::uint64_t offset = 0;  // of the text in its file
};

// Calls work(block) for all of the input, on several threads, in any order. `title` is what the progress on a
// terminal is called.
void for_each_block(const key_options&, const std::string& title,
                    const std::function<void(const block&)>& work);

// Calls use(key, record) for every key of the block; the text is valid during the call. Throws failure
// for a record without a key, unless such records are to be skipped.
void for_each_key(const key_options&, const block&,
                  const std::function<void(std::string_view key, std::string_view record)>& use);

// "FILE: at byte N", for an error about a record of the block.
std::string where(const block&, std::string_view record);

// The number in a field of a record, which is one of the block, in units of 10^-decimals. Throws failure if
// there is none.
std::uint64_t number_in(const key_options&, const block&, std::string_view record, std::size_t field,
                        unsigned decimals = 0);

// Calls use(digests) with the digests of all keys, in batches, on several threads, in any order.
void for_each_batch(const key_options&, const hasher&, const std::string& title,
                    const std::function<void(std::span<const digest>)>& use);

// Inserts all keys, on several threads.
void insert_keys(bloom_filter&, const key_options&, const hasher&, const std::string& title);

// True if all input is in files that can be read twice.
bool seekable(const key_options&);
std::uint64_t count_keys(const key_options&);

}  // namespace posy::tool
