// What a node of keyword search may receive, from any node (letters.hpp), while a query of its own is open.
// Whatever comes, its list stays unless it was a posting, and it goes on answering.
#include "letters.hpp"
#include "posy/overlay/keywords.hpp"

namespace {

using namespace posy;
using namespace posy::overlay;

constexpr std::byte posting{1};
constexpr std::size_t documents = 8;

keyword_node fresh() {
    const auto net = std::make_shared<keyword_network>();
    net->nodes = {0, 1};
    keyword_node node(net, net->home_of("word"));
    outbox out, none;
    for (std::uint64_t i = 0; i < documents; ++i) node.publish(hasher()(i), {"word"}, out);
    for (const letter& each : out) node.receive(each.to, each.message, 0, none);
    node.ask({"word", "other"}, 10, 0, out);
    return node;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static const keyword_node begin = fresh();
    keyword_node node = begin;
    outbox out;
    std::uint64_t now = 1;
    bool posted = false;
    each_letter(byte_view(reinterpret_cast<const std::byte*>(data), size),
                [&](node_id from, byte_view message) {
                    out.clear();
                    node.receive(from & 1, message, now, out);
                    node.receive(from & 1, message, ++now, out);
                    require(bytes_in(out) <= 4 * size + (1 << 14));
                    posted = posted || (!message.empty() && message[0] == posting);
                    now += 64 * from;
                    if (const auto at = node.next_tick(); at && *at <= now) node.tick(now, out);
                });
    const std::size_t held = node.documents_with("word");
    require(posted ? held >= documents : held == documents);
    return 0;
}
