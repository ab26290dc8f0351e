// posy node: the daemon that tells others what it holds and knows who holds what.
#include <csignal>

#include "node/node.hpp"

#include <fmt/format.h>

#include "node/key_repair.hpp"
#include "node_options.hpp"
#include "numbers.hpp"
#include "tool.hpp"

namespace posy::tool {
namespace {

void repair(const std::string& folder) {
    if (folder.empty()) throw failure("node: --repair needs the folder of the keys; name it with --data");
    const auto done = node::repair_keys(folder);
    const auto number = [](std::uint64_t n) { return count(static_cast<double>(n)); };
    // What a repair could not recover is not missed by the next one.
    const std::string since = done.earlier.empty() ? "" : " since the repair that left " + done.earlier;
    if (done.copy.empty()) {
        print(fmt::format(
            "{}: nothing is wrong with it: it has the {} keys that were kept{}; nothing was changed\n",
            folder, number(done.keys), since));
        return;
    }
    std::string of = ", and how many there were is not known";
    if (done.expected)
        of = done.exact ? ": all that there were" + since
                        : fmt::format(
                              ", and {} were kept; those that are missing are lost, and keys that had been "
                              "removed may be back",
                              number(*done.expected));
    print(fmt::format("{}: {} keys recovered{}\nwhat was there before is in {}\n", folder, number(done.keys),
                      of, done.copy));
    if (!done.exact) throw answer_is_no{};
}

struct arguments {
    node_arguments node;
    overlay_arguments overlay;
    bool repairing = false;
};

void declare(command_line& command, arguments& a) {
    add_node_options(command, a.node,
                     {.command = "node",
                      .listen = "127.0.0.1:3130",
                      .items = "Keys that the summary is planned for, e.g. 1000000 or 1M",
                      .clients = "ask who has a key",
                      .servers = "peers",
                      .state = "Folder that keeps the page's history over restarts (default: none)"});
    command.add_option("--data FOLDER", a.node.how.data,
                       "Folder for the keys (default: none; the keys are lost when the node stops)");
    command.add_flag(
        "--sync", a.node.how.sync,
        "Answer a change only when it is on disk, so that it survives a loss of power; costs three disk "
        "flushes per key, or per 256 lines of one POST; needs --data (default: off)");
    command.add_option(
        "--check-list FILE", a.node.how.check,
        "Filter of any kind that POST /check asks for the keys of its lines, or list of 'posy password seal' "
        "that it asks for a password; read again on SIGHUP (default: none)");
    add_overlay_options(command, a.overlay);
    command.add_flag(
        "--repair", a.repairing,
        "Recover the keys of a damaged --data folder, print how many there are, and exit; the old files "
        "are kept in a new folder damaged-N in it");
}

node::options checked(const arguments& a) {
    if (a.node.how.sync && a.node.how.data.empty())
        throw failure("--sync needs the folder of the keys; name it with --data");
    return node_options(a.node);
}

// A port that is still to be chosen may be any.
void check_overlay(const overlay_arguments& a, node::options how) {
    for (auto* all : {&how.listen, &how.listen_tls})
        for (auto& at : *all) at.port = std::max<std::uint16_t>(at.port, 1);
    take_overlay(a, how);
}

// What a start would refuse, as far as it can be known before. The filter of /check, unless it is the one in
// use, which is read again anyway.
void check(const arguments& a, const node::options& how, std::string_view list_in_use) {
    check_overlay(a.overlay, how);
    check_files(how);
    if (!how.check.empty() && how.check != list_in_use) node::check_service list(how.check);
}

// Takes what can change from the arguments and files as they are now.
void reload(const arguments& running, const std::vector<std::string>& words,
            const std::vector<setting>& settings, node::node& node) {
    arguments next;
    const auto now = settings_again(words, [&](command_line& command) { declare(command, next); });
    const auto& config = next.node.config;
    try {
        auto whole = checked(next);
        whole.listen = node.how().listen;
        whole.listen_tls = node.how().listen_tls;
        check(next, whole, node.how().check);
        keep_listening(next.node, running.node);
        node.reload(checked(next));
    } catch (const std::runtime_error& wrong) {
        throw failure(config.located(wrong.what()));
    }
    warn(*node.how().log, config, node_doubts(next.node));
    auto reloaded = reloaded_options;
    if (node.how().overlay.kind != node::overlay_kind::none) reloaded.erase("peer");  // a neighbour
    warn_of_restarts(*node.how().log, config, changed(settings, now, reloaded));
}

void run(arguments& a, const std::vector<std::string>& words, const std::vector<setting>& settings) {
    if (a.repairing) return repair(a.node.how.data);
    a.node.sockets = inherited_sockets();
    const node::options how = checked(a);
    node::node* self = nullptr;
    http::system_time time;
    http::server server(time, how.serving, [&self](http::request& r) -> http::task<void> {
        const bool ours = co_await self->handle(r);
        if (!ours) throw http::refusal(400, "this is a node, not a proxy: ask for a path, not for a URL");
    });
    auto bound = listen_on(server, how, a.node.sockets);
    take_overlay(a.overlay, bound);
    node::node node(bound, server);
    self = &node;
    bound.log->info("{}; {} keys", about(a.node.config), node.set().describe().items);
    warn(*bound.log, a.node.config, node_doubts(a.node));
    serve(server, node, bound, {.settings = [&] { reload(a, words, settings, node); }, .logs = {}});
}

}  // namespace

void add_node(command_line& app, const std::vector<std::string>& words) {
    command_line command = add_command(
        app, "node", "Publish a set of keys to peers, and say which peers may have a key (docs/node.md)",
        "  posy node --data keys --peer b=http://10.0.0.2:3130 --peer c=http://10.0.0.3:3130\n"
        "  seq 1000 | sed s/^/+/ | curl -s --data-binary @- http://127.0.0.1:3130/keys\n"
        "  curl 'http://127.0.0.1:3130/who?key=7'\n"
        "  posy node --config /etc/posy/node.toml --check\n"
        "  posy node --data keys --hash siphash --rehash 1h --change-bits 0.001\n"
        "  posy node --listen 0.0.0.0:3130 --host-name a.example --allow-peer 10.0.0.0/24 --data keys\n"
        "  posy node --overlay mesh --join http://10.0.0.2:3130 --url http://10.0.0.1:3130\n"
        "  posy node --overlay tree --parent http://10.0.0.2:3130 --listen 10.0.0.1:3130 --allow-peer "
        "private\n"
        "  posy node --check-list leaked.posy      curl --data-binary @- http://127.0.0.1:3130/check\n"
        "  posy node --data keys --repair          after a start that says that the keys are damaged\n"
        "Exit status of --repair: 0 if every key is there again or nothing was wrong, 1 if not or not "
        "known,\n"
        "2 on an error.");
    auto a = std::make_shared<arguments>();
    declare(command, *a);
    command.runs([a, command, words] {
        std::signal(SIGPIPE, SIG_IGN);  // a peer that hangs up is no reason to end
        run_configured(
            a->node.config,
            [a] {
                check(*a, checked(*a), "");
                return node_doubts(a->node);
            },
            [&] { run(*a, words, command.settings()); });
    });
}

}  // namespace posy::tool
