// posy proxy: a caching HTTP proxy whose siblings share compressed summaries.
#include "proxy/proxy.hpp"

#include <fmt/format.h>
#include <malloc.h>

#include <algorithm>

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

}  // namespace

void add_proxy(CLI::App& app) {
    auto* command = add_command(
        app, "proxy", "Cache the Web together with others (docs/proxy.md)",
        "  posy proxy --memory 1GiB\n"
        "  posy proxy --name px1 --peer px2=http://10.0.0.2:3128 --peer squid:old=http://10.0.0.9:3128 …\n"
        "  posy proxy --listen 0.0.0.0:3128 --allow-client 10.0.0.0/8 --allow-destination 10.1.0.0/16\n"
        "  curl -x http://127.0.0.1:3128 -sD - http://example.org/ -o /dev/null");
    auto arguments = std::make_shared<node_arguments>();
    auto how = std::make_shared<proxy::options>();
    auto disk = std::make_shared<http_cache::disk_options>();
    arguments->how.items = 0;
    add_node_options(*command, *arguments, "127.0.0.1:3128");
    command->get_option("--items")->description(
        "Objects that the summary is planned for; 0: one for each 8 KiB of --memory and --disk-bytes, at "
        "least "
        "1,000");
    // No more than a quarter of what a small machine or container has.
    how->store.memory.bytes = std::min(how->store.memory.bytes, base::usable_memory() / 4);
    add_size(*command, "--memory", how->store.memory.bytes,
             "Memory for objects, e.g. 500M or 2GiB: stored, on their way in, and being sent, with all that "
             "each of them costs beside its body; what has no room is passed on and not stored (default: "
             "256MiB, and at most a quarter of the memory of this machine or control group)");
    command->add_option("--disk", disk->directory,
                        "Folder for objects that outlive a restart, made when missing (default: none)");
    add_size(*command, "--disk-bytes", disk->bytes,
             "Most that the objects in --disk take, e.g. 500M or 20GiB (default: 4GiB)");
    add_size(*command, "--max-object", how->max_object,
             "Largest answer that is stored, e.g. 500k or 64MiB; larger ones pass through (default: 8MiB)");
    command->add_flag("--keep-siblings", how->keep_siblings,
                      "Store what came from a sibling too; without it, it stays there alone");
    command->add_option("--access-log", how->access_log,
                        "File for a line a request, in the common format; - is standard output");
    command->add_option("--connect-port", how->connect_ports, "Ports that CONNECT may go to")
        ->capture_default_str();
    auto destinations = std::make_shared<std::vector<std::string>>();
    command->add_option(
        "--allow-destination", *destinations,
        "Networks beyond the Internet that clients may be connected to, as 10.1.0.0/16, or loopback "
        "(with all addresses of this machine), link-local, private; default: none (403)");
    command
        ->add_option("--break-siblings", how->break_siblings,
                     "Share of questions to siblings to break, for tests")
        ->group("");
    command->callback([arguments, how, disk, destinations] {
        how->destinations = networks_of("--allow-destination", *destinations);
        if (!disk->directory.empty()) how->store.disk = *disk;
        if (how->store.memory.bytes < least_memory)
            throw failure(fmt::format("--memory {}: give at least 1MiB", how->store.memory.bytes));
        if (how->store.memory.bytes > base::usable_memory())
            throw failure(fmt::format(
                "--memory {}: this process may use {} bytes (machine or control group); give less",
                how->store.memory.bytes, base::usable_memory()));
        save_memory();
        node::options node_how = node_options(*arguments);
        // With no other word, as many as would fit if they had 8 KB each.
        if (node_how.items == 0)
            node_how.items = std::max<std::uint64_t>(
                1000, (how->store.memory.bytes + (how->store.disk ? disk->bytes : 0)) / 8192);
        proxy::proxy* self = nullptr;
        http::server server(node_how.serving, [&self](http::request& r) { return self->handle(r); });
        const auto bound = listen_on(server, node_how);
        proxy::proxy proxy(*how, bound, server);
        self = &proxy;
        serve(server, proxy.node(), bound);
    });
}

}  // namespace posy::tool
