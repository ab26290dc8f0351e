#include "flow_watch.hpp"

#include <algorithm>

#include "posy/hash/of_words.hpp"
#include "posy/theory/flows.hpp"

namespace posy::tool {

std::size_t flow_watch::key_hash::operator()(const packets::flow_key& key) const {
    std::uint64_t mixed = 0;
    for (const std::uint64_t word : key.words) mixed = hash::fold(mixed ^ word, hash::fold64_first);
    return mixed;
}

void flow_watch::add(const packets::flow_key& whole, std::uint64_t bytes, std::uint64_t packets,
                     std::uint64_t time) {
    pass(time);
    if (now_.begin == 0) now_.begin = time;
    any_ = true;
    now_.packets += packets;
    now_.bytes += bytes;
    latest_ = std::max(latest_, time);
    const packets::flow_key key = plan_.by.of(whole);
    const std::uint64_t weight = plan_.count_packets ? packets : bytes;
    meter_.add(key, weight);
    if (plan_.exact && weight > 0) exact_[key] += weight;
}

void flow_watch::pass(std::uint64_t now) {
    if (plan_.interval == 0 || now_.begin == 0 || now < now_.begin || now - now_.begin < plan_.interval)
        return;
    const std::uint64_t begin = now - (now - now_.begin) % plan_.interval;
    close(now_.begin + plan_.interval);
    now_.begin = begin;
}

void flow_watch::end(std::uint64_t now) {
    pass(now);
    if (any_) close(std::max({now_.begin, latest_, now}));
}

void flow_watch::close(std::uint64_t end) {
    if (any_) {
        ++now_.number;
        flow_interval done = so_far();
        done.number = now_.number;
        done.end = end;
        closed_(done);
    }
    meter_.close();
    exact_.clear();
    now_ = {.number = now_.number};
    latest_ = 0;
    any_ = false;
}

flow_interval flow_watch::so_far() const {
    flow_interval i = now_;
    i.end = std::max(latest_, i.begin);
    i.found = meter_.so_far();
    if (i.found.total > 0) {
        const auto least = static_cast<double>(i.found.complete_from);
        i.strength = theory::stage_strength(least, static_cast<double>(meter_.filter().width()),
                                            static_cast<double>(i.found.total));
        i.tenth_passes_at_most =
            theory::multistage_pass_bound(least / 10, least, i.strength, meter_.filter().stages());
    }
    if (plan_.exact) compare(i);
    return i;
}

void flow_watch::compare(flow_interval& i) const {
    i.flows = exact_.size();
    std::uint64_t seen = 0;
    for (const auto& flow : i.found.flows) {
        i.exact.push_back(exact_.at(flow.key));
        seen += i.exact.back() >= i.found.complete_from;
    }
    const auto heavy =
        std::ranges::count_if(exact_, [&](const auto& each) { return each.second >= i.found.complete_from; });
    i.missed = static_cast<std::uint64_t>(heavy) - seen;
}

}  // namespace posy::tool
