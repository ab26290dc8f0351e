// What neighbours and strangers may send to a node of a tree or of attenuated filters: the first byte picks
// the machine, letters follow (letters.hpp). A letter changes what the node holds or nothing; memory and what
// is sent stay within their bounds, and the node goes on working.
//
// Node 3 is a neighbour that has sent its filter, so that the next of its letters may be a delta.
#include "letters.hpp"
#include "posy/overlay/attenuated_node.hpp"
#include "posy/overlay/tree_node.hpp"

namespace {

using namespace posy;
using namespace posy::overlay;

constexpr std::size_t most_neighbours = 3, most_pointers = 8;
constexpr std::uint64_t objects = 3, start = 10'000;

link_terms terms(unsigned levels) {
    return {.geometry = {.bits = 128, .hashes = 3, .layout = layout_id::spread}, .levels = levels};
}

tree_node fresh_tree() {
    const tree_settings how{.terms = terms(1), .most_children = most_neighbours};
    tree_node node(1, how, 7, 8), child(3, how, 7, 9);
    outbox out;
    for (std::uint64_t i = 0; i < objects; ++i) node.insert(hasher()(i), 0, out);
    child.insert(hasher()(objects), 0, out);
    child.join(1, 0, out);
    converse(child, node, out, 0);
    require(node.children() == std::vector<node_id>{3});
    node.join(2, start, out);
    return node;
}

attenuated_node fresh_attenuated() {
    const attenuated_settings how{
        .terms = terms(3), .most_neighbours = most_neighbours, .most_pointers = most_pointers};
    attenuated_node node(1, how, 7, 8), neighbour(3, how, 7, 9);
    outbox out;
    for (std::uint64_t i = 0; i < objects; ++i) node.insert(hasher()(i), 0, out);
    neighbour.insert(hasher()(objects), 0, out);
    node.set_members(std::vector<node_id>{0, 1, 2, 3}, 0, out);
    out.clear();
    neighbour.connect(1, 0, out);
    converse(neighbour, node, out, 0);
    require(node.neighbours() == std::vector<node_id>{3});
    node.connect(2, start, out);
    return node;
}

template <class Machine>
void feed(Machine& node, byte_view bytes) {
    outbox out;
    std::uint64_t now = start;
    each_letter(bytes, [&](node_id from, byte_view message) {
        out.clear();
        node.receive(from % 8, message, now, out);
        require(out.size() <= 2 + most_neighbours);  // an answer or a request, and updates
        now += 16 * from;
        out.clear();
        if (const auto at = node.next_tick(); at && *at <= now) node.tick(now, out);
        require(out.size() <= 64);
    });
    require(node.memory() < 100'000);
    for (std::uint64_t i = 0; i < objects; ++i) {
        require(node.has(hasher()(i)));
        require(node.look_up(hasher()(i), now, out).has_value());
    }
    require(node.take_answers().size() >= objects);  // its own are found at home, whatever was said
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0) return 0;
    const byte_view bytes(reinterpret_cast<const std::byte*>(data) + 1, size - 1);
    if (data[0] % 2) {
        static const tree_node begin = fresh_tree();
        tree_node node = begin;
        feed(node, bytes);
        require(node.children().size() <= most_neighbours);
    } else {
        static const attenuated_node begin = fresh_attenuated();
        attenuated_node node = begin;
        feed(node, bytes);
        require(node.neighbours().size() <= most_neighbours);
        require(node.pointers() <= most_pointers);
    }
    return 0;
}
