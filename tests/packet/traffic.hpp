// Made-up traffic: flows whose sizes follow Zipf's law, in random order.
#pragma once

#include <cstdint>
#include <random>
#include <unordered_map>
#include <vector>

#include "posy/packet/flow_key.hpp"
#include "sketch/zipf.hpp"

namespace posy::packets {

// Flow number `i`: an address of 10.0.0.0/8 that sends to port 80.
inline flow_key flow_number(std::uint64_t i) {
    flow_key key;
    std::byte* const at = key.data();
    at[flow_key::source] = std::byte{10};
    for (int byte = 1; byte < 4; ++byte)
        at[flow_key::source + static_cast<std::size_t>(byte)] = static_cast<std::byte>(i >> 8 * (3 - byte));
    at[flow_key::destination_port + 1] = std::byte{80};
    at[flow_key::protocol] = std::byte{6};
    at[flow_key::version] = std::byte{4};
    return key;
}

struct key_hash {
    std::size_t operator()(const flow_key& key) const {
        std::uint64_t mixed = 0;
        for (const std::uint64_t word : key.words) mixed = (mixed ^ word) * 0x9e3779b97f4a7c15;
        return mixed ^ mixed >> 32;
    }
};
using exact_counts = std::unordered_map<flow_key, std::uint64_t, key_hash>;

struct made_packet {
    flow_key key;
    std::uint32_t bytes;
};

// The flow of rank r has a share proportional to r^−exponent, which is not 1.
inline std::vector<made_packet> zipf_traffic(std::uint64_t flows, std::uint64_t packets, double exponent,
                                             std::uint64_t seed) {
    const zipf rank(exponent, flows);
    std::mt19937_64 random(seed);
    std::vector<made_packet> all;
    for (std::uint64_t i = 0; i < packets; ++i) {
        // Numbers that are not the ranks, so that no table sees them in order.
        const std::uint64_t number = rank(random) * 0x9e3779b1 % (1 << 24);
        all.push_back({flow_number(number), 40 + static_cast<std::uint32_t>(random() % 1461)});
    }
    return all;
}

inline exact_counts count(const std::vector<made_packet>& traffic) {
    exact_counts truth;
    for (const auto& [key, size] : traffic) truth[key] += size;
    return truth;
}

}  // namespace posy::packets
