#include "posy/packet/fair_blue.hpp"

#include <algorithm>

#include "base/mix.hpp"
#include "posy/base/wide.hpp"

namespace posy::packets {

fair_blue::fair_blue(const fair_blue_settings& s, std::uint64_t now)
    : settings_(s), change_at_(now + s.rehash), tokens_(s.penalty_burst), filled_at_(now) {
    if (settings_.bin_packets == 0)
        settings_.bin_packets = std::max<std::uint64_t>(1, s.limit * 3 / (2 * s.bins));
    for (bin_set& set : sets_) begin(set);
}

// New hashes, and nothing known.
void fair_blue::begin(bin_set& set) {
    set.epoch = ++epochs_;
    set.seed = base::draw(settings_.seed, set.epoch);
    set.bins.assign(std::size_t{settings_.levels} * settings_.bins, {});
}

std::size_t fair_blue::index(const bin_set& set, digest flow, unsigned level) const {
    const std::uint64_t drawn = base::mix((flow.low ^ base::draw(set.seed, level)) + flow.high);
    return std::size_t{level} * settings_.bins +
           static_cast<std::size_t>(base::u128{drawn} * settings_.bins >> 64);
}

void fair_blue::change_hashes(std::uint64_t now) {
    begin(sets_[active_]);
    active_ ^= 1;
    change_at_ = now + settings_.rehash;
    ++changes_;
}

void fair_blue::learn(bin_set& set, digest flow, std::uint64_t now, bool does_not_yield) const {
    for (unsigned level = 0; level < settings_.levels; ++level) {
        bin& mine = set.bins[index(set, flow, level)];
        if (now < mine.changed + settings_.freeze) continue;
        double next = mine.probability;
        if (does_not_yield || mine.packets > settings_.bin_packets)
            next = std::min(1.0, next + settings_.step);
        else if (mine.packets == 0)
            next = std::max(0.0, next - settings_.step);
        if (next != mine.probability) mine.changed = now;
        mine.probability = next;
    }
}

double fair_blue::probability(digest flow) const {
    const bin_set& set = sets_[active_];
    double least = 1;
    for (unsigned level = 0; level < settings_.levels; ++level)
        least = std::min(least, set.bins[index(set, flow, level)].probability);
    return least;
}

bool fair_blue::has_token(std::uint64_t now) {
    tokens_ += static_cast<double>(now - filled_at_) * 1e-6 * settings_.penalty_rate;
    tokens_ = std::min(tokens_, settings_.penalty_burst);
    filled_at_ = now;
    if (tokens_ < 1) return false;
    tokens_ -= 1;
    return true;
}

std::pair<fate, fair_blue::ticket> fair_blue::arrive(digest flow, std::uint64_t now, double chance,
                                                     bool understands_marks) {
    if (now >= change_at_) change_hashes(now);
    learn(sets_[active_], flow, now, false);
    const double least = probability(flow);
    if (now + settings_.warm_up >= change_at_) learn(sets_[active_ ^ 1], flow, now, least >= 1);
    bool full = true;
    for (unsigned level = 0; level < settings_.levels; ++level) {
        const bin_set& set = sets_[active_];
        full &= set.bins[index(set, flow, level)].packets > settings_.bin_packets * 2;
    }
    if (least >= 1 && !has_token(now)) return {fate::punished, {}};
    if (full || queued_ >= settings_.limit) return {fate::overlimit, {}};
    const bool mark = least < 1 && chance < least;
    if (mark && !understands_marks) return {fate::early, {}};

    const ticket t{flow, {sets_[0].epoch, sets_[1].epoch}};
    for (bin_set& set : sets_) {
        for (unsigned level = 0; level < settings_.levels; ++level)
            ++set.bins[index(set, flow, level)].packets;
    }
    ++queued_;
    return {mark ? fate::marked : fate::queued, t};
}

// A set that has begun anew since does not know of the packet.
void fair_blue::leave(const ticket& t) {
    for (std::size_t i = 0; i < sets_.size(); ++i) {
        bin_set& set = sets_[i];
        if (set.epoch != t.epochs[i]) continue;
        for (unsigned level = 0; level < settings_.levels; ++level)
            --set.bins[index(set, t.flow, level)].packets;
    }
    --queued_;
}

}  // namespace posy::packets
