// A file of options in TOML: what it says, and where.
//
// A key is the name of an option without its dashes; its value is a string, a number, a boolean for an option
// without a value, or an array for one that may be repeated. Keys at the top are for every command, those in
// a table for the command of its name. Which keys there are, the file does not know: whoever reads it asks
// the command. Errors start with FILE:LINE:COLUMN.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace posy::tool {

struct file_setting {
    std::string key;
    std::vector<std::string> values;  // of a boolean: true or false
    bool boolean = false, array = false;
    std::string place;  // FILE:LINE:COLUMN
};

// The settings for a command, in the order of their keys. Tables of the other commands are left alone; there
// are no further tables. Throws failure.
std::vector<file_setting> read_config_file(const std::string& path, std::string_view command,
                                           const std::vector<std::string>& other_commands);

}  // namespace posy::tool
