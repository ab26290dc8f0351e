// posy proxy: a caching HTTP proxy whose siblings share compressed summaries.
#include "proxy/proxy.hpp"

#include <fmt/format.h>
#include <malloc.h>

#include <algorithm>
#include <csignal>

#include "node_options.hpp"
#include "posy/base/machine.hpp"
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
    std::vector<std::string> destinations;
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
    add_amount(command, "--max-object SIZE", a.how.max_object,
               "Largest answer to store, e.g. 500k or 64MiB; larger ones are passed on only (default: 8MiB)");
    command.add_flag(
        "--keep-siblings", a.how.keep_siblings,
        "Also store answers that came from a sibling (default: off; only the sibling keeps them)");
    command.add_option(
        "--access-log FILE", a.how.access_log,
        "File for one line per request, in the common log format; - is standard output (default: none)");
    command
        .add_option("--connect-port PORT", a.how.connect_ports,
                    "Port that CONNECT may go to; may be repeated")
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

proxy::options proxy_options(const arguments& a) {
    proxy::options how = a.how;
    how.destinations = networks_of("--allow-destination", a.destinations);
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
    return how;
}

void run(const arguments& a) {
    const proxy::options how = proxy_options(a);
    save_memory();
    node::options node_how = node_options(a.node);
    // With no other word, as many as would fit if they had 8 KB each.
    if (node_how.items == 0) {
        const auto bytes = how.store.memory.bytes + (how.store.disk ? how.store.disk->bytes : 0);
        node_how.items = std::max<std::uint64_t>(1000, bytes / 8192);
    }
    proxy::proxy* self = nullptr;
    http::system_time time;
    http::server server(time, node_how.serving, [&self](http::request& r) { return self->handle(r); });
    const auto bound = listen_on(server, node_how);
    proxy::proxy proxy(how, bound, server);
    self = &proxy;
    serve(server, proxy.node(), bound);
}

}  // namespace

void add_proxy(command_line& app) {
    command_line command = add_command(
        app, "proxy", "Run a caching HTTP proxy that shares its cache with siblings (docs/proxy.md)",
        "  posy proxy --memory 1GiB\n"
        "  posy proxy --name px1 --peer px2=http://10.0.0.2:3128 --peer squid:old=http://10.0.0.9:3128 …\n"
        "  posy proxy --listen 0.0.0.0:3128 --allow-client 10.0.0.0/8 --allow-destination 10.1.0.0/16\n"
        "  curl -x http://127.0.0.1:3128 -sD - http://example.org/ -o /dev/null");
    auto a = std::make_shared<arguments>();
    a->node.how.items = 0;
    add_node_options(
        command, a->node,
        {.listen = "127.0.0.1:3128",
         .items = "Objects that the summary is planned for, e.g. 100k; 0: one per 8 KiB of --memory "
                  "and --disk-bytes, at least 1,000",
         .clients = "use the proxy, and ask who has a key,",
         .servers = "peers and origins"});
    add_cache_options(command, *a);
    command.runs([a] {
        std::signal(SIGPIPE, SIG_IGN);  // a client that hangs up is no reason to end
        run(*a);
    });
}

}  // namespace posy::tool
