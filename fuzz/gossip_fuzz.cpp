// Letters to a node of the gossip mesh, from strangers (letters.hpp). What is read must be written again as
// the same bytes; whatever arrives, the node keeps its limits and answers.
//
// The first letter that names a record makes the node ask for it, so that mutations reach the summaries.
#include <variant>

#include "letters.hpp"
#include "overlay/gossip_wire.hpp"
#include "posy/overlay/gossip_node.hpp"

namespace {

using namespace posy;
using namespace posy::overlay;

const gossip_settings& settings() {
    static const gossip_settings how = [] {
        gossip_settings small;
        small.max_members = 8;
        small.max_news = 4;
        small.budget = 1 << 14;
        small.limits = {1 << 12, 1 << 12, 0};
        return small;
    }();
    return how;
}

// Of the shape of some golden messages, so that their mutations are summaries for it.
gossip_node fresh() {
    static constexpr posy::geometry shape{3200, 2, layout_id::spread};
    return *gossip_node::make(1, "here", *counting_filter::make(shape), settings(), 1, 0);
}

// As if it had been heard of.
void make_it_ask(gossip_node& node, const gossip::message& m, std::uint64_t now, outbox& out) {
    const auto* records = std::get_if<gossip::records>(&m);
    if (!records) return;
    gossip::greeting g{1, {}, {}};
    for (const auto& r : records->list) {
        if (g.news.size() < settings().max_news) g.news.push_back(r.version);
    }
    node.receive(3, gossip::write(g), now, out);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    gossip_node node = fresh();
    const gossip_settings& how = settings();
    std::uint64_t now = 0;
    each_letter(byte_view(reinterpret_cast<const std::byte*>(data), size),
                [&](node_id from, byte_view message) {
                    outbox out;
                    if (const auto m = gossip::read(message, how)) {
                        // Bits of a reply beyond its count are not kept.
                        require(std::holds_alternative<gossip::reply>(*m) ||
                                std::ranges::equal(gossip::write(*m), message));
                        make_it_ask(node, *m, now, out);
                    }
                    node.receive(2 + from % 8, message, ++now, out);
                    node.tick(now += 64 * from, out);
                    require(bytes_in(out) <= 2 * how.max_answer && node.summary_bytes() <= how.budget);
                    require(node.directory().members().size() <= how.max_members);
                });
    require(node.directory().find(1)->version.status == standing::alive);
    (void)node.who("key");
    return 0;
}
