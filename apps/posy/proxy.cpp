// posy proxy: a caching HTTP proxy whose siblings share compressed summaries.
#include "proxy/proxy.hpp"

#include <fmt/format.h>
#include <malloc.h>

#include <algorithm>
#include <csignal>

#include "node_options.hpp"
#include "posy/base/machine.hpp"
#include "posy/http_cache/disk_store.hpp"
#include "proxy_rules.hpp"
#include "tool.hpp"

namespace posy::tool {

namespace {

constexpr std::uint64_t least_memory = std::uint64_t{1} << 20;

// The allocator, told to keep to what is in use. Larger bodies are mapped one by one and go back to the
// system when they are freed; left to itself it raises that limit with every large body, and keeps them in
// heaps that never shrink. One heap for all threads: objects are freed by others than made them, and of
// several heaps each stays as large as it ever was (64 MB of small fields: 73 MB in one heap, 113 MB in
// several, the same CPU time).
void save_memory() {
    mallopt(M_MMAP_THRESHOLD, 64 * 1024);
    mallopt(M_ARENA_MAX, 1);
}

struct arguments {
    node_arguments node;
    proxy::options how;
    http_cache::disk_options disk;  // used if a folder is named
    std::string disk_folder;
    std::vector<std::string> destinations, origins, forwarders, parents;
    std::string log_format = "common";
    double origin_time = 30, silence_time = 60, tunnel_time = 300;
    rule_arguments rules;
};

void add_cache_options(command_line& command, arguments& a) {
    // No more than a quarter of what a small machine or container has.
    a.how.store.memory.bytes = std::min(a.how.store.memory.bytes, base::usable_memory() / 4);
    add_amount(
        command, "--memory SIZE", a.how.store.memory.bytes,
        "Memory for objects, e.g. 500M or 2GiB: those stored, being received and being sent, with heads "
        "and bookkeeping; an object that does not fit is passed on and not stored (default: 256MiB, at "
        "most a quarter of the memory of this machine or control group)");
    command.add_option("--disk FOLDER", a.disk_folder,
                       "Folder for objects that outlive a restart; created if missing (default: none)");
    add_amount(command, "--disk-bytes SIZE", a.disk.bytes,
               "Most bytes that the objects in --disk may take, e.g. 500M or 20GiB (default: 4GiB)");
    add_amount(
        command, "--max-object SIZE", a.how.max_object,
        "Largest answer to store, e.g. 500k or 64MiB, at most a tenth of --memory (an eighth with --disk); "
        "larger ones are passed on only (default: 8MiB, or what --memory allows)");
    add_amount(
        command, "--whole-object SIZE", a.how.whole_object,
        "Largest object to fetch as a whole in the background when a client asks for a part of it that is "
        "not stored, e.g. 100k or 4MiB; 0: none (default: 1MiB)");
    command
        .add_option("--misled N", a.node.how.misled,
                    "Publish a new summary when the last one has misled N requests: hits on objects that it "
                    "does not have yet, which siblings would fetch from the origin, and siblings that came "
                    "for an object that is gone; replaces --change (default: none)")
        .between(1, 65'535)
        .excludes("--change")
        .excludes("--change-bits");
    command.add_flag(
        "--keep-siblings", a.how.keep_siblings,
        "Also store answers that came from a sibling (default: off; only the sibling keeps them)");
    command.add_option(
        "--access-log FILE", a.how.access_log,
        "File for one line per request, opened again on SIGHUP and SIGUSR1; - is standard output (default: "
        "none)");
    command
        .add_option("--log-format FORMAT", a.log_format,
                    "Format of --access-log: common or combined, as Apache writes them; cache: combined, how "
                    "the request was answered, and milliseconds; json: an object with all of that per line")
        .one_of(names_of<proxy::log_format>())
        .shows_default();
    command
        .add_option("--connect-port PORT", a.how.connect_ports,
                    "Port that CONNECT may go to; may be repeated")
        .between(1, 65'535)
        .shows_default();
    command.add_option(
        "--allow-destination NETWORK", a.destinations,
        "Network outside the public Internet that clients may be connected to, as 10.1.0.0/16, loopback "
        "(with all addresses of this machine), link-local or private; others get 403; may be repeated "
        "(default: none)");
    command
        .add_option("--break-siblings SHARE", a.how.break_siblings,
                    "Share of questions to siblings to break, for tests")
        .hidden();
}

void add_time_options(command_line& command, arguments& a) {
    constexpr double a_year = 365 * 86400;
    command
        .add_option(
            "--origin-time SECONDS", a.origin_time,
            "Seconds until the head of an origin's answer has to be here, else 504; background renewals "
            "take no longer as a whole")
        .between(0.001, a_year)
        .shows_default();
    command
        .add_option("--silence-time SECONDS", a.silence_time,
                    "Seconds for which an answer may stand still, on its way to the proxy or to a client; "
                    "then it is cut off")
        .between(0.001, a_year)
        .shows_default();
    command
        .add_option("--tunnel-time SECONDS", a.tunnel_time,
                    "Seconds for which a tunnel (CONNECT, WebSocket) may be silent in both directions before "
                    "it is closed")
        .between(0.001, a_year)
        .shows_default();
}

void add_site_options(command_line& command, arguments& a) {
    command.add_option(
        "--origin SITE", a.origins,
        "Site to stand in front of, NAME=http://HOST:PORT or https: requests for the host "
        "NAME are answered from "
        "the cache or by that server; *.NAME is every name below NAME, * any other host; may be "
        "repeated; then other hosts get 421 (default: none)");
    command.add_flag(
        "--backend-host", a.how.sites.backend_host,
        "Send the servers of --origin their own names in Host (default: the name that the client "
        "asked for)");
    command.add_option(
        "--forwarded-by NETWORK", a.forwarders,
        "Network of load balancers in front of this proxy, whose X-Forwarded-For, X-Forwarded-Proto and "
        "Forwarded "
        "are believed and completed, as 10.1.0.0/16 or private; for --origin; may be repeated (default: "
        "loopback)");
    command.add_flag("--also-forward", a.how.also_forward,
                     "With --origin, stay a forward proxy for other hosts as well (default: off)");
}

void add_parent_options(command_line& command, arguments& a) {
    command.add_option(
        "--parent URL", a.parents,
        "Proxy that misses and tunnels go through, http://HOST:PORT or https; may be repeated: they "
        "are tried in this order, one that failed last of all for 10 seconds (default: none)");
    command.add_flag(
        "--direct", a.how.direct,
        "Ask origins directly where no --parent can be reached (default: such requests get 502)");
}

std::vector<http::url> parents_of(const std::vector<std::string>& texts) {
    std::vector<http::url> all;
    for (const auto& text : texts) {
        const auto made = http::parse_server(text);
        if (!made || made->path != "/") throw failure("--parent " + text + ": write http://HOST:PORT");
        all.push_back(*made);
    }
    return all;
}

proxy::site_options site_options(const arguments& a) {
    auto how = a.how.sites;
    for (const auto& text : a.origins) {
        auto made = proxy::parse_site(text);
        if (!made) throw failure("--origin " + made.error().message);
        if (std::ranges::count(how.all, made->host, &proxy::site::host) > 0)
            throw failure("--origin " + text + ": this host is named twice");
        how.all.push_back(std::move(*made));
    }
    // A page of any host could then come from the site, or from that host, for either kind of client.
    if (a.how.also_forward && std::ranges::count(how.all, "*", &proxy::site::host) > 0)
        throw failure(
            "--also-forward: with --origin *=… every host is a site; name the sites, or leave this out");
    how.forwarders = networks_of("--forwarded-by", a.forwarders);
    if (a.forwarders.empty()) how.forwarders = *http::parse_networks("loopback");
    return how;
}

proxy::options proxy_options(const arguments& a) {
    proxy::options how = a.how;
    how.log_format = *named<proxy::log_format>(a.log_format);
    how.origin_time = milliseconds(a.origin_time);
    how.silence_time = milliseconds(a.silence_time);
    how.tunnel_time = milliseconds(a.tunnel_time);
    how.sites = site_options(a);
    how.parents = parents_of(a.parents);
    how.destinations = networks_of("--allow-destination", a.destinations);
    take_rules(a.rules, how);
    if (!a.disk_folder.empty()) {
        how.store.disk = a.disk;
        how.store.disk->directory = a.disk_folder;
    }
    const auto memory = how.store.memory.bytes;
    if (memory < least_memory) throw failure(fmt::format("--memory {}: give at least 1MiB", memory));
    if (memory > base::usable_memory())
        throw failure(
            fmt::format("--memory {}: this process may use {} bytes (machine or control group); give less",
                        memory, base::usable_memory()));
    if (const auto most = proxy::most_of_one_object(how.store); how.max_object > most)
        throw failure(
            fmt::format("--max-object {}: with --memory {} at most {} bytes of an answer can be "
                        "stored; give less, or more --memory",
                        how.max_object, memory, most));
    return how;
}

const std::vector<dependency> dependencies = {{"disk-bytes", "disk"},
                                              {"direct", "parent"},
                                              {"also-forward", "origin"},
                                              {"backend-host", "origin"},
                                              {"forwarded-by", "origin"}};

// What may be meant otherwise than it is written.
std::vector<std::string> all_doubts(const arguments& a) {
    auto all = node_doubts(a.node);
    for (const auto& [option, texts] :
         {std::pair("--allow-destination", &a.destinations), std::pair("--forwarded-by", &a.forwarders)})
        for (auto& each : network_doubts(option, *texts)) all.push_back(std::move(each));
    return all;
}

// What a start would refuse, as far as it can be known before. A proxy that has these files in use is not
// disturbed.
void check(const arguments& a, const std::vector<setting>& given) {
    refuse_idle(given, dependencies);
    const auto how = proxy_options(a);
    proxy::access_log::check(how.access_log);
    if (how.store.disk)
        if (const auto usable = http_cache::disk_store::check(*how.store.disk); !usable)
            throw failure("--disk " + usable.error().text());
    check_files(node_options(a.node));
}

void declare(command_line& command, arguments& a) {
    a.node.how.items = 0;
    add_node_options(
        command, a.node,
        {.command = "proxy",
         .listen = "127.0.0.1:3128",
         .items = "Objects that the summary is planned for, e.g. 100k; 0: one per 8 KiB of --memory "
                  "and --disk-bytes, as far as the disk's index has room for them, at least 1,000",
         .clients = "use the proxy, and ask who has a key,",
         .servers = "peers and origins",
         .state = "Folder for the history of the page, which then survives a restart; created if missing "
                  "(default: that of --disk, or none)"});
    add_cache_options(command, a);
    add_time_options(command, a);
    add_site_options(command, a);
    add_parent_options(command, a);
    add_rule_options(command, a.rules);
}

// Beside those of every node.
std::set<std::string> reloaded_proxy_options() {
    std::set<std::string> all = {
        "access-log",   "allow-destination", "also-forward", "backend-host", "connect-port", "direct",
        "forwarded-by", "keep-siblings",     "log-format",   "origin",       "parent",       "rule",
        "users",        "user-tokens",       "groups"};
    all.insert(reloaded_options.begin(), reloaded_options.end());
    return all;
}

// Takes what can change from the arguments and files as they are now.
void reload(const arguments& running, const std::vector<std::string>& words,
            const std::vector<setting>& settings, proxy::proxy& proxy) {
    arguments next;
    const auto now = settings_again(words, [&](command_line& command) { declare(command, next); });
    const auto& config = next.node.config;
    try {
        check(next, now);
        auto prepared = proxy.prepare(proxy_options(next));
        keep_listening(next.node, running.node);
        proxy.node().reload(node_options(next.node));  // the last step that may fail
        proxy.take(std::move(prepared));
    } catch (const std::runtime_error& wrong) {
        throw failure(config.located(wrong.what()));
    }
    auto& log = *proxy.node().how().log;
    warn(log, config, all_doubts(next));
    warn_of_restarts(log, config, changed(settings, now, reloaded_proxy_options()));
}

// As many objects as would fit if they had 8 KB each, and as the disk's index has room for.
std::uint64_t usual_items(const http_cache::store_options& store) {
    constexpr std::uint64_t usual = 8192;
    const auto on_disk = store.disk ? std::min(store.disk->bytes / usual, most_files(store)) : 0;
    return std::max<std::uint64_t>(1000, store.memory.bytes / usual + on_disk);
}

void run(arguments& a, const std::vector<std::string>& words, const std::vector<setting>& settings) {
    a.node.sockets = inherited_sockets();
    refuse_idle(settings, dependencies);
    const proxy::options how = proxy_options(a);
    save_memory();
    node::options node_how = node_options(a.node);
    if (node_how.items == 0) node_how.items = usual_items(how.store);
    if (node_how.state.empty()) node_how.state = a.disk_folder;
    proxy::proxy* self = nullptr;
    http::system_time time;
    http::server server(time, node_how.serving, [&self](http::request& r) { return self->handle(r); });
    const auto bound = listen_on(server, node_how, a.node.sockets);
    proxy::proxy proxy(how, bound, server);
    self = &proxy;
    bound.log->info("{}{}", about(a.node.config), proxy.holdings());
    warn(*bound.log, a.node.config, all_doubts(a));
    serve(server, proxy.node(), bound,
          {.settings = [&] { reload(a, words, settings, proxy); }, .logs = [&] { proxy.reopen_log(); }});
}

}  // namespace

void add_proxy(command_line& app, const std::vector<std::string>& words) {
    command_line command = add_command(
        app, "proxy", "Run a caching HTTP proxy that shares its cache with siblings (docs/proxy.md)",
        "  posy proxy --memory 1GiB\n"
        "  posy proxy --config /etc/posy/proxy.toml --check\n"
        "  posy proxy --name px1 --peer px2=http://10.0.0.2:3128 --peer squid:old=http://10.0.0.9:3128 …\n"
        "  posy proxy --listen 0.0.0.0:3128 --allow-client 10.0.0.0/8 --allow-destination 10.1.0.0/16\n"
        "  posy proxy --listen 0.0.0.0:80 --allow-client 0.0.0.0/0 --origin "
        "www.example=http://10.0.0.5:8080\n"
        "  curl -x http://127.0.0.1:3128 -sD - http://example.org/ -o /dev/null");
    auto a = std::make_shared<arguments>();
    declare(command, *a);
    command.runs([a, command, words] {
        std::signal(SIGPIPE, SIG_IGN);  // a client that hangs up is no reason to end
        run_configured(
            a->node.config,
            [&] {
                check(*a, command.settings());
                auto doubts = all_doubts(*a);
                const auto how = proxy_options(*a);
                for (auto& each : proxy::doorkeeper(how.rules, how.users).doubts())
                    doubts.push_back(std::move(each));  // which a proxy tells itself when it takes them
                return doubts;
            },
            [&] { run(*a, words, command.settings()); });
    });
}

}  // namespace posy::tool
