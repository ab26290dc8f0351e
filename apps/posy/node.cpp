// posy node: the daemon that tells others what it holds and knows who holds what.
#include "node/node.hpp"

#include "node_options.hpp"
#include "tool.hpp"

namespace posy::tool {

void add_node(CLI::App& app) {
    auto* command = add_command(
        app, "node", "Tell others what is here, and know who has what (docs/node.md)",
        "  posy node --data keys --peer b=http://10.0.0.2:3130 --peer c=http://10.0.0.3:3130\n"
        "  seq 1000 | sed s/^/+/ | curl -s --data-binary @- http://127.0.0.1:3130/keys\n"
        "  curl 'http://127.0.0.1:3130/who?key=7'\n"
        "  posy node --data keys --hash siphash --rehash 1h --change-bits 0.001\n"
        "  posy node --listen 0.0.0.0:3130 --host-name a.example --allow-peer 10.0.0.0/24 --data keys");
    auto arguments = std::make_shared<node_arguments>();
    add_node_options(*command, *arguments, "127.0.0.1:3130");
    command->add_option("--data", arguments->how.data,
                        "Folder to keep the keys in; without it they are gone with the process");
    command->callback([arguments] {
        const node::options how = node_options(*arguments);
        node::node* self = nullptr;
        http::server server(how.serving, [&self](http::request& r) -> http::task<void> {
            const bool ours = co_await self->handle(r);
            if (!ours) throw http::refusal(400, "this is a node, not a proxy: ask for a path");
        });
        const auto bound = listen_on(server, how);
        node::node node(bound, server);
        self = &node;
        serve(server, node, bound);
    });
}

}  // namespace posy::tool
