// What members, leaders and strangers may send to a node of groups: the first byte picks a leader or a
// member, then messages follow, each behind its length and its sender. Whatever arrives, memory and what is
// sent stay within their bounds, the node keeps its own objects, and its union has their bits.
//
// The two nodes come from a small network that has settled, and wait for an answer: 1 leads 2, 3 leads 4.
#include <cstdint>
#include <cstdlib>
#include <map>
#include <utility>
#include <vector>

#include "posy/overlay/group_node.hpp"

namespace {

using namespace posy;
using namespace posy::overlay;

constexpr std::uint64_t own = 5;  // objects of each node
constexpr std::size_t most_members = 3, most_leaders = 8;
constexpr std::uint64_t settled = 5'000;  // ms

void check(bool right) {
    if (!right) std::abort();
}

group_settings settings() {
    group_settings how;
    how.terms.geometry = {.bits = 256, .hashes = 2, .layout = layout_id::spread};
    how.most_members = most_members;
    how.mesh.max_members = most_leaders;
    how.mesh.budget = 1 << 14;
    how.mesh.limits = {1 << 12, 1 << 12, 0};
    how.mesh.publish.change = 0;
    return how;
}

digest object_of(node_id who, std::uint64_t i) { return hasher()(who * 1000 + i); }

group_node fresh(node_id who) {
    const auto leader = who % 2 ? std::nullopt : std::optional<node_id>(who - 1);
    group_node node = *group_node::make(who, "node", settings(), leader, 1, who, 0);
    for (std::uint64_t i = 0; i < own; ++i) node.insert(object_of(who, i), 0);
    if (who == 3) node.add_contact(1);
    return node;
}

// What happened to a node until all was settled; no sender: a tick.
struct event {
    std::uint64_t at;
    std::optional<node_id> from;
    message_bytes message;

    void happen_to(group_node& node, outbox& out) const {
        from ? node.receive(*from, message, at, out) : node.tick(at, out);
    }
};
using histories = std::map<node_id, std::vector<event>>;

histories settle() {
    std::map<node_id, group_node> net;
    for (const node_id who : {1, 2, 3, 4}) net.emplace(who, fresh(who));
    histories all;
    std::vector<std::pair<node_id, event>> next;  // whom it happens to
    for (std::uint64_t now = 0; now < settled; now += 100) {
        for (auto& [who, node] : net)
            if (node.next_tick() <= now) next.push_back({who, {now, {}, {}}});
        while (!next.empty()) {
            const auto [who, one] = next.back();
            next.pop_back();
            outbox out;
            one.happen_to(net.at(who), out);
            all[who].push_back(one);
            for (letter& each : out) next.push_back({each.to, {now, who, std::move(each.message)}});
        }
    }
    check(net.at(1).leaders_with(object_of(4, 0)) == std::vector<node_id>{3});
    check(net.at(3).members_with(object_of(4, 0)) == std::vector<node_id>{4});
    return all;
}

// A leader or a member that waits for an answer.
group_node settled_node(node_id who) {
    static const histories all = settle();
    group_node node = fresh(who);
    outbox nowhere;
    for (const event& each : all.at(who)) each.happen_to(node, nowhere);
    check(node.look_up(object_of(4, 0), settled, nowhere).has_value());
    return node;
}

void check_bounds(const group_node& node, node_id self) {
    for (std::uint64_t i = 0; i < own; ++i) check(node.has(object_of(self, i)));
    check(node.members() <= most_members);
    if (!node.leads()) return;
    check(node.mesh().directory().members().size() <= most_leaders);
    check(node.mesh().summary_bytes() <= std::size_t{1} << 14);
    check(node.mesh().contacts().size() <= 64);
    for (std::uint64_t i = 0; i < own; ++i)
        check(node.mesh().set().projection().may_contain(object_of(self, i)));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0) return 0;
    const node_id self = data[0] % 2 ? 1 : 2;
    group_node node = settled_node(self);
    byte_view bytes(reinterpret_cast<const std::byte*>(data) + 1, size - 1);
    std::uint64_t now = settled;
    outbox out;
    while (bytes.size() >= 2) {
        const auto length = std::min(std::to_integer<std::size_t>(bytes[0]), bytes.size() - 2);
        const auto from = std::to_integer<node_id>(bytes[1]);
        out.clear();
        node.receive(from % 8, bytes.subspan(2, length), now, out);
        std::size_t sent = 0;
        for (const letter& each : out) sent += each.message.size();
        check(out.size() <= 4 && sent <= 1 << 14);
        bytes = bytes.subspan(2 + length);
        now += from * 16;
        out.clear();
        if (const auto at = node.next_tick(); at && *at <= now) node.tick(now, out);
        check(out.size() <= 16);
    }
    check_bounds(node, self);
    node.take_answers();
    for (std::uint64_t i = 0; i < own; ++i) check(node.look_up(object_of(self, i), now, out).has_value());
    check(node.take_answers().size() == own);
    return 0;
}
