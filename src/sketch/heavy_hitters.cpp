#include "posy/heavy_hitters.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cassert>
#include <cmath>

#include "base/reader.hpp"
#include "base/saturate.hpp"

namespace posy {

result<heavy_hitters> heavy_hitters::make(count_min sketch, double phi, double keep, std::uint64_t room) {
    if (sketch.total() != 0)
        return error::invalid(
            "the sketch has counted already; heavy hitters need to see every key from the first on");
    if (room == 0 || room > candidate_set::max_room)
        return error::invalid("room for " + std::to_string(room) + " keys; 1 to 2^31 are possible");
    return heavy_hitters(std::move(sketch), phi, keep, candidate_set(room));
}

// At most 1/keep keys have that share. Twice as many have room, since it is estimates that are kept.
result<heavy_hitters> heavy_hitters::above(count_min sketch, double phi) {
    constexpr double hair = 1e-9;  // so that keep + ε is not above φ, however it is rounded
    const double keep = (phi - sketch.epsilon()) * (1 - hair);
    if (!(keep > 0 && phi < 1))
        return error::invalid("a threshold of " + std::to_string(phi) +
                              " of the total; it must be below 1 and above the " + "sketch's epsilon of " +
                              std::to_string(sketch.epsilon()));
    return make(std::move(sketch), phi, keep,
                static_cast<std::uint64_t>(std::min(std::ceil(2 / keep), 0x1p62)));
}

result<heavy_hitters> heavy_hitters::top(count_min sketch, std::uint64_t room) {
    return make(std::move(sketch), 0, 0, room);
}

void heavy_hitters::add(std::span<const std::string_view> keys, std::span<const digest> digests) {
    assert(keys.size() == digests.size());
    std::array<std::uint64_t, 256> estimates;
    for (std::size_t from = 0; from < keys.size(); from += estimates.size()) {
        const auto some = digests.subspan(from, std::min(estimates.size(), keys.size() - from));
        sketch_.add(some, std::span(estimates).first(some.size()));
        const double least = keep_threshold();
        for (std::size_t i = 0; i < some.size(); ++i)
            candidates_.offer(keys[from + i], some[i], estimates[i], least);
    }
}

heavy_hitters::list heavy_hitters::report(std::optional<std::uint64_t> most) const {
    const auto ceiling = [](double x) { return static_cast<std::uint64_t>(std::ceil(x)); };
    const auto above_dropped = saturating_sum<std::uint64_t>(candidates_.dropped(), 1);
    list found{.complete_from = std::max(above_dropped, ceiling(threshold()))};
    found.stable_from =
        static_cast<double>(candidates_.dropped()) < keep_threshold()
            ? std::max(ceiling(threshold()), ceiling(keep_threshold() + sketch_.error_bound()))
            : saturating_sum(above_dropped, ceiling(sketch_.error_bound()));
    for (const auto& [d, candidate] : candidates_.keys())
        if (const auto now = sketch_.estimate(d); static_cast<double>(now) >= threshold())
            found.keys.push_back({candidate.key, now});
    std::ranges::sort(found.keys, before_in_list);
    if (!most && phi_ == 0) most = room();
    if (most && found.keys.size() > *most) {
        found.complete_from =
            std::max(found.complete_from, saturating_sum<std::uint64_t>(found.keys[*most].count, 1));
        found.keys.resize(*most);
    }
    return found;
}

// No key that is not a candidate was seen more often than this.
std::uint64_t heavy_hitters::most_outside() const {
    return std::max(static_cast<std::uint64_t>(std::ceil(keep_threshold())), candidates_.dropped());
}

result<void> unite(heavy_hitters& into, const heavy_hitters& from) {
    if (into.phi_ != from.phi_)
        return error::mismatch("the thresholds differ; only heavy hitters of one threshold unite");
    const auto has_dropped = [](const heavy_hitters& h) {
        return static_cast<double>(h.candidates_.dropped()) > h.keep_threshold();
    };
    const bool dropped = has_dropped(into) || has_dropped(from);
    const std::uint64_t outside = saturating_sum(into.most_outside(), from.most_outside());
    if (auto united = unite(into.sketch_, from.sketch_); !united) return united;
    into.keep_ = std::max(into.keep_, from.keep_);
    into.candidates_.unite(from.candidates_,
                           dropped ? std::min(outside, largest_of(into.sketch_.counter_width())) : 0,
                           into.keep_threshold(), [&](digest d) { return into.sketch_.estimate(d); });
    return {};
}

void heavy_hitters::append_to(std::vector<std::byte>& out) const {
    const auto put = [&](std::uint64_t word) { base::put_little(out, word); };
    put(std::bit_cast<std::uint64_t>(phi_));
    if (keep_ != phi_) {
        out.push_back({});
        put(std::bit_cast<std::uint64_t>(keep_));
    }
    base::put_varint(out, room());
    base::put_varint(out, candidates_.dropped());
    const auto& keys = candidates_.keys();
    base::put_varint(out, keys.size());
    std::vector<candidate_set::map::const_iterator> order;
    for (auto at = keys.begin(); at != keys.end(); ++at) order.push_back(at);
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

namespace {

double take_share(base::reader& in) {
    const auto share = std::bit_cast<double>(in.number<std::uint64_t>());
    if (!(share >= 0 && share < 1) || std::signbit(share)) in.fail("a threshold that is no share of a total");
    return share;
}

// Adds what their memory is to `memory`.
candidate_set::map take_candidates(base::reader& in, std::uint64_t room, std::uint64_t dropped,
                                   std::uint64_t max_bytes, std::uint64_t& memory) {
    candidate_set::map found;
    digest last;
    for (std::uint64_t left = in.varint(2 * room - 1); left > 0 && !in.wrong(); --left) {
        digest d;
        d.low = in.number<std::uint64_t>();
        d.high = in.number<std::uint64_t>();
        if (!found.empty() && std::pair(d.low, d.high) <= std::pair(last.low, last.high))
            in.fail("digests that do not ascend");
        last = d;
        heavy_hitter candidate{.count = in.varint()};
        if (candidate.count == 0 || candidate.count < dropped) in.fail("a candidate that counts too little");
        const byte_view key = in.take(in.varint());
        memory += sizeof(candidate_set::map::value_type) + key.size();
        if (memory > max_bytes) in.fail_above_limit("keys", memory, max_bytes);
        if (in.wrong()) break;
        candidate.key.assign(reinterpret_cast<const char*>(key.data()), key.size());
        found.emplace(d, std::move(candidate));
        // Random digests share a bucket with a few others. Digests from a hostile message might all be in one
        // bucket and take very long.
        if (found.bucket_size(found.bucket(d)) > 64) in.fail("digests that no hash gave");
    }
    return found;
}

}  // namespace

result<heavy_hitters> heavy_hitters::parse(hasher hash, byte_view payload, const read_limits& limits) {
    const std::uint64_t max_bytes = limits.most(payload.size());
    base::reader in(payload);
    const double phi = take_share(in);
    double keep = phi;
    std::uint64_t room = in.varint(candidate_set::max_room);
    if (room == 0) {
        keep = take_share(in);
        if (!(keep > 0 && keep < phi)) in.fail("keys that are kept from no share below the threshold on");
        room = in.varint(candidate_set::max_room);
    }
    if (room == 0) in.fail("room for no keys");
    const std::uint64_t dropped = in.varint();
    if (in.wrong()) return *in.wrong();
    std::uint64_t memory = 0;
    auto found = take_candidates(in, room, dropped, max_bytes, memory);
    const byte_view rest = in.rest();
    if (in.wrong()) return *in.wrong();
    auto sketch = count_min::parse(hash, rest, read_limits::exactly(max_bytes - memory));
    if (!sketch) in.fail_inside(sketch.error());
    if (in.wrong()) return *in.wrong();
    for (const auto& [d, candidate] : found)
        if (candidate.count > sketch->estimate(d))
            in.fail("a candidate that counts more than the sketch says");
    if (dropped > largest_of(sketch->counter_width()))
        in.fail("a dropped candidate that counts more than the sketch can");
    if (phi > 0 && phi <= sketch->epsilon()) in.fail("a threshold below the sketch's epsilon");
    if (in.wrong()) return *in.wrong();
    return heavy_hitters(std::move(*sketch), phi, keep, candidate_set::of(std::move(found), room, dropped));
}

}  // namespace posy
