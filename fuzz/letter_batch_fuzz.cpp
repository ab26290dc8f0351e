// A batch of letters: refused, or the same after it was written again, within its limits. What is in it goes
// to a node of the tree and to one of attenuated filters, which take whatever comes.
#include <algorithm>
#include <cstdint>
#include <cstdlib>

#include "posy/overlay/attenuated_node.hpp"
#include "posy/overlay/letter_batch.hpp"
#include "posy/overlay/tree_node.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace posy;
    const byte_view bytes(reinterpret_cast<const std::byte*>(data), size);
    const overlay::batch_limits limits{.bytes = 4096, .letters = 64, .addresses = 8};
    const auto batch = overlay::read_batch(bytes, limits);
    if (!batch) return 0;
    if (size > limits.bytes || batch->letters.size() > limits.letters ||
        batch->addresses.size() > limits.addresses)
        std::abort();
    const auto again = overlay::write_batch(batch->addresses, batch->letters);
    if (!std::ranges::equal(again, bytes)) std::abort();
    overlay::tree_settings of_tree;
    of_tree.terms.geometry = {512, 3, layout_id::spread};
    overlay::tree_node tree(1, of_tree, 1, 7);
    overlay::attenuated_settings of_links;
    of_links.terms = of_tree.terms;
    of_links.terms.levels = 2;
    overlay::attenuated_node links(1, of_links, 1, 7);
    overlay::outbox out;
    for (const byte_view each : batch->letters) {
        if (overlay::named_in_tree(each).size() > 510 || overlay::named_in_attenuated(each).size() > 1)
            std::abort();
        tree.receive(2, each, 1000, out);
        links.receive(2, each, 1000, out);
    }
    return 0;
}
