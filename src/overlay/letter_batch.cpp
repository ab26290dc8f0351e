#include "posy/overlay/letter_batch.hpp"

#include <initializer_list>

#include "base/reader.hpp"
#include "posy/overlay/attenuated_node.hpp"
#include "posy/overlay/group_node.hpp"
#include "posy/overlay/tree_node.hpp"
#include "wire.hpp"

namespace posy::overlay {

std::vector<std::byte> write_batch(std::span<const std::string> addresses,
                                   std::span<const byte_view> letters) {
    std::vector<std::byte> bytes;
    base::put_little(bytes, static_cast<std::uint16_t>(addresses.size()));
    for (const std::string& each : addresses) {
        base::put_little(bytes, static_cast<std::uint8_t>(each.size()));
        const byte_view text = as_byte_view(each);
        bytes.insert(bytes.end(), text.begin(), text.end());
    }
    for (const byte_view each : letters) {
        base::put_little(bytes, static_cast<std::uint32_t>(each.size()));
        bytes.insert(bytes.end(), each.begin(), each.end());
    }
    return bytes;
}

result<letter_batch> read_batch(byte_view bytes, const batch_limits& most) {
    base::reader read(bytes);
    if (bytes.size() > most.bytes) read.fail("more bytes than a batch of letters may have");
    letter_batch batch;
    const std::size_t addresses = read.number<std::uint16_t>();
    if (addresses > most.addresses) read.fail("more addresses than a batch of letters may have");
    for (std::size_t i = 0; i < addresses && !read.wrong(); ++i) {
        const byte_view text = read.take(read.byte());
        batch.addresses.emplace_back(reinterpret_cast<const char*>(text.data()), text.size());
    }
    while (!read.wrong() && read.left() > 0) {
        if (batch.letters.size() == most.letters) read.fail("more letters than a batch may have");
        const byte_view message = read.take(read.number<std::uint32_t>());
        if (message.empty()) read.fail("an empty letter");
        batch.letters.push_back(message);
    }
    if (const auto& wrong = read.finish()) return *wrong;
    return batch;
}

namespace {

// Nodes at these offsets of a message of exactly this size.
std::vector<node_id> nodes_at(byte_view message, std::size_t size,
                              std::initializer_list<std::size_t> offsets) {
    std::vector<node_id> nodes;
    if (message.size() != size) return nodes;
    for (const std::size_t at : offsets) nodes.push_back(load_little<node_id>(&message[at]));
    return nodes;
}

// Lists of nodes behind `fixed` bytes.
std::vector<node_id> listed(byte_view message, std::size_t fixed, unsigned lists) {
    base::reader read(message);
    read.take(fixed);
    std::vector<node_id> all;
    for (unsigned i = 0; i < lists; ++i) {
        const auto some = take_nodes(read, 255);
        all.insert(all.end(), some.begin(), some.end());
    }
    if (read.finish()) all.clear();
    return all;
}

constexpr std::size_t kind_bytes = 1, state_bytes = 8;

}  // namespace

std::vector<node_id> named_in_tree(byte_view message) {
    if (message.empty()) return {};
    switch (static_cast<tree_kind>(message[0])) {
        case tree_kind::ask:  // number, hops, origin, key, apex, below, unsure
            return nodes_at(message, kind_bytes + 4 + 2 + 8 + 16 + 8 + 8 + 1, {kind_bytes + 4 + 2});
        case tree_kind::family:
            return listed(message, kind_bytes + state_bytes, 2);
        case tree_kind::leave:
            return listed(message, kind_bytes, 1);
        case tree_kind::update:
        case tree_kind::have:
        case tree_kind::beat:
        case tree_kind::full:
        case tree_kind::found:
        case tree_kind::absent:
            break;
    }
    return {};
}

std::vector<node_id> named_in_attenuated(byte_view message) {
    if (message.empty()) return {};
    switch (static_cast<attenuated_kind>(message[0])) {
        case attenuated_kind::ask:      // number, hops, origin, key, stage
        case attenuated_kind::publish:  // number, hops, holder, key, there
            return nodes_at(message, kind_bytes + 4 + 2 + 8 + 16 + 1, {kind_bytes + 4 + 2});
        case attenuated_kind::copy:  // number, holder, key, there
            return nodes_at(message, kind_bytes + 4 + 8 + 16 + 1, {kind_bytes + 4});
        case attenuated_kind::update:
        case attenuated_kind::have:
        case attenuated_kind::beat:
        case attenuated_kind::here:
        case attenuated_kind::full:
        case attenuated_kind::leave:
        case attenuated_kind::found:
        case attenuated_kind::absent:
        case attenuated_kind::kept:
            break;
    }
    return {};
}

std::vector<node_id> named_in_groups(byte_view message) {
    if (message.empty()) return {};
    switch (static_cast<group_kind>(message[0])) {
        case group_kind::family: {  // state, heir, other leaders
            constexpr std::size_t heir = kind_bytes + state_bytes, fixed = heir + 8;
            auto nodes = listed(message, fixed, 1);
            if (message.size() >= fixed) nodes.push_back(load_little<node_id>(&message[heir]));
            return nodes;
        }
        case group_kind::elsewhere:
            return listed(message, kind_bytes, 1);
        case group_kind::told:  // number, key, members, leaders
            return listed(message, kind_bytes + 4 + 16, 2);
        case group_kind::update:
        case group_kind::beat:
        case group_kind::leave:
        case group_kind::ask:
        case group_kind::have:
        case group_kind::has:
            break;
    }
    return {};
}

}  // namespace posy::overlay
