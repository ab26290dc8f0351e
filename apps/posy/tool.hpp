// What the commands of the tool share: how one is added, how it fails, how filters come in and go out.
//
// A command is a file with one function that adds a subcommand and its callback. Exit statuses follow grep: 0
// if something was found or done, 1 if nothing was, 2 on an error. A callback that returns is a 0; the other
// two are thrown.
#pragma once

#include <stdexcept>
#include <string>
#include <vector>

#include "command_line.hpp"
#include "numbers.hpp"
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
// An option for a number as parse_amount() reads it: 500M, 64KiB, 2^20. A text keeps what was written.
template <option_value T>
option add_amount(command_line& command, const std::string& names, T& into, const std::string& help) {
    const option added = command.add_option(names, into, help);
    if constexpr (std::same_as<T, std::string>) {
        return added.check([](const std::string& text) {
            try {
                parse_amount(text);
            } catch (const wrong_use& wrong) {
                return std::string(wrong.what());
            }
            return std::string();
        });
    } else {
        return added.reads([](const std::string& text) { return std::to_string(parse_amount(text)); });
    }
}

// The option --threads; 0 stands for all cores.
void add_threads(command_line&, unsigned& into);

// The option of every command that reads messages: how much memory one may take.
struct reading_options {
    std::string max_array;  // empty: the library's own limits

    void add_to(command_line&);
    read_limits limits() const;
};

// The one message of a file or URL.
message load_message(const std::string& path, const read_limits&, const fetch_options& = {});
// Of the arrays of a message, at least. Whatever else a message holds takes no more memory than its bytes.
std::uint64_t memory_of(const any_body&);
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

// Whoever reads the output has enough, and SIGPIPE is ignored. It ends the command without a word, as the
// signal does where it is not ignored.
struct closed_pipe {};

// Standard output, where every write is checked: a full disk is a failure.
void print(std::string_view text);

void add_plan(command_line&);
void add_build(command_line&);
void add_query(command_line&);
void add_add_and_remove(command_line&);
void add_info(command_line&);
void add_set_algebra(command_line&);
void add_compare(command_line&);
void add_convert(command_line&);
void add_pack(command_line&);
void add_count(command_line&);
void add_flows(command_line&);
void add_hyphenate(command_line&);
// `peer_command` is what the command line has after "--" in `posy reconcile … -- COMMAND`.
void add_reconcile(command_line&, const std::vector<std::string>& peer_command);
void add_seal(command_line&);
void add_seen(command_line&);
void add_password(command_line&);
void add_spell(command_line&);
void add_papers(command_line&);
void add_trace(command_line&);
void add_simulate(command_line&);
#ifdef POSY_NODE
void add_follow(command_line&);
// `words` are the arguments of the program, which a daemon reads again when it is told to.
void add_node(command_line&, const std::vector<std::string>& words);
void add_proxy(command_line&, const std::vector<std::string>& words);
void add_replay(command_line&);
#endif
void add_delta(command_line&);
void add_tour(command_line&);
void add_manual(program&);

// A subcommand with its one-line description and, in its footer, examples.
command_line add_command(command_line& program, const std::string& name, const std::string& what,
                         const std::string& examples);

}  // namespace posy::tool
