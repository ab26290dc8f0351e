#include "posy/packet/heavy_flows.hpp"

#include <algorithm>
#include <cmath>

#include "base/saturate.hpp"
#include "flow_memory.hpp"

namespace posy::packets {

namespace {
constexpr std::uint64_t most_entries = std::uint64_t{1} << 32;
constexpr std::uint64_t largest = multistage_filter::largest;

bool before_in_list(const heavy_flows::flow& a, const heavy_flows::flow& b) {
    return a.high != b.high ? a.high > b.high : a.key.words < b.key.words;
}
}  // namespace

result<heavy_flows> heavy_flows::make(const heavy_flow_options& o, const hasher& hash) {
    if (auto usable = check(hash); !usable) return usable.error();
    if (o.entries < 2 || o.entries > most_entries)
        return error::invalid("the flow memory has at least 2 entries, and at most 2^32");
    if (!(o.share >= 0 && o.share < 1)) return error::invalid("a share of the traffic lies between 0 and 1");
    if (!(o.keep >= 0 && o.keep <= 1))
        return error::invalid("the part of the threshold that keeps an entry lies between 0 and 1");
    auto filter = multistage_filter::make(o.width, o.stages, hash.seed());
    if (!filter) return filter.error();
    return heavy_flows(o, hash, std::move(*filter));
}

heavy_flows::heavy_flows(const heavy_flow_options& o, const hasher& hash, multistage_filter filter)
    : options_(o),
      hash_(hash),
      filter_(std::move(filter)),
      memory_(std::make_unique<flow_memory>(o.entries)) {}
heavy_flows::~heavy_flows() = default;
heavy_flows::heavy_flows(heavy_flows&&) noexcept = default;
heavy_flows& heavy_flows::operator=(heavy_flows&&) noexcept = default;

std::uint64_t heavy_flows::memory_bytes() const {
    return filter_.bytes() + std::bit_ceil(2 * options_.entries) * sizeof(flow_entry);
}

// Of this moment: a share rises with the traffic. A flow of at least the share at the end had at least that
// at its last packet, when the share was no higher.
std::uint64_t heavy_flows::threshold() const {
    const double share = std::ceil(options_.share * static_cast<double>(total_));
    return std::max({options_.threshold, static_cast<std::uint64_t>(share), std::uint64_t{1}});
}

void heavy_flows::add(const flow_key& key, std::uint64_t weight) {
    if (weight == 0) return;
    total_ = saturating_sum(total_, weight);
    const digest d = hash_(key.bytes());
    flow_entry* const entry = memory_->find(key, d);
    if (entry != nullptr) {
        entry->counted = saturating_sum(entry->counted, weight);
        if (options_.shield) return;
    }
    const auto places = filter_.of(d);
    std::uint64_t before = filter_.least(places);
    // A counter that stuck has only been raised so far by a flow that went back.
    if (before == largest) before = std::max(before, dropped_);
    const std::uint64_t after = saturating_sum(before, weight);
    // Counters stick at `largest`, so that is the latest moment for an entry.
    const std::uint64_t pass = std::min(std::max(threshold(), dropped_ + 1), largest);
    if (after >= pass && entry == nullptr) return admit(key, d, before, weight);
    filter_.raise(places, static_cast<std::uint32_t>(std::min(after, largest)));
}

// The counters stay as they are: what comes from now on is in the entry.
void heavy_flows::admit(const flow_key& key, digest d, std::uint64_t before, std::uint64_t weight) {
    ++passed_;
    if (memory_->full()) make_room();
    memory_->insert({.key = key, .before = before, .counted = weight}, d);
}

// So many that sorting them is rare, and so few that not much is lost.
std::uint64_t heavy_flows::kept() const { return memory_->most() - (memory_->most() + 3) / 4; }

// Entries that are below the threshold by now go back, and if that is not a quarter of them, the smallest
// others too. Flows that were heavy in the interval before are given the time to become heavy again.
void heavy_flows::make_room() {
    auto entries = memory_->entries();
    std::ranges::sort(entries, std::greater(), &flow_entry::rank);
    const std::uint64_t least = threshold(), most = kept();
    memory_->clear();
    for (std::size_t i = 0; i < entries.size(); ++i) {
        const flow_entry& entry = entries[i];
        if (i < most && entry.rank() >= least) {
            memory_->insert(entry, hash_(entry.key.bytes()));
        } else if (entry.high() > 0) {
            give_back(entry.key, entry.high());
            if (entry.high() >= least) dropped_ = std::max(dropped_, entry.high());
        }
    }
}

void heavy_flows::give_back(const flow_key& key, std::uint64_t high) {
    if (high >= largest) dropped_ = std::max(dropped_, high);
    filter_.raise(filter_.of(hash_(key.bytes())), static_cast<std::uint32_t>(std::min(high, largest)));
}

heavy_flows::report heavy_flows::so_far() const {
    report r{.total = total_, .threshold = threshold(), .entries = memory_->size(), .passed = passed_};
    r.complete_from = std::max(r.threshold, saturating_sum(dropped_, std::uint64_t{1}));
    for (const flow_entry& entry : memory_->entries())
        if (entry.high() >= r.threshold) r.flows.push_back({entry.key, entry.counted, entry.high()});
    std::ranges::sort(r.flows, before_in_list);
    return r;
}

heavy_flows::report heavy_flows::close() {
    report r = so_far();
    const auto least = static_cast<double>(r.complete_from);
    auto entries = memory_->entries();
    std::ranges::sort(entries, std::greater(), &flow_entry::high);
    memory_->clear();
    for (const flow_entry& entry : entries) {
        if (memory_->size() == kept()) break;
        const auto counted = static_cast<double>(entry.counted);
        const bool heavy = static_cast<double>(entry.high()) >= least;
        const bool fresh = entry.earlier == 0 && counted >= options_.keep * least;
        if (heavy || fresh)
            memory_->insert({.key = entry.key, .earlier = entry.high()}, hash_(entry.key.bytes()));
    }
    filter_.clear();
    total_ = passed_ = dropped_ = 0;
    return r;
}

}  // namespace posy::packets
