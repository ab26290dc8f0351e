// The laboratory: real proxies and an origin as processes on the loopback, and a trace sent through them
// request by request. It counts hits by place, false hits and false misses, and every byte that was sent to
// keep summaries up to date.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "node/options.hpp"
#include "trace.hpp"

namespace posy::lab {

struct setting {
    node::sharing sharing = node::sharing::delta;
    double change = 0.05;               // of the items …
    std::optional<double> change_bits;  // … or, in its place, of the summary's bits …
    std::optional<unsigned> misled;     // … or when the summary has misled so many requests
    std::uint32_t proxies = 3;
    std::uint64_t memory = 16'000'000;  // of each
    std::uint64_t items = 2000;         // that fit into this memory, about: the plan of the summaries
    double rate = 0.01;
    bool keep_siblings = false;
    std::uint32_t concurrency = 1;  // requests at a time; 1 keeps the order of the trace

    // Whether there are summaries, which can be out of date.
    bool updates() const { return sharing != node::sharing::none && sharing != node::sharing::ask; }
};

struct outcome {
    setting how;
    std::uint64_t requests = 0, wrong = 0;  // wrong: a body that is not the origin's, or no answer
    std::uint64_t local = 0, sibling = 0, origin = 0;
    std::uint64_t false_by_filter = 0, false_by_age = 0, false_misses = 0;
    std::uint64_t whole_bytes = 0, delta_bytes = 0, question_bytes = 0, framing_bytes = 0;
    double objects = 0;                // resident in a proxy at the end, on average
    double seconds = 0;                // spent in requests
    double p50 = 0, p90 = 0, p99 = 0;  // seconds
    double cpu_seconds = 0;            // of all proxies

    double share(std::uint64_t n) const {
        return requests ? static_cast<double>(n) / static_cast<double>(requests) : 0;
    }
    double hit_ratio() const { return share(local + sibling); }
    double bytes_per_request() const {
        return share(whole_bytes + delta_bytes + question_bytes + framing_bytes);
    }
};

// Called from time to time with the number of finished requests.
using on_progress = std::function<void(std::size_t)>;

outcome run(const trace&, const setting&, const on_progress& = {});

}  // namespace posy::lab
