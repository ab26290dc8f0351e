// Filters in the formats of other programs, as files of the tool.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "posy/dialect/foreign_filter.hpp"

namespace posy::tool {

class command_line;

// The options of commands that read or build such filters.
struct foreign_options {
    std::string format, block_hash, column;
    bool jenkins = false, takes_column = false;

    // `what` the format is of.
    void add_to(command_line&, const std::string& what);
    // For commands that only read.
    void add_column_to(command_line&);
    // For commands that build.
    void add_choices_to(command_line&);
    std::optional<dialect> asked_for() const;
    dialect_options to_dialect_options() const;
    // With the choices that are made when one is built. Throws failure if the format has no such choice.
    dialect_options to_dialect_options(std::optional<hash_seed>) const;
};

// The filter of another program in this file, whether gzip or zstd has compressed it or not; none if it is a
// file of Posy's. Standard input and URLs are Posy's unless a format is asked for. Throws failure.
std::unique_ptr<foreign_filter> load_foreign(const std::string& path, const foreign_options&);

// Throws failure if the file is a filter of another program: for commands that do not take one, or with what
// follows its name.
void refuse_foreign(const std::string& path);
void refuse_foreign(const std::string& path, const std::string& why);
// The error, with a word about --format if what begins standard input is no message.
error with_hint_at_format(error, const std::string& path);

// Written to a temporary name first, unless it is standard output.
void save_foreign(const std::string& path, byte_view);

// What 'posy info' says of it.
std::string describe(const foreign_filter&, const std::string& name, bool json);

}  // namespace posy::tool
