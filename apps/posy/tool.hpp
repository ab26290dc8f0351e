// What the commands of the tool share: how one is added, how it fails, how filters come in and go out.
//
// A command is a file with one function that adds a subcommand and its callback. Exit statuses follow grep: 0
// if something was found or done, 1 if nothing was, 2 on an error. A callback that returns is a 0; the other
// two are thrown.
#pragma once

#include <stdexcept>
#include <string>
#include <vector>

#include "cli_forward.hpp"
#include "posy/message.hpp"
#include "source.hpp"

namespace posy::tool {

class change_lock;

// Exit status 2, and the text is the one line that the user sees.
struct failure : std::runtime_error {
    using std::runtime_error::runtime_error;
};

// Exit status 1: all is done, printed and saved, and the answer is no.
struct answer_is_no {};

// The text of an error for the command line: if it is about a limit, it names the option that raises it.
std::string text_of(const error&, std::string_view option = "--max-array");

// The value, or a failure that names the file first.
template <class T>
T take(result<T> value, const std::string& name) {
    if (!value) throw failure(name + ": " + text_of(value.error()));
    if constexpr (!std::is_void_v<T>) return std::move(*value);
}

// "-" is standard input or output, everywhere.
std::string display_name(const std::string& path, bool output = false);
// An option for a number of bytes, as parse_amount() reads it: 500M, 64KiB. `what` names the default.
void add_size(CLI::App&, const std::string& name, std::uint64_t& value, const std::string& what);

// The option of every command that reads messages: how much memory one may take.
struct reading_options {
    std::string max_array;  // empty: the library's own limits

    void add_to(CLI::App&);
    read_limits limits() const;
};

// The one message of a file or URL.
message load_message(const std::string& path, const read_limits&, const fetch_options& = {});
// "a filter", "a sealed filter", …
std::string kind_name(const any_body&);
// The plain filter of a body: itself, the projection of a counting filter, the array of a queryable one or of
// a growing one that has only one. Throws failure for others.
bloom_filter plain_of(any_body, const std::string& name);
bloom_filter load_plain(const std::string& path, const read_limits&);
// Calls use(message, name of its file) for every message of every file or URL. The messages of one file share
// the allowance of short messages: many of them take no more memory than one.
void for_each_message(const std::vector<std::string>& paths,
                      const std::function<void(message, const std::string&)>& use, const read_limits&,
                      const fetch_options& = {});
// `held` is the lock of the command that saves, if it has one: it may be the lock of this very file.
void save_body(const std::string& path, body_ref, const packing& = {}, const change_lock* held = nullptr);
// One line on standard error if the filter, saved under this name, holds more than it was planned for.
void warn_if_past_plan(const bloom_filter&, const std::string& path);
// The same for a body that can be added to.
void warn_if_past_plan(const any_body&, const std::string& path);
// Fails now if nothing could be written there later, before the work is done.
void check_output(const std::string& path);
// Two inputs of one command cannot both be standard input.
void refuse_both_from_stdin(const std::string& a, const std::string& b);

// Standard output, where every write is checked: a full disk or a closed pipe is a failure.
void print(std::string_view text);

void add_plan(CLI::App&);
void add_build(CLI::App&);
void add_query(CLI::App&);
void add_add_and_remove(CLI::App&);
void add_info(CLI::App&);
void add_set_algebra(CLI::App&);
void add_compare(CLI::App&);
void add_pack(CLI::App&);
void add_count(CLI::App&);
// `peer_command` is what the command line has after "--" in `posy reconcile … -- COMMAND`.
void add_reconcile(CLI::App&, const std::vector<std::string>& peer_command);
void add_seal(CLI::App&);
void add_seen(CLI::App&);
void add_papers(CLI::App&);
#ifdef POSY_NODE
void add_follow(CLI::App&);
void add_node(CLI::App&);
void add_proxy(CLI::App&);
void add_replay(CLI::App&);
#endif
void add_delta(CLI::App&);
void add_tour(CLI::App&);
void add_manual(CLI::App&);

// A subcommand with its one-line description and, in its footer, examples.
CLI::App* add_command(CLI::App& app, const std::string& name, const std::string& what,
                      const std::string& examples);

}  // namespace posy::tool
