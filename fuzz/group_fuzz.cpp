// What strangers may send to a leader of a group, and to a member of one: the first byte picks which, letters
// follow (letters.hpp). Node 2 is the member's leader. Whatever comes, a node has a leader or is one, the
// group keeps its limit, and a leader still finds its own object.
#include "letters.hpp"
#include "posy/overlay/group_node.hpp"

namespace {

using namespace posy;
using namespace posy::overlay;

constexpr std::size_t most_members = 3;
const digest own = hasher()(std::string_view("own"));

group_node fresh(std::optional<node_id> leader) {
    group_settings how;
    how.terms.geometry = {.bits = 128, .hashes = 3, .layout = layout_id::spread};
    how.mesh.max_members = 4;
    how.mesh.limits = {1 << 12, 1 << 12, 0};
    how.most_members = most_members;
    auto node = *group_node::make(1, "here", how, leader, 7, 8, 0);
    node.insert(own, 0);
    return node;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0) return 0;
    group_node node = fresh(data[0] % 2 ? std::nullopt : std::optional<node_id>(2));
    outbox out;
    std::uint64_t now = 1;
    each_letter(byte_view(reinterpret_cast<const std::byte*>(data) + 1, size - 1),
                [&](node_id from, byte_view message) {
                    out.clear();
                    node.receive(from % 8, message, now, out);
                    now += 64 * from;
                    if (const auto at = node.next_tick(); at && *at <= now) node.tick(now, out);
                    require(out.size() <= 16 && bytes_in(out) < 1 << 14);
                    require(node.leads() != node.leader().has_value());
                });
    require(node.members() <= most_members);
    if (node.leads()) require(std::ranges::count(node.members_with(own), node_id{1}) == 1);
    return 0;
}
