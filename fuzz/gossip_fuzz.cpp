// Messages to a node of the gossip mesh, from strangers: one after the other, each behind its length. What is
// read must be written again as the same bytes; whatever arrives, the node keeps its limits and answers.
//
// The first message that names a record makes the node ask for it, so that mutations reach the summaries.
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "overlay/gossip_wire.hpp"
#include "posy/overlay/gossip_node.hpp"

namespace {

using namespace posy;
using namespace posy::overlay;

gossip_settings settings() {
    gossip_settings how;
    how.max_members = 16;
    how.budget = 1 << 16;
    how.limits = {1 << 14, 1 << 14, 0};
    return how;
}

gossip_node fresh(const gossip_settings& how) {
    static constexpr posy::geometry shape{3200, 2, layout_id::spread};
    return *gossip_node::make(1, "here", *counting_filter::make(shape), how, 1, 0);
}

// As if it had been heard of.
void make_it_ask(gossip_node& node, const gossip::message& m, std::uint64_t now, outbox& out) {
    const auto* records = std::get_if<gossip::records>(&m);
    if (!records) return;
    gossip::greeting g{1, {}, {}};
    for (const auto& r : records->list) {
        if (g.news.size() < 8) g.news.push_back(r.version);
    }
    node.receive(3, gossip::write(g), now, out);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const gossip_settings how = settings();
    gossip_node node = fresh(how);
    std::uint64_t now = 0;
    while (size > 1) {
        const std::size_t length = std::min<std::size_t>(size - 2, data[0] + std::size_t{256} * data[1]);
        const byte_view bytes(reinterpret_cast<const std::byte*>(data) + 2, length);
        data += length + 2;
        size -= length + 2;
        outbox out;
        if (const auto m = gossip::read(bytes, how)) {
            const auto again = gossip::write(*m);
            // Bits of a reply beyond its count are not kept.
            if (m->index() != 1 && !std::equal(again.begin(), again.end(), bytes.begin(), bytes.end()))
                std::abort();
            make_it_ask(node, *m, now, out);
        }
        node.receive(2, bytes, ++now, out);
        node.tick(now += 1000, out);
        std::size_t sent = 0;
        for (const letter& l : out) sent += l.message.size();
        if (sent > 2 * how.max_answer || node.directory().members().size() > how.max_members ||
            node.summary_bytes() > how.budget)
            std::abort();
    }
    if (node.directory().find(1)->version.status != standing::alive) std::abort();
    (void)node.who("key");
    return 0;
}
