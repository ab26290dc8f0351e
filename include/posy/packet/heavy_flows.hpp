// Which flows send the most, in bounded memory (Estan and Varghese 2002).
//
// Every packet of a flow that has no entry raises the flow's counters in a multistage filter, conservatively.
// Once all of them reach the threshold, the flow gets an entry in the flow memory and is counted there
// exactly; its packets no longer touch the filter (shielding), so they do not lift others over the threshold.
// At the end of an interval the filter is cleared, and entries of heavy flows stay: from then on these are
// counted exactly from the first byte.
//
// Invariant: the size of a flow lies in [low, high] of its entry, and that of a flow without an entry is at
// most the least of its counters. So no flow of at least `complete_from` is missing in a report, whatever the
// traffic. Where more flows pass than the memory has entries for, the smallest quarter goes back: their
// counters are raised to their `high`, which keeps the invariant, and `complete_from` rises above it. This
// also is how the top flows are found without a threshold, and how a threshold that is a share of the traffic
// rises with it.
//
// Cost: a hash, a lookup, and for flows without an entry one random access per stage. Thread safety: none;
// const calls may run together.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "posy/digest.hpp"
#include "posy/packet/flow_key.hpp"
#include "posy/packet/multistage_filter.hpp"
#include "posy/result.hpp"

namespace posy::packets {

struct heavy_flow_options {
    std::uint64_t width = 16'384;  // counters per stage
    unsigned stages = 4;
    std::uint64_t entries = 4096;  // of the flow memory, at least 2
    // A flow is heavy from this size on. Both may be 0: then the memory alone sets the limit.
    std::uint64_t threshold = 0;
    double share = 0;  // of the interval's traffic
    // Of the threshold: a new entry that has counted less than this is not kept for the next interval.
    double keep = 0.15;
    bool shield = true;  // false: flows with an entry still raise their counters, for comparison
};

class flow_memory;

class heavy_flows {
  public:
    static result<heavy_flows> make(const heavy_flow_options&, const hasher&);
    ~heavy_flows();
    heavy_flows(heavy_flows&&) noexcept;
    heavy_flows& operator=(heavy_flows&&) noexcept;

    // One packet, or a record of many.
    void add(const flow_key&, std::uint64_t weight);

    struct flow {
        flow_key key{};
        std::uint64_t low = 0, high = 0;  // what it sent in this interval
        friend bool operator==(const flow&, const flow&) = default;
    };
    struct report {
        std::vector<flow> flows{};        // of at least the threshold by `high`, the largest first
        std::uint64_t total = 0;          // of all flows
        std::uint64_t threshold = 0;      // from which a flow is heavy
        std::uint64_t complete_from = 0;  // every flow of at least this size is in the list
        std::uint64_t entries = 0;        // in the memory
        std::uint64_t passed = 0;         // how often a flow got an entry
    };
    report so_far() const;
    // Ends the interval, and begins the next one with the entries that are kept.
    report close();

    const heavy_flow_options& options() const { return options_; }
    const multistage_filter& filter() const { return filter_; }
    std::uint64_t memory_bytes() const;

  private:
    heavy_flows(const heavy_flow_options&, const hasher&, multistage_filter);

    std::uint64_t threshold() const;
    void admit(const flow_key&, digest, std::uint64_t before, std::uint64_t weight);
    std::uint64_t kept() const;
    void make_room();
    void give_back(const flow_key&, std::uint64_t high);

    heavy_flow_options options_;
    hasher hash_;
    multistage_filter filter_;
    std::unique_ptr<flow_memory> memory_;
    std::uint64_t total_ = 0, passed_ = 0;
    std::uint64_t dropped_ = 0;  // no flow that lost its entry had a higher `high`
};

}  // namespace posy::packets
