// posy: a good Unix filter for Bloom filters. One file per command; docs/tool.md shows them all.
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <string_view>

#include "tool.hpp"

namespace posy::tool {
namespace {

// What stands after "--" in `posy reconcile … -- COMMAND`, cut off from the arguments.
std::vector<std::string> take_peer_command(int& argc, char** argv) {
    if (argc < 2 || std::string_view(argv[1]) != "reconcile") return {};
    char** const end = argv + argc;
    char** const dashes = std::find(argv, end, std::string_view("--"));
    if (dashes == end) return {};
    std::vector<std::string> command(dashes + 1, end);
    if (command.empty()) throw failure("reconcile: there is no command after --; leave -- out, or add one");
    argc = static_cast<int>(dashes - argv);
    return command;
}

int run(int argc, char** argv) {
    const std::vector<std::string> peer_command = take_peer_command(argc, argv);
    program app(
        "posy", "posy " POSY_VERSION,
        "Bloom filters built to travel: sets in a few bits per item, sent in as few as theory allows",
        "Files hold messages; - is standard input or output; a key is a line unless an option says "
        "otherwise.\n"
        "'posy COMMAND --help' shows examples; 'posy tour' shows the main ones in less than a minute.\n" +
            std::string(amount_units));
    add_plan(app);
    add_build(app);
    add_query(app);
    add_add_and_remove(app);
    add_info(app);
    add_set_algebra(app);
    add_compare(app);
    add_convert(app);
    add_pack(app);
    add_delta(app);
    add_count(app);
    add_flows(app);
    add_reconcile(app, peer_command);
    add_seal(app);
    add_seen(app);
    add_password(app);
    add_spell(app);
    add_hyphenate(app);
    add_papers(app);
    add_simulate(app);
    add_trace(app);
#ifdef POSY_NODE
    add_follow(app);
    const std::vector<std::string> words(argv + std::min(argc, 1), argv + argc);
    add_node(app, words);
    add_proxy(app, words);
    add_replay(app);
#endif
    add_tour(app);
    add_manual(app);
    try {
        app.run(argc, argv);
    } catch (const answer_is_no&) {
        return 1;
    } catch (const std::bad_alloc&) {
        std::fprintf(stderr, "posy: out of memory; use a smaller filter, --items, or fewer --threads\n");
        return 2;
    }
    return 0;
}

}  // namespace
}  // namespace posy::tool

int main(int argc, char** argv) {
    // Input files are mapped: if one becomes shorter while we read it, the system sends this signal.
    std::signal(SIGBUS, [](int) {
        constexpr std::string_view line = "posy: an input file became shorter while it was read\n";
        if (write(STDERR_FILENO, line.data(), line.size()) < 0) _exit(3);
        _exit(2);
    });
    try {
        return posy::tool::run(argc, argv);
    } catch (const posy::tool::closed_pipe&) {
        std::signal(SIGPIPE, SIG_DFL);
        return std::raise(SIGPIPE);
    } catch (const std::exception& e) {
        std::fprintf(stderr, "posy: %s\n", e.what());
        return 2;
    }
}
