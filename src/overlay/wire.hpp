// The fields that the messages of several overlays have in common.
#pragma once

#include <span>
#include <vector>

#include "base/reader.hpp"
#include "base/varint.hpp"
#include "posy/digest.hpp"
#include "posy/overlay/filter_link.hpp"
#include "posy/overlay/mail.hpp"

namespace posy::overlay {

template <class Kind>
std::vector<std::byte> begin_message(Kind kind) {
    return {static_cast<std::byte>(kind)};
}

inline void put(std::vector<std::byte>& to, const digest& d) {
    base::put_little(to, d.low);
    base::put_little(to, d.high);
}
inline void put(std::vector<std::byte>& to, const link_state& s) {
    base::put_little(to, s.life);
    base::put_little(to, s.number);
}
inline digest take_digest(base::reader& from) {
    const auto low = from.number<std::uint64_t>();
    return {low, from.number<std::uint64_t>()};
}
inline link_state take_state(base::reader& from) {
    const auto life = from.number<std::uint32_t>();
    return {life, from.number<std::uint32_t>()};
}

// Nodes, at most `most` of them; the first if there are more.
inline void put_nodes(std::vector<std::byte>& to, std::span<const node_id> nodes, std::size_t most) {
    nodes = nodes.first(std::min(nodes.size(), most));
    base::put_little(to, static_cast<std::uint8_t>(nodes.size()));
    for (const node_id node : nodes) base::put_little(to, node);
}
inline std::vector<node_id> take_nodes(base::reader& from, std::size_t most) {
    const std::size_t number = from.byte();
    if (number > most) from.fail("more nodes than there may be");
    std::vector<node_id> nodes;
    for (std::size_t i = 0; i < number && !from.wrong(); ++i) nodes.push_back(from.number<node_id>());
    return nodes;
}

}  // namespace posy::overlay
