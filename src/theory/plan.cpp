#include "posy/plan.hpp"

#include <algorithm>
#include <cmath>

#include "posy/layout/all.hpp"
#include "posy/theory.hpp"

namespace posy {
namespace {

constexpr double default_rate = 0.01;
// A compressed filter gets better without end as its array grows and its hashes go down to one. Unless told
// how much memory there is, stop at this many times the message.
constexpr double array_to_message = 16;

unsigned most_hashes(layout_id layout) {
    return layouts::with_layout({512, 1, layout},
                                []<class Layout>(const Layout&) { return Layout::max_hashes; });
}

double expected_rate(std::uint64_t items, const geometry& g) {
    return layouts::expected_rate(g, static_cast<double>(items));
}

double expected_fill(std::uint64_t items, const geometry& g) {
    const auto shape = layouts::with_layout(g, [](const auto& layout) { return layout.groups(); });
    const auto n = static_cast<double>(items);
    return n == 0 ? 0 : -std::expm1(n * shape.log_untouched());
}

// Three significant digits.
std::string brief(double number) {
    std::string text(32, 0);
    text.resize(static_cast<std::size_t>(std::snprintf(text.data(), text.size(), "%.3g", number)));
    return text;
}

// The largest number up to `most` that fits, where all up to some number do and none above it; 0 if none
// does.
template <class Fits>
std::uint64_t last_that(std::uint64_t most, Fits fits) {
    std::uint64_t good = 0, bad = most + 1;
    while (bad - good > 1) {
        const std::uint64_t middle = good + (bad - good) / 2;
        (fits(middle) ? good : bad) = middle;
    }
    return good;
}

std::uint64_t granule_of(unsigned hashes, layout_id layout) { return round_up_bits(1, hashes, layout); }

// The largest array whose coded size, `size(geometry)`, stays within the budget; coded sizes grow with the
// array.
template <class Size>
std::uint64_t largest_within(double budget, unsigned hashes, layout_id layout, std::uint64_t limit,
                             Size size) {
    const std::uint64_t granule = granule_of(hashes, layout);
    return last_that(limit / granule,
                     [&](std::uint64_t granules) {
                         return size(geometry{granules * granule, hashes, layout}) <= budget;
                     }) *
           granule;
}

double message_size(std::uint64_t items, const geometry& g) {
    return static_cast<double>(g.bits) * theory::binary_entropy(expected_fill(items, g));
}

double delta_size(std::uint64_t items, const geometry& g, double fraction) {
    return static_cast<double>(g.bits) *
           theory::binary_entropy(theory::delta_density(1 - expected_fill(items, g), fraction));
}

struct search {
    const wishes& want;
    layout_id layout;
    goal aim;

    std::uint64_t limit() const {  // bits of the largest array allowed
        std::uint64_t bits = max_bits;
        if (want.max_memory)
            bits = std::min(bits, *want.max_memory > max_bits / 8 ? max_bits : *want.max_memory * 8);
        if (!want.max_memory && aim == goal::message && !want.bits_per_item) {
            const double message =
                want.message_bits_per_item.value_or(theory::bloom_bits(1, want.rate.value_or(default_rate)));
            bits = std::min(
                bits,
                static_cast<std::uint64_t>(
                    std::min(9e17, array_to_message * message * static_cast<double>(want.items)) + 512));
        }
        return bits;
    }
    double total(const std::optional<double>& per_item) const {
        return *per_item * static_cast<double>(want.items);
    }

    // The largest array within the budgets for the message and the delta. Where that leaves more than half of
    // the bits set, compression is of no use (it would take many hashes into a full array to gain a little):
    // then the array is the message.
    std::uint64_t largest(unsigned hashes) const {
        std::uint64_t bits = limit() / granule_of(hashes, layout) * granule_of(hashes, layout);
        if (want.message_bits_per_item) {
            const double budget = total(want.message_bits_per_item);
            const std::uint64_t coded = largest_within(
                budget, hashes, layout, bits, [&](const geometry& g) { return message_size(want.items, g); });
            const bool sparse = coded > 0 && expected_fill(want.items, {coded, hashes, layout}) <= 0.5;
            const std::uint64_t granule = granule_of(hashes, layout);
            bits = sparse ? coded : std::min(bits, static_cast<std::uint64_t>(budget) / granule * granule);
        }
        if (want.delta_bits_per_item) {
            bits = largest_within(
                total(want.delta_bits_per_item), hashes, layout, bits,
                [&](const geometry& g) { return delta_size(want.items, g, *want.delta_fraction); });
        }
        return bits;
    }

