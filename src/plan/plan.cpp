#include "posy/plan.hpp"

#include <algorithm>
#include <cmath>

#include "plan/search.hpp"
#include "posy/sealed_filter.hpp"
#include "posy/theory.hpp"

namespace posy {

result<plan> choose(const wishes& want) {
    const auto s = plan_search::make(want);
    if (!s) return s.error();
    return s->best();
}

hash_family fastest_hash(double items, double rate) {
    constexpr double small_share = 1e-3;
    const double added = hash_collision_rate(hash_family::fold64, items);
    return added <= small_share * rate ? hash_family::fold64 : hash_family::xxh3;
}

result<std::vector<plan>> tradeoff(const wishes& want) {
    const auto s = plan_search::make(want);
    if (!s) return s.error();
    std::vector<plan> rows;
    for (unsigned k = s->first(); k <= s->last(); ++k) {
        if (auto p = s->with(k); p && !s->broken(*p)) rows.push_back(*p);
    }
    return rows;
}

namespace {

// The sealed filter that was asked for a rate.
sealed_plan sealed_at(std::string name, double items, double rate) {
    return {std::move(name), rate, theory::sealed_rate(items, rate), theory::sealed_bits(items, rate)};
}

// The lowest rate whose sealed filter takes at most this many bits.
double sealed_rate_within(double items, double bits) {
    double low = std::ldexp(1, -32), high = 1;
    if (theory::sealed_bits(items, low) <= bits) return low;
    for (int halving = 0; halving < 60; ++halving) {
        const double middle = std::sqrt(low * high);
        (theory::sealed_bits(items, middle) <= bits ? high : low) = middle;
    }
    return high;
}

}  // namespace

result<advice> advise(const wishes& want) {
    const auto chosen = choose(want);
    if (!chosen) return chosen.error();
    advice a{*chosen, {}, {}};
    // Alternatives for the same items at the same rate, memory or message size. Those that are impossible or
    // equal to the plan are left out.
    const auto offer = [&](std::string name, wishes other, layout_id layout, goal aim) {
        other.items = want.items;
        other.delta_fraction = want.delta_fraction;
        const auto p = plan_search{other, layout, aim, chosen->hash}.best();
        if (p && p->geometry() != chosen->geometry()) a.alternatives.push_back({std::move(name), *p});
    };
    const double rate = chosen->false_positive_rate;
    const double message = std::max(chosen->message_bits_per_item(), 0.01);
    offer("standard, same rate", {.rate = rate}, layout_id::spread, goal::memory);
    offer("standard, same message", {.bits_per_item = message}, layout_id::spread, goal::rate);
    for (const layout_id fast : {layout_id::blocked, layout_id::paired}) {
        if (chosen->layout != fast)
            offer(std::string(name_of(fast)) + ", same rate", {.rate = rate}, fast, goal::memory);
    }
    offer("compressed, same rate", {.rate = rate}, layout_id::spread, goal::message);
    offer("compressed, same message", {.message_bits_per_item = message}, layout_id::spread, goal::message);
    if (want.delta_fraction) offer("small delta, same rate", {.rate = rate}, layout_id::spread, goal::delta);
    if (chosen->hashes > 2) {
        offer("fewer hashes, same array",
              {.bits_per_item = chosen->bits_per_item(), .hashes = chosen->hashes / 2}, chosen->layout,
              goal::rate);
    }
    const auto items = static_cast<double>(want.items);
    if (rate >= std::ldexp(1, -32) && rate < 1)
        a.sealed.push_back(sealed_at("sealed, same rate", items, rate));
    if (const double best = sealed_rate_within(items, chosen->message_bits); best < 1)
        a.sealed.push_back(sealed_at("sealed, same message", items, best));
    return a;
}

}  // namespace posy
