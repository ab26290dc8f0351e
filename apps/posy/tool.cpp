#include "tool.hpp"

#include <unistd.h>

#include "base/file.hpp"

namespace posy::tool {

int exit_status = 0;

CLI::App* add_command(CLI::App& app, const std::string& name, const std::string& what,
                      const std::string& examples) {
    CLI::App* command = app.add_subcommand(name, what);
    command->footer("Examples:\n" + examples);
    return command;
}

std::string display_name(const std::string& path, bool output) {
    if (path != "-") return path;
    return output ? "standard output" : "standard input";
}

void for_each_filter(const std::vector<std::string>& paths,
                     const std::function<void(any_filter, const std::string&)>& use) {
    for (const std::string& path : paths) {
        const std::string name = display_name(path);
        const auto file =
            path == "-" ? base::descriptor(dup(STDIN_FILENO)) : take(base::open_for_reading(path), name);
        message_reader reader(file.get());
        while (auto filter = take(reader.next(), name)) use(std::move(*filter), name);
    }
}

any_filter load_filter(const std::string& path) {
    std::optional<any_filter> first;
    for_each_filter({path}, [&](any_filter filter, const std::string& name) {
        if (first) throw failure(name + ": more than one message; unite them first with 'posy union'");
        first = std::move(filter);
    });
    return std::move(*first);  // the reader does not end without a message or an error
}

void save_filter(const std::string& path, filter_ref filter) {
    const std::string name = display_name(path, true);
    if (path != "-") return take(save(path, filter), name);
    if (isatty(STDOUT_FILENO))
        throw failure("a filter is not for a terminal; name a file with -o, or redirect");
    take(write_message(STDOUT_FILENO, filter), name);
}

void print(std::string_view text) {
    take(base::write_fully(STDOUT_FILENO, as_byte_view(text)), "standard output");
}

}  // namespace posy::tool