    // The array that so many hashes want.
    std::optional<std::uint64_t> bits_for(unsigned hashes) const {
        if (want.bits_per_item) {
            const double bits = std::round(total(want.bits_per_item));
            return round_up_bits(static_cast<std::uint64_t>(std::clamp(bits, 1.0, 2.0 * max_bits)), hashes,
                                 layout);
        }
        if (want.rate && aim != goal::rate) return smallest_bits(want.items, *want.rate, hashes, layout);
        if (want.message_bits_per_item || want.delta_bits_per_item || want.max_memory) return largest(hashes);
        return smallest_bits(want.items, want.rate.value_or(default_rate), hashes, layout);
    }

    // Which wish this plan breaks, or nothing.
    std::optional<std::string> broken(const plan& p) const {
        if (p.bits > limit()) {
            std::string why = "it needs " + std::to_string(p.memory_bytes()) + " bytes of memory, ";
            return why +
                   (want.max_memory
                        ? "and the largest allowed is " + std::to_string(*want.max_memory)
                        : "many times its message; allow them with a largest memory, or take more hashes");
        }
        if (want.rate && p.false_positive_rate > *want.rate) {
            return "a false-positive rate of " + brief(*want.rate) + " cannot be had: the best is " +
                   brief(p.false_positive_rate) + ", with " + std::to_string(p.hashes) + " hashes in " +
                   brief(p.bits_per_item()) + " bits per item";
        }
        if (want.message_bits_per_item && p.message_bits > total(want.message_bits_per_item) * (1 + 1e-12)) {
            return "a message of " + brief(*want.message_bits_per_item) +
                   " bits per item is too small: it takes " + brief(p.message_bits_per_item());
        }
        return std::nullopt;
    }

    bool budgeted() const { return want.message_bits_per_item || want.delta_bits_per_item; }
    double cost(const plan& p) const {
        switch (aim) {
            case goal::memory:
                return static_cast<double>(p.bits);
            case goal::message:
                // The budget is to be used, unless a rate is all that was asked of it.
                return budgeted() && !want.rate ? p.false_positive_rate : p.message_bits;
            case goal::rate:
                break;
        }
        return p.false_positive_rate;
    }
    bool better(const plan& p, const plan& than) const {
        const double difference = cost(p) - cost(than);
        if (std::abs(difference) > 1e-9 * cost(than)) return difference < 0;
        return p.false_positive_rate < than.false_positive_rate * (1 - 1e-9);
    }

    // The plan for so many hashes, or why there is none.
    result<plan> with(unsigned hashes) const {
        const auto bits = bits_for(hashes);
        if (!bits) return error{"no number of hashes gives that rate in 2^40 bits"};
        if (*bits == 0) return error{"there is room for not a single bit"};
        return predict(want.items, {*bits, hashes, layout}, want.delta_fraction);
    }
    unsigned first() const { return want.hashes.value_or(1); }
    unsigned last() const {
        return want.hashes.value_or(std::min(most_hashes(layout), want.max_hashes.value_or(32)));
    }

