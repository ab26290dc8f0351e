#include "posy/heavy_hitters.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cassert>
#include <cmath>

#include "base/reader.hpp"

namespace posy {
namespace {

constexpr std::uint64_t max_room = std::uint64_t{1} << 31;

}  // namespace

result<heavy_hitters> heavy_hitters::make(count_min sketch, double phi, std::uint64_t room) {
    if (sketch.total() != 0)
        return error::invalid(
            "the sketch has counted already; heavy hitters need to see every key from the first on");
    if (room == 0 || room > max_room)
        return error::invalid("room for " + std::to_string(room) + " keys; 1 to 2^31 are possible");
    return heavy_hitters(std::move(sketch), phi, room);
}

result<heavy_hitters> heavy_hitters::above(count_min sketch, double phi) {
    const double surplus = phi - sketch.epsilon();
    if (!(surplus > 0 && phi < 1))
        return error::invalid("a threshold of " + std::to_string(phi) +
                              " of the total; it must be below 1 and above the " + "sketch's epsilon of " +
                              std::to_string(sketch.epsilon()));
    return make(std::move(sketch), phi, static_cast<std::uint64_t>(std::ceil(1 / surplus)));
}

result<heavy_hitters> heavy_hitters::top(count_min sketch, std::uint64_t k) {
    return make(std::move(sketch), 0, k);
}

void heavy_hitters::add(std::span<const std::string_view> keys, std::span<const digest> digests) {
    assert(keys.size() == digests.size());
    std::array<std::uint32_t, 256> estimates;
    for (std::size_t from = 0; from < keys.size(); from += estimates.size()) {
        const auto some = digests.subspan(from, std::min(estimates.size(), keys.size() - from));
        sketch_.add(some, std::span(estimates).first(some.size()));
        for (std::size_t i = 0; i < some.size(); ++i) consider(keys[from + i], some[i], estimates[i]);
    }
}

// A key whose estimate does not pass is light now. If it is a candidate, its count is out of date, but below
// the threshold, and a candidate below the threshold is not reported.
void heavy_hitters::consider(std::string_view key, digest d, std::uint32_t estimate) {
    if (estimate <= dropped_ || estimate < threshold()) return;
    const auto [at, fresh] = candidates_.try_emplace(d);
    at->second.count = estimate;
    if (!fresh) return;
    at->second.key = key;
    if (candidates_.size() >= 2 * room_) prune();
}

double heavy_hitters::threshold() const { return phi_ * static_cast<double>(sketch_.total()); }

// The candidates that are heavy now, most frequent first.
std::vector<heavy_hitters::candidates::const_iterator> heavy_hitters::ranked() const {
    std::vector<candidates::const_iterator> order;
    for (auto at = candidates_.begin(); at != candidates_.end(); ++at)
        if (at->second.count >= threshold()) order.push_back(at);
    std::ranges::sort(order, [](const auto& a, const auto& b) {
        return a->second.count != b->second.count ? a->second.count > b->second.count
                                                  : a->second.key < b->second.key;
    });
    return order;
}

// Candidates never count less than `dropped_`: those that stay are no smaller than the largest that goes, and
// later ones are above it.
void heavy_hitters::prune() {
    auto order = ranked();
    if (order.size() > room_) {
        dropped_ = std::max(dropped_, order[room_]->second.count);
        order.resize(room_);
    }
    candidates kept;
    for (const auto& at : order) kept.insert(candidates_.extract(at));
    candidates_ = std::move(kept);
}

heavy_hitters::list heavy_hitters::report() const {
    auto order = ranked();
    list found{{}, std::uint64_t{dropped_} + 1};
    if (phi_ > 0) {
        found.complete_from =
            std::max(found.complete_from, static_cast<std::uint64_t>(std::ceil(threshold())));
    } else if (order.size() > room_) {
        found.complete_from = std::max(found.complete_from, std::uint64_t{order[room_]->second.count} + 1);
        order.resize(room_);
    }
    for (const auto& at : order) found.keys.push_back(at->second);
    return found;
}

result<void> unite(heavy_hitters& into, const heavy_hitters& from) {
    if (into.phi_ != from.phi_ || into.room_ != from.room_)
        return error::mismatch("the thresholds or rooms differ; only heavy hitters of one kind unite");
    // No key outside of either set was seen more often than the sum of these.
    const auto limit = [](const heavy_hitters& h) {
        return std::max(std::ceil(h.threshold()), h.dropped_ + 0.0);
    };
    const double outside = limit(into) + limit(from);
    const bool dropped = into.dropped_ > into.threshold() || from.dropped_ > from.threshold();
    if (auto united = unite(into.sketch_, from.sketch_); !united) return united;
    into.dropped_ = dropped ? static_cast<std::uint32_t>(std::min<double>(outside, count_min::largest)) : 0;
    for (const auto& [d, candidate] : from.candidates_) into.candidates_.try_emplace(d, candidate);
    for (auto& [d, candidate] : into.candidates_) candidate.count = into.sketch_.estimate(d);
    std::erase_if(into.candidates_, [&](const auto& each) { return each.second.count < into.dropped_; });
    if (into.candidates_.size() >= 2 * into.room_) into.prune();
    return {};
}

void heavy_hitters::append_to(std::vector<std::byte>& out) const {
    const auto put = [&](std::uint64_t word) { base::put_little(out, word); };
    put(std::bit_cast<std::uint64_t>(phi_));
    base::put_varint(out, room_);
    base::put_varint(out, dropped_);
    base::put_varint(out, candidates_.size());
    std::vector<candidates::const_iterator> order;
    for (auto at = candidates_.begin(); at != candidates_.end(); ++at) order.push_back(at);
    std::ranges::sort(order, {}, [](const auto& at) { return std::pair(at->first.low, at->first.high); });
    for (const auto& at : order) {
        put(at->first.low);
        put(at->first.high);
        base::put_varint(out, at->second.count);
        base::put_varint(out, at->second.key.size());
        const byte_view key = as_byte_view(at->second.key);
        out.insert(out.end(), key.begin(), key.end());
    }
    sketch_.append_to(out);
}

result<heavy_hitters> heavy_hitters::parse(hasher hash, byte_view payload, const read_limits& limits) {
    const std::uint64_t max_bytes = limits.most(payload.size());
    base::reader in(payload);
    const auto phi = std::bit_cast<double>(in.number<std::uint64_t>());
    if (!(phi >= 0 && phi < 1) || std::signbit(phi)) in.fail("a threshold that is no share of a total");
    const std::uint64_t room = in.varint(max_room);
    if (room == 0) in.fail("room for no keys");
    const auto dropped = static_cast<std::uint32_t>(in.varint(count_min::largest));
    candidates found;
    std::uint64_t memory = 0;
    digest last;
    for (std::uint64_t left = in.varint(2 * room - 1); left > 0 && !in.wrong(); --left) {
        digest d;
        d.low = in.number<std::uint64_t>();
        d.high = in.number<std::uint64_t>();
        if (!found.empty() && std::pair(d.low, d.high) <= std::pair(last.low, last.high))
            in.fail("digests that do not ascend");
        last = d;
        heavy_hitter candidate;
        candidate.count = static_cast<std::uint32_t>(in.varint(count_min::largest));
        if (candidate.count == 0 || candidate.count < dropped) in.fail("a candidate that counts too little");
        const byte_view key = in.take(in.varint());
        memory += sizeof(candidates::value_type) + key.size();
        if (memory > max_bytes) in.fail_above_limit("keys", memory, max_bytes);
        if (in.wrong()) break;
        candidate.key.assign(reinterpret_cast<const char*>(key.data()), key.size());
        found.emplace(d, std::move(candidate));
        // Random digests share a bucket with a few others. Digests from a hostile message might all be in one
        // bucket and take very long.
        if (found.bucket_size(found.bucket(d)) > 64) in.fail("digests that no hash gave");
    }
    const byte_view rest = in.rest();
    if (in.wrong()) return *in.wrong();
    auto sketch = count_min::parse(hash, rest, read_limits::exactly(max_bytes - memory));
    if (!sketch) in.fail_inside(sketch.error());
    if (in.wrong()) return *in.wrong();
    for (const auto& [d, candidate] : found)
        if (candidate.count > sketch->estimate(d))
            in.fail("a candidate that counts more than the sketch says");
    if (phi > 0 && phi <= sketch->epsilon()) in.fail("a threshold below the sketch's epsilon");
    if (in.wrong()) return *in.wrong();
    heavy_hitters parsed(std::move(*sketch), phi, room);
    parsed.dropped_ = dropped;
    parsed.candidates_ = std::move(found);
    return parsed;
}

}  // namespace posy
