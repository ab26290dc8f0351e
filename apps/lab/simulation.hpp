// Many proxies in one process, without sockets: the set, the publisher, the subscriber and the queues of the
// store are those of real proxies; bodies, connections and time are left out. Messages arrive at once, so all
// that follow a proxy hold the same summary of it, and one subscriber stands for them all. Each message is
// counted for each of its receivers, with the framing of a stream (docs/node.md).
//
// Cost: some microseconds per request, and 150 bytes per object in a store. Thread safety: none.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "laboratory.hpp"
#include "posy/base/names.hpp"
#include "workload.hpp"

namespace posy::lab {

// Who tells whom what it has.
enum class structure : std::uint8_t {
    mesh,    // every proxy tells every other
    cells,   // every proxy tells those of its group, and groups know nothing of each other
    groups,  // as cells, and the leaders of groups tell each other the unions of their groups
    tree,    // as cells, and the leaders tell a root
};
constexpr std::string_view name_of(structure member) {
    switch (member) {
        case structure::mesh:
            return "mesh";
        case structure::cells:
            return "cells";
        case structure::groups:
            return "groups";
        case structure::tree:
            return "tree";
    }
    return {};
}

struct arrangement {
    lab::structure structure = structure::mesh;
    std::uint32_t group = 10;  // proxies in a group, where there are groups
};

struct simulated_outcome {
    outcome seen;
    arrangement how;
    std::uint64_t beyond = 0;    // of the hits at siblings: of other groups
    std::uint64_t messages = 0;  // summaries and deltas, each for each receiver
    std::uint64_t questions = 0;
    // Memory of a proxy in bytes, on average: of its own filter and its counters; of the summaries of others.
    double own_memory = 0, others_memory = 0;
    double most_others_memory = 0;  // of the proxy that holds the most: a leader, a root
    double seconds = 0;             // that the simulation took
};

// A question to another proxy whether it has an object, and its answer, in bytes: the mean of a replay with
// sharing "ask".
inline constexpr std::uint64_t question_bytes = 160;
// What a stored answer takes besides its body: the mean of a replay.
inline constexpr std::uint64_t stored_overhead = 1700;
// The request for a stream and the head of its answer.
inline constexpr std::uint64_t stream_head_bytes = 330;

simulated_outcome simulate(workload&, const setting&, const arrangement&, const on_progress& = {});

std::string simulated_table(const std::vector<simulated_outcome>&);

}  // namespace posy::lab
