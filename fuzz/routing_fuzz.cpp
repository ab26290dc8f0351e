// What neighbours and strangers may send to a node of a tree or of attenuated filters: the first byte picks
// the machine, then messages follow, each behind its length and its sender. A message changes what the node
// holds or nothing; memory and what is sent stay within their bounds, and the node goes on working.
#include <cstdint>
#include <cstdlib>

#include "posy/overlay/attenuated_node.hpp"
#include "posy/overlay/tree_node.hpp"

namespace {

using namespace posy;
using namespace posy::overlay;

constexpr std::size_t most_neighbours = 3;

link_terms terms(unsigned levels) {
    return {.geometry = {.bits = 512, .hashes = 4, .layout = layout_id::spread}, .levels = levels};
}

void check(bool right) {
    if (!right) std::abort();
}

template <class Machine>
void feed(Machine& node, byte_view bytes) {
    outbox out;
    std::uint64_t now = 10'000;
    while (bytes.size() >= 2) {
        const auto size = std::min(std::to_integer<std::size_t>(bytes[0]), bytes.size() - 2);
        const auto from = std::to_integer<node_id>(bytes[1]);
        out.clear();
        node.receive(from % 8, bytes.subspan(2, size), now, out);
        check(out.size() <= 2 + most_neighbours);  // an answer or a request, and updates
        bytes = bytes.subspan(2 + size);
        now += from * 16;
        out.clear();
        if (const auto at = node.next_tick(); at && *at <= now) node.tick(now, out);
        check(out.size() <= 64);
    }
    check(node.memory() < 100'000);
    for (std::uint64_t i = 0; i < 20; ++i) {
        check(node.has(hasher()(i)));
        check(node.look_up(hasher()(i), now, out).has_value());
    }
    check(node.take_answers().size() >= 20);  // its own objects are found at home, whatever was said
}

template <class Machine>
Machine with_objects(Machine node) {
    outbox out;
    for (std::uint64_t i = 0; i < 20; ++i) node.insert(hasher()(i), 0, out);
    return node;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0) return 0;
    const byte_view bytes(reinterpret_cast<const std::byte*>(data) + 1, size - 1);
    outbox out;
    if (data[0] % 2) {
        tree_settings how;
        how.terms = terms(1);
        how.most_children = most_neighbours;
        auto node = with_objects(tree_node(1, how, 7, 8));
        node.join(2, 0, out);
        feed(node, bytes);
        check(node.children().size() <= most_neighbours);
    } else {
        attenuated_settings how;
        how.terms = terms(3);
        how.most_neighbours = most_neighbours;
        how.most_pointers = 64;
        auto node = with_objects(attenuated_node(1, how, 7, 8));
        node.set_members(std::vector<node_id>{0, 1, 2, 3}, 0, out);
        node.connect(2, 0, out);
        feed(node, bytes);
        check(node.neighbours().size() <= most_neighbours);
        check(node.pointers() <= 64);
    }
    return 0;
}
