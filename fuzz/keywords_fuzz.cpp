// What a node of keyword search may receive, from any node, while a query of its own is open and one of
// another node waits at it. Whatever comes, its list stays unless it was a posting, and it goes on answering.
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "posy/overlay/keywords.hpp"

namespace {

using namespace posy;
using namespace posy::overlay;

constexpr std::byte posting{1};

keyword_node fresh() {
    static const auto net = [] {
        keyword_network two;
        two.nodes = {0, 1};
        return std::make_shared<const keyword_network>(two);
    }();
    keyword_node node(net, net->home_of("word"));
    for (std::uint64_t i = 0; i < 100; ++i) {
        outbox out;
        node.publish(hasher()(i), {"word"}, out);
        outbox none;
        for (const letter& each : out) node.receive(each.to, each.message, 0, none);
    }
    return node;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size < 2) return 0;
    static const keyword_node start = fresh();
    keyword_node node = start;
    outbox out;
    node.ask({"word", "other"}, 10, 0, out);
    out.clear();
    const byte_view message(reinterpret_cast<const std::byte*>(data) + 1, size - 1);
    node.receive(data[0] & 1, message, 1, out);
    node.receive(data[0] & 1, message, 2, out);
    std::size_t sent = 0;
    for (const letter& each : out) sent += each.message.size();
    if (sent > 2 * size + (1 << 14)) std::abort();
    if (node.documents_with("word") < 100) std::abort();
    if (message[0] != posting && node.documents_with("word") != 100) std::abort();
    node.tick(1'000'000, out);
    return 0;
}