    result<plan> best() const {
        std::optional<plan> good, nearest;
        std::string why;
        for (unsigned k = first(); k <= last(); ++k) {
            const auto p = with(k);
            if (!p) {
                if (!good && !nearest) why = p.error().message;
                continue;
            }
            // Past half full a message shrinks again, and the rate with it: nobody wants that.
            if (aim == goal::message && good && p->fill > 0.5) continue;
            if (const auto reason = broken(*p)) {
                if (!nearest || p->false_positive_rate < nearest->false_positive_rate)
                    nearest = *p, why = *reason;
            } else if (!good || better(*p, *good)) {
                good = *p;
            }
        }
        if (!good) return error{why};
        return *good;
    }
};

result<void> check(const wishes& want) {
    const auto positive = [](const std::optional<double>& value) {
        return !value || (*value > 0 && *value < 1e15);
    };
    if (want.items == 0) return error{"items must be at least 1"};
    if (want.items > max_bits) return error{"items must be at most 2^40"};
    if (want.rate && !(*want.rate > 0 && *want.rate < 1))
        return error{"the false-positive rate must lie between 0 and 1"};
    if (!positive(want.bits_per_item)) return error{"bits per item must be a positive number"};
    if (!positive(want.message_bits_per_item))
        return error{"message bits per item must be a positive number"};
    if (!positive(want.delta_bits_per_item)) return error{"delta bits per item must be a positive number"};
    if (want.delta_bits_per_item && !want.delta_fraction) {
        return error{"delta bits need a delta fraction: how much changes between two updates"};
    }
    if (want.delta_fraction && !(*want.delta_fraction > 0 && *want.delta_fraction <= 1)) {
        return error{"the delta fraction must lie between 0 and 1"};
    }
    if (want.max_memory == 0u) return error{"the largest memory must be at least 1 byte"};
    if (want.hashes && want.max_hashes && *want.hashes > *want.max_hashes) {
        return error{"hashes " + std::to_string(*want.hashes) + " and at most " +
                     std::to_string(*want.max_hashes) + " hashes contradict each other"};
    }
    if (want.max_hashes == 0u || want.hashes == 0u) return error{"at least one hash is needed"};
    return {};
}

}  // namespace

result<plan> predict(std::uint64_t items, const geometry& g, std::optional<double> delta_fraction) {
    if (auto valid = check(g); !valid) return valid.error();
    plan p{.items = items, .bits = g.bits, .hashes = g.hashes, .layout = g.layout};
    const auto n = static_cast<double>(items), m = static_cast<double>(g.bits);
    p.fill = expected_fill(items, g);
    p.false_positive_rate = expected_rate(items, g);
    p.message_bits = m * theory::binary_entropy(p.fill);
    if (delta_fraction)
        p.delta_bits = m * theory::binary_entropy(theory::delta_density(1 - p.fill, *delta_fraction));
    p.counter_overflow = std::min(1.0, m * layouts::with_layout(g, [&]<class Layout>(const Layout&) {
                                           return Layout::counter_tail(15, n, m, g.hashes);
                                       }));
    return p;
}

std::optional<std::uint64_t> smallest_bits(std::uint64_t items, double rate, unsigned hashes,
                                           layout_id layout) {
    const std::uint64_t granule = granule_of(hashes, layout), most = max_bits / granule;
    if (!check(geometry{granule, hashes, layout})) return std::nullopt;
    const std::uint64_t too_small = last_that(most, [&](std::uint64_t granules) {
        return expected_rate(items, {granules * granule, hashes, layout}) > rate;
    });
    if (too_small == most) return std::nullopt;
    return (too_small + 1) * granule;
}

namespace {

// The wishes as a search: with the layout and the goal that they imply.
result<search> search_for(const wishes& want) {
    if (auto valid = check(want); !valid) return valid.error();
    const bool message_matters =
        want.message_bits_per_item || want.delta_bits_per_item || want.minimize == goal::message;
    const bool array_given = want.bits_per_item || (want.max_memory && !want.rate);
    const goal aim = message_matters ? goal::message : array_given ? goal::rate : goal::memory;
    const layout_id layout = want.layout.value_or(message_matters ? layout_id::spread : layout_id::blocked);
    if (want.hashes) {
        const geometry smallest{granule_of(*want.hashes, layout), *want.hashes, layout};
        if (auto valid = check(smallest); !valid) return valid.error();
    }
    return search{want, layout, want.minimize.value_or(aim)};
}

}  // namespace

result<plan> choose(const wishes& want) {
    const auto s = search_for(want);
    if (!s) return s.error();
    return s->best();
}

result<std::vector<plan>> tradeoff(const wishes& want) {
    const auto s = search_for(want);
    if (!s) return s.error();
    std::vector<plan> rows;
    for (unsigned k = s->first(); k <= s->last(); ++k) {
        if (auto p = s->with(k); p && !s->broken(*p)) rows.push_back(*p);
    }
    return rows;
}

namespace {

// The lowest rate whose sealed filter keeps within so many bits.
double sealed_rate(double items, double bits) {
    double low = std::ldexp(1, -32), high = 1;
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
    // What the same items and the same care could buy otherwise; what cannot be, or is the plan, is left out.
    const auto offer = [&](std::string name, wishes other, layout_id layout, goal aim) {
        other.items = want.items;
        other.delta_fraction = want.delta_fraction;
        const auto p = search{other, layout, aim}.best();
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
    if (chosen->hashes > 2) {
        offer("fewer hashes, same array",
              {.bits_per_item = chosen->bits_per_item(), .hashes = chosen->hashes / 2}, chosen->layout,
              goal::rate);
    }
    const auto items = static_cast<double>(want.items);
    if (rate >= std::ldexp(1, -32))
        a.sealed.push_back({"sealed, same rate", rate, theory::sealed_bits(items, rate)});
    if (const double best = sealed_rate(items, chosen->message_bits); best < 1)
        a.sealed.push_back({"sealed, same message", best, theory::sealed_bits(items, best)});
    return a;
}

}  // namespace posy
