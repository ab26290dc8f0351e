#include "byte_model.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <numeric>

#include "reciprocal.hpp"

namespace posy::codec {
namespace {

__extension__ using wide = unsigned __int128;

constexpr std::array<std::uint32_t, 9> choose8{1, 8, 28, 56, 70, 56, 28, 8, 1};

std::uint64_t multiply(std::uint64_t a, std::uint64_t b) {  // of fractions of 2^64
    return static_cast<std::uint64_t>(wide{a} * b >> 64);
}

// The side stream's shares: 1 + weight's part of 2^20 − 256 each, so that they cannot add up to more than
// 2^20. What is left unused is below 2^−12 of the little that is escaped.
void share_side(byte_model& model, const std::array<std::uint64_t, 256>& weights) {
    std::uint64_t total = 0;
    for (unsigned b = 0; b < 256; ++b)
        if (model.escaped[b]) total += weights[b];
    std::uint32_t at = 0;
    for (unsigned b = 0; b < 256; ++b) {
        if (!model.escaped[b] || weights[b] == 0) continue;
        const auto part = static_cast<std::uint64_t>(wide{weights[b]} * ((1u << side_bits) - 256) / total);
        model.side_start[b] = at;
        model.side_frequency[b] = static_cast<std::uint32_t>(1 + part);
        at += model.side_frequency[b];
    }
}

// The probability of one byte with c ones, for c from 0 to 8, in 2^-64.
std::array<std::uint64_t, 9> probabilities_of_bytes(std::uint64_t ones, std::uint64_t bits) {
    const auto p = static_cast<std::uint64_t>((wide{ones} << 64) / bits),
               q = ~p + 1;  // 2^64 is q + p; p ≤ 1/2
    std::array<std::uint64_t, 9> probability{};
    for (unsigned c = 0; c <= 8; ++c) {
        probability[c] = ~std::uint64_t{0};
        for (unsigned i = 0; i < 8; ++i) probability[c] = multiply(probability[c], i < c ? p : q);
    }
    return probability;
}

// The slots of each byte with c ones; 0 if such bytes are escaped.
using slots_by_ones = std::array<std::uint16_t, 9>;

// Numbers of ones are shared or escaped as a whole. A number is escaped if its bytes would get fewer than 2
// slots each (rounding then costs more than 0.02 %) or fewer than 64 together (the SIMD decoder finds the
// number by a table of 64 entries). That leaves at most seven. Of the ways to round each share up or down,
// with the rest going to the byte 0 and the escape, the best by Σ (f − F)²/f, twice the loss to second order,
// is taken.
slots_by_ones best_slots(const std::array<std::uint64_t, 9>& probability) {
    // The shares that were exact, in slots / 2^16.
    constexpr std::int64_t unit = 1 << 16;
    std::array<std::int64_t, 9> ideal{};
    std::array<unsigned, 9> shared{};
    unsigned shared_count = 0;
    std::int64_t escape_ideal = slots * unit;
    for (unsigned c = 0; c < 8; ++c) {
        ideal[c] = static_cast<std::int64_t>(probability[c] >> (64 - slot_bits - 16));
        if (ideal[c] < 2 * unit || ideal[c] * choose8[c] < 64 * unit) continue;
        escape_ideal -= ideal[c] * choose8[c];
        if (c > 0) shared[shared_count++] = c;
    }
    // The escape gets at least 2 slots, so enough bytes are escaped to use them.
    for (; escape_ideal < 3 * unit / 2 && shared_count > 0; --shared_count)
        escape_ideal += ideal[shared[shared_count - 1]] * choose8[shared[shared_count - 1]];
    const bool zero_shared = ideal[0] >= 64 * unit;
    const auto loss = [](std::int64_t f, std::int64_t exact) {
        return static_cast<std::uint64_t>((f * unit - exact) * (f * unit - exact) / f);
    };
    slots_by_ones best{};
    std::uint64_t best_loss = std::numeric_limits<std::uint64_t>::max();
    for (unsigned up = 0; up < 1u << shared_count; ++up) {
        slots_by_ones trial{};
        std::int64_t rest = slots;
        std::uint64_t cost = 0;
        for (unsigned i = 0; i < shared_count; ++i) {
            const unsigned c = shared[i];
            trial[c] = static_cast<std::uint16_t>(ideal[c] / unit + (up >> i & 1));
            rest -= trial[c] * static_cast<std::int64_t>(choose8[c]);
            cost += choose8[c] * loss(trial[c], ideal[c]);
        }
        if (!zero_shared && rest >= 2) {
            if (const auto all = cost + loss(rest, escape_ideal); all < best_loss)
                best = trial, best_loss = all;
        }
        if (!zero_shared) continue;
        const std::int64_t middle = ideal[0] / unit;
        for (std::int64_t f = std::max<std::int64_t>(2, middle - 64); f <= std::min(rest - 2, middle + 64);
             ++f) {
            if (!has_exact_reciprocal(static_cast<std::uint32_t>(f))) continue;
            const auto all = cost + loss(f, ideal[0]) + loss(rest - f, escape_ideal);
            if (all < best_loss) best = trial, best[0] = static_cast<std::uint16_t>(f), best_loss = all;
        }
    }
    return best;
}

}  // namespace

byte_model model_of_density(std::uint64_t ones, std::uint64_t bits) {
    const auto probability = probabilities_of_bytes(ones, bits);
    const slots_by_ones best = best_slots(probability);
    byte_model model;
    model.by_ones = best;
    std::array<std::uint64_t, 256> weights{};
    std::uint32_t at = 0;
    for (unsigned c = 0; c <= 8; ++c) {
        for (unsigned b = 0; b < 256; ++b) {
            if (static_cast<unsigned>(std::popcount(b)) != c) continue;
            weights[b] = (probability[c] >> 8) + 1;  // a damaged or forced array may hold what cannot happen
            model.escaped[b] = best[c] == 0;
            model.start[b] = static_cast<std::uint16_t>(at);
            model.frequency[b] = best[c];
            at += best[c];
        }
    }
    for (unsigned b = 0; b < 256; ++b) {
        if (!model.escaped[b]) continue;
        model.start[b] = static_cast<std::uint16_t>(at);
        model.frequency[b] = static_cast<std::uint16_t>(slots - at);
    }
    share_side(model, weights);
    return model;
}

byte_model model_of_weights(const std::array<std::uint64_t, 256>& weights) {
    byte_model model;
    std::uint64_t total = 0;
    for (const std::uint64_t weight : weights) total += weight;
    // Escaped are the marker, which is the rarest byte, those that would get fewer than 2 slots, and as many
    // more as it takes for the escape, which gets 2 slots at least, to be worth them.
    std::array<std::uint8_t, 256> by_weight;
    std::iota(by_weight.begin(), by_weight.end(), std::uint8_t{0});
    std::ranges::stable_sort(by_weight, {}, [&](std::uint8_t b) { return weights[b]; });
    model.marker = by_weight[0];
    const auto share = [&](std::uint64_t weight) {  // rounded
        return static_cast<std::int64_t>(((wide{weight} << (slot_bits + 1)) / total + 1) / 2);
    };
    std::uint64_t escaped_weight = 0;
    std::int64_t rest = slots;
    for (const std::uint8_t b : by_weight) {
        const std::int64_t mine = share(weights[b]);
        model.escaped[b] = mine < 2 || b == model.marker || (share(escaped_weight) < 2 && mine < 64);
        if (model.escaped[b]) {
            escaped_weight += weights[b];
        } else {
            model.frequency[b] = static_cast<std::uint16_t>(std::min<std::int64_t>(mine, slots - 2));
            rest -= model.frequency[b];
        }
    }
    const std::int64_t escape = std::max<std::int64_t>(2, share(escaped_weight));
    // What rounding left over or took too much falls slot by slot to the byte that is then the most frequent,
    // where it is the smallest change; and a few more go to the escape until that one's reciprocal is exact.
    auto most = std::ranges::max_element(model.frequency);
    for (; rest != escape; most = std::ranges::max_element(model.frequency)) {
        const int step = rest > escape ? 1 : -1;
        *most = static_cast<std::uint16_t>(*most + step);
        rest -= step;
    }
    while (!has_exact_reciprocal(*most)) --*most;
    std::uint32_t at = 0;
    for (unsigned b = 0; b < 256; ++b) {
        model.start[b] = static_cast<std::uint16_t>(at);
        at += model.frequency[b];
    }
    for (unsigned b = 0; b < 256; ++b) {
        if (!model.escaped[b]) continue;
        model.start[b] = static_cast<std::uint16_t>(at);
        model.frequency[b] = static_cast<std::uint16_t>(slots - at);
    }
    share_side(model, weights);
    return model;
}

}  // namespace posy::codec
