// What the commands of the tool share: how one is added, how it fails, how filters come in and go out.
//
// A command is a file with one function that adds a subcommand and its callback. It fails by throwing
// `failure`, whose text is the one line the user sees; main turns it into exit status 2. Exit statuses follow
// grep: 0 something was found or done, 1 nothing was, 2 an error.
#pragma once

#include <CLI/CLI.hpp>
#include <stdexcept>
#include <string>
#include <vector>

#include "posy/message.hpp"

namespace posy::tool {

struct failure : std::runtime_error {
    using std::runtime_error::runtime_error;
};

// The value, or a failure that names the file first.
template <class T>
T take(result<T> value, const std::string& name) {
    if (!value) throw failure(name + ": " + value.error().text());
    if constexpr (!std::is_void_v<T>) return std::move(*value);
}

// "-" is standard input or output, everywhere.
std::string display_name(const std::string& path, bool output = false);
any_filter load_filter(const std::string& path);
// Calls use(filter, name of its file) for every message of every file.
void for_each_filter(const std::vector<std::string>& paths,
                     const std::function<void(any_filter, const std::string&)>& use);
void save_filter(const std::string& path, filter_ref filter);

// Standard output, where every write is checked: a full disk or a closed pipe is a failure.
void print(std::string_view text);

// The exit status that the command in hand wants.
extern int exit_status;

void add_plan(CLI::App&);
void add_build(CLI::App&);
void add_query(CLI::App&);
void add_change(CLI::App&);
void add_info(CLI::App&);
void add_combine(CLI::App&);
void add_compare(CLI::App&);
void add_tour(CLI::App&);
void add_manual(CLI::App&);

// A subcommand with its one-line description and, in its footer, examples.
CLI::App* add_command(CLI::App& app, const std::string& name, const std::string& what,
                      const std::string& examples);

}  // namespace posy::tool
