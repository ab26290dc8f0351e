#include "posy/overlay/home_ring.hpp"

#include <algorithm>

#include "base/mix.hpp"

namespace posy::overlay {

home_ring::home_ring(node_id me, std::uint64_t secret, std::size_t most)
    : here_(point_of(me)), me_(me), holders_(0, by_secret{secret}), most_(most) {}

std::uint64_t home_ring::point_of(node_id node) { return base::draw(0x686f6d65, node); }
std::uint64_t home_ring::point_of(const digest& key) { return base::mix(key.low ^ base::mix(key.high)); }

std::size_t home_ring::by_secret::operator()(const digest& d) const {
    return base::mix(d.low ^ secret) ^ d.high;
}

void home_ring::set_members(std::span<const node_id> members) {
    std::vector<finger> others;  // by their distance
    for (const node_id node : members) {
        if (node != me_) others.push_back({point_of(node) - here_, node});
    }
    std::ranges::sort(others, {}, &finger::distance);
    fingers_.clear();
    before_ = others.empty() ? 0 : std::uint64_t{0} - others.back().distance;
    for (unsigned i = 0; i < 64; ++i) {
        const auto first = std::ranges::lower_bound(others, std::uint64_t{1} << i, {}, &finger::distance);
        if (first == others.end()) break;
        if (fingers_.empty() || fingers_.back().node != first->node) fingers_.push_back(*first);
    }
}

std::optional<node_id> home_ring::next_hop(const digest& key) const {
    const std::uint64_t behind = here_ - point_of(key);  // from the object clockwise to here
    if (fingers_.empty() || behind < before_) return std::nullopt;
    const std::uint64_t ahead = std::uint64_t{0} - behind;
    const auto beyond = std::ranges::lower_bound(fingers_, ahead, {}, &finger::distance);
    return beyond == fingers_.begin() ? fingers_.front().node : std::prev(beyond)->node;
}

bool home_ring::add(const digest& key, node_id holder) {
    auto& known = holders_[key];
    if (const auto found = std::ranges::find(known, holder); found != known.end()) {
        std::rotate(known.begin(), found, found + 1);
        return true;
    }
    if (pointers_ >= most_) {
        if (known.empty()) holders_.erase(key);
        return false;
    }
    known.insert(known.begin(), holder);
    ++pointers_;
    if (known.size() > most_holders) known.pop_back(), --pointers_;
    return true;
}

bool home_ring::remove(const digest& key, node_id holder) {
    const auto found = holders_.find(key);
    if (found == holders_.end() || std::erase(found->second, holder) == 0) return false;
    --pointers_;
    if (found->second.empty()) holders_.erase(found);
    return true;
}

std::span<const node_id> home_ring::holders(const digest& key) const {
    const auto found = holders_.find(key);
    return found == holders_.end() ? std::span<const node_id>() : found->second;
}

}  // namespace posy::overlay
