// A batch of letters: refused, or the same after it was written again, within its limits. What is in it goes
// to a node of the tree and to one of attenuated filters, which take whatever comes.
#include "posy/overlay/letter_batch.hpp"

#include "letters.hpp"
#include "posy/overlay/attenuated_node.hpp"
#include "posy/overlay/tree_node.hpp"

namespace {

using namespace posy;
using namespace posy::overlay;

constexpr batch_limits limits{.bytes = 4096, .letters = 64, .addresses = 8};

link_terms terms(unsigned levels) {
    return {.geometry = {.bits = 128, .hashes = 3, .layout = layout_id::spread}, .levels = levels};
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static const tree_node fresh_tree(1, {.terms = terms(1)}, 1, 7);
    static const attenuated_node fresh_links(1, {.terms = terms(2)}, 1, 7);
    const byte_view bytes(reinterpret_cast<const std::byte*>(data), size);
    const auto batch = read_batch(bytes, limits);
    if (!batch) return 0;
    require(size <= limits.bytes && batch->letters.size() <= limits.letters);
    require(batch->addresses.size() <= limits.addresses);
    require(std::ranges::equal(write_batch(batch->addresses, batch->letters), bytes));
    tree_node tree = fresh_tree;
    attenuated_node links = fresh_links;
    outbox out;
    for (const byte_view each : batch->letters) {
        require(named_in_tree(each).size() <= 510 && named_in_attenuated(each).size() <= 1);
        tree.receive(2, each, 1000, out);
        links.receive(2, each, 1000, out);
    }
    return 0;
}
