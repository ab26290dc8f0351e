#include "mesh_costs.hpp"

#include "posy/message.hpp"
#include "posy/theory.hpp"

namespace posy::simulate {

mesh_costs::mesh_costs(const posy::geometry& shape, double objects, double nodes) {
    const auto m = static_cast<double>(shape.bits);
    // What a message needs besides the bits that tell something.
    const auto empty = *bloom_filter::make(shape);
    const packing small{.want = coding::smallest, .generation = 1};
    const auto no_change = *make_delta(empty, empty);
    const auto framing_whole = static_cast<double>(to_bytes(empty, small).size());
    const auto framing_delta = static_cast<double>(to_bytes(no_change, small).size());
    whole = framing_whole + theory::compressed_bits(objects, m, shape.hashes) / 8;
    delta = framing_delta + theory::delta_bits(objects, m, shape.hashes, 1 / objects) / 8;

    constexpr double kind = 1, number = 8, flag = 1, count = 1, small_number = 1, nonce = 1.5, checksum = 4;
    version = number + flag + 2 * small_number;
    greeting = kind + nonce + flag + count;
    reply = kind + nonce + flag + count + count;
    revival = greeting + 8 + version;
    const auto digits = static_cast<double>(std::to_string(static_cast<std::uint64_t>(nodes)).size());
    const double address = 1 + 5 + digits;  // "node-" and a number
    want_ = kind + count + number + flag + small_number + checksum;
    record_ = kind + count + version + address + count + 1.5;
}

theory::gossip_model mesh_model(const overlay::gossip_settings& how, double nodes, double loss,
                                double latency) {
    return {.nodes = nodes,
            .patience = how.patience,
            .tries = how.tries,
            .compare_every = static_cast<double>(how.compare_every),
            .loss = loss,
            .hop = latency / static_cast<double>(how.round)};
}

}  // namespace posy::simulate
