#include "posy/packet.hpp"

#include <algorithm>
#include <cmath>

#include "posy/message.hpp"
#include "posy/theory.hpp"

namespace posy {
namespace {

constexpr double frame_bytes = 48;  // more than a frame with a 64-bit seed takes
constexpr double deviations = 4;    // one set in 30,000 needs a second attempt
constexpr unsigned seeds = 4;       // tried at each size

// How much the coded size of such a filter varies from set to set, in bits: each one more or less moves the
// bound by log2 of the odds of a zero.
double coded_deviation(const plan& p) {
    const double variance =
        theory::zero_count_variance(static_cast<double>(p.items), static_cast<double>(p.bits), p.hashes);
    return std::sqrt(variance) * std::abs(std::log2((1 - p.fill) / p.fill));
}

// The best compressed filter that fits into `bits` bits, with room for its variation.
result<plan> plan_within(std::uint64_t items, double bits, const packet_wishes& want) {
    wishes w{.items = items, .max_memory = want.max_memory, .max_hashes = want.max_hashes};
    w.message_bits_per_item = bits / static_cast<double>(items);
    auto p = choose(w);
    if (!p) return p;
    w.message_bits_per_item = (bits - deviations * coded_deviation(*p)) / static_cast<double>(items);
    return choose(w);
}

result<plan> plain_within(std::uint64_t items, double bits, const packet_wishes& want) {
    wishes w{.items = items, .max_hashes = want.max_hashes, .layout = layout_id::spread};
    w.bits_per_item = std::floor(bits / 64) * 64 / static_cast<double>(items);  // whole words
    return choose(w);
}

}  // namespace

result<packet> pack_set(std::uint64_t items, const std::function<void(bloom_filter&)>& fill,
                        const packet_wishes& want) {
    const double room = 8 * (static_cast<double>(want.max_bytes) - frame_bytes);
    const error too_small = error::invalid("no filter fits into " + std::to_string(want.max_bytes) +
                                           " bytes; the frame alone takes up to " +
                                           std::to_string(static_cast<int>(frame_bytes) + 64));
    if (room < 8 * 64) return too_small;
    const std::uint64_t n = std::max<std::uint64_t>(items, 1);

    packet sent;
    const auto attempt = [&](const plan& p, std::uint64_t seed_offset) -> result<bool> {
        geometry g = p.geometry(want.hash, want.seed);
        if (want.hash != hash_family::md5) g.seed.low += seed_offset;
        auto filter = bloom_filter::make(g);
        if (!filter) return filter.error();
        fill(*filter);
        ++sent.attempts;
        sent.message = to_bytes(*filter, {.want = coding::smallest});
        sent.geometry = g;
        sent.false_positive_rate = filter->false_positive_rate();
        return sent.message.size() <= want.max_bytes;
    };
    for (const double share : {1.0, 0.99, 0.95}) {
        const auto p = plan_within(n, share * room, want);
        if (!p) break;
        for (std::uint64_t seed = 0; seed < seeds; ++seed) {
            const auto fits = attempt(*p, seed);
            if (!fits) return fits.error();
            if (*fits) return sent;
        }
    }
    // A plain filter: raw, it is no larger than its array and a padded header.
    const auto p = plain_within(n, room - 8 * 64, want);
    if (!p) return p.error();
    const auto fits = attempt(*p, 0);
    if (!fits) return fits.error();
    if (*fits) return sent;
    return too_small;
}

}  // namespace posy
