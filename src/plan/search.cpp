#include "plan/search.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "layout/all.hpp"
#include "plan/figures.hpp"
#include "posy/theory.hpp"

namespace posy {
namespace {

constexpr double default_rate = 0.01;
// A compressed filter gets better without end as its array grows and its hashes go down to one. Unless told
// how much memory there is, stop at this many times the message.
constexpr double array_to_message = 16;
// By the symmetry of entropy a dense array with many hashes is as good as a sparse one with few. There are
// more numbers of hashes to choose from on the dense side, so it may win by a tiny margin, at many times the
// work.
constexpr double worth_twice_the_hashes = 0.05;

unsigned most_hashes(layout_id layout) {
    return layouts::with_layout({512, 1, layout},
                                []<class Layout>(const Layout&) { return Layout::max_hashes; });
}

// Three significant digits.
std::string brief(double number) {
    std::string text(32, 0);
    text.resize(static_cast<std::size_t>(std::snprintf(text.data(), text.size(), "%.3g", number)));
    return text;
}

// The largest array up to `limit` whose coded size, `size(geometry)`, stays within the budget.
template <class Size>
std::uint64_t largest_within(double budget, unsigned hashes, layout_id layout, std::uint64_t limit,
                             Size size) {
    const std::uint64_t granule = figures::granule(hashes, layout);
    const auto fits = [&](std::uint64_t granules) {
        // A budget may be the size of another plan, given per item, and may have lost its last digit.
        return size(geometry{granules * granule, hashes, layout}) <= budget * (1 + 1e-12);
    };
    return figures::last_that(limit / granule, fits) * granule;
}

result<void> check(const wishes& want) {
    const auto positive = [](const std::optional<double>& value) {
        return !value || (*value > 0 && *value < 1e15);
    };
    if (want.items == 0) return error::invalid("items must be at least 1");
    if (want.items > max_bits) return error::invalid("items must be at most 2^40");
    if (want.rate && !(*want.rate > 0 && *want.rate < 1))
        return error::invalid("the false-positive rate must lie between 0 and 1");
    if (!positive(want.bits_per_item)) return error::invalid("bits per item must be a positive number");
    if (!positive(want.message_bits_per_item))
        return error::invalid("message bits per item must be a positive number");
    if (!positive(want.delta_bits_per_item))
        return error::invalid("delta bits per item must be a positive number");
    if ((want.delta_bits_per_item || want.minimize == goal::delta) && !want.delta_fraction) {
        return error::invalid("a delta needs a delta fraction: how much changes between two updates");
    }
    if (want.delta_fraction && !(*want.delta_fraction > 0 && *want.delta_fraction <= 1)) {
        return error::invalid("the delta fraction must lie between 0 and 1");
    }
    if (want.minimize == goal::rate && !want.bits_per_item && !want.max_memory &&
        !want.message_bits_per_item && !want.delta_bits_per_item) {
        return error::invalid(
            "a larger array has a lower rate, without end: to minimize the rate, say how much memory, array, "
            "message or delta there may be");
    }
    if (want.max_memory && *want.max_memory < 8)
        return error::invalid("the largest memory must be at least 8 bytes");
    if (want.hashes && want.max_hashes && *want.hashes > *want.max_hashes) {
        return error::invalid("hashes " + std::to_string(*want.hashes) + " and at most " +
                              std::to_string(*want.max_hashes) + " hashes contradict each other");
    }
    if (want.max_hashes == 0u || want.hashes == 0u) return error::invalid("at least one hash is needed");
    return {};
}

}  // namespace

result<plan_search> plan_search::make(const wishes& want) {
    if (auto valid = check(want); !valid) return valid.error();
    const bool message_matters = want.message_bits_per_item || want.delta_bits_per_item ||
                                 want.minimize == goal::message || want.minimize == goal::delta;
    const bool array_given = want.bits_per_item || (want.max_memory && !want.rate);
    const goal aim = message_matters ? goal::message : array_given ? goal::rate : goal::memory;
    const layout_id layout = want.layout.value_or(message_matters ? layout_id::spread : layout_id::blocked);
    if (want.hashes) {
        const geometry smallest{figures::granule(*want.hashes, layout), *want.hashes, layout};
        if (auto valid = posy::check(smallest); !valid) return valid.error();
    }
    plan_search search{want, layout, want.minimize.value_or(aim)};
    search.hash = want.hash.value_or(search.enough_hash());
    return search;
}

hash_family plan_search::enough_hash() const {
    double rate = want.rate.value_or(0);
    if (!want.rate) {
        const auto p = best();
        rate = p ? p->false_positive_rate : 0;
    }
    return fastest_hash(static_cast<double>(want.items), rate);
}

std::uint64_t plan_search::limit() const {
    if (want.max_memory) return std::min(*want.max_memory / 8, max_bits / 64) * 64;
    if (want.bits_per_item || !(travels() || budgeted())) return max_bits;
    const double message =
        want.message_bits_per_item.value_or(theory::bloom_bits(1, want.rate.value_or(default_rate)));
    const double most = array_to_message * message * static_cast<double>(want.items) + 512;
    return most < static_cast<double>(max_bits) ? static_cast<std::uint64_t>(most) : max_bits;
}

// Within the budgets for the message and the delta.
std::uint64_t plan_search::largest(unsigned hashes) const {
    const std::uint64_t granule = figures::granule(hashes, layout);
    std::uint64_t bits = limit() / granule * granule;
    if (want.message_bits_per_item) {
        bits = largest_within(total(want.message_bits_per_item), hashes, layout, bits,
                              [&](const geometry& g) { return figures::message(want.items, g); });
    }
    if (want.delta_bits_per_item) {
        bits = largest_within(total(want.delta_bits_per_item), hashes, layout, bits, [&](const geometry& g) {
            return figures::delta(want.items, g, *want.delta_fraction);
        });
    }
    return bits;
}

// The best array for this number of hashes.
std::optional<std::uint64_t> plan_search::bits_for(unsigned hashes) const {
    if (want.bits_per_item) {
        const double bits = std::round(total(want.bits_per_item));
        return round_up_bits(static_cast<std::uint64_t>(std::clamp(bits, 1.0, 2.0 * max_bits)), hashes,
                             layout);
    }
    if (want.rate && aim != goal::rate) return smallest_bits(want.items, *want.rate, hashes, layout, hash);
    if (budgeted() || want.max_memory) return largest(hashes);
    return smallest_bits(want.items, want.rate.value_or(default_rate), hashes, layout, hash);
}

std::optional<std::string> plan_search::broken(const plan& p) const {
    if (p.bits > limit()) {
        std::string why = "it needs " + std::to_string(p.memory_bytes()) + " bytes of memory, ";
        return why + (want.max_memory
                          ? "and the largest allowed is " + std::to_string(*want.max_memory)
                          : "many times its message; allow them with a largest memory, or take more hashes");
    }
    if (want.rate && p.false_positive_rate > *want.rate) {
        return "a false-positive rate of " + brief(*want.rate) + " cannot be had: the best is " +
               brief(p.false_positive_rate) + ", with " + std::to_string(p.hashes) + " hashes in " +
               brief(p.bits_per_item()) + " bits per item";
    }
    const auto above = [&](const std::optional<double>& budget, const std::optional<double>& bits) {
        return budget && *bits > total(budget) * (1 + 1e-12);
    };
    const auto too_small = [&](const std::string& what, double budget, double bits) {
        return "a " + what + " of " + brief(budget) + " bits per item is too small: it takes " +
               brief(p.per_item(bits));
    };
    if (above(want.message_bits_per_item, p.message_bits))
        return too_small("message", *want.message_bits_per_item, p.message_bits);
    if (above(want.delta_bits_per_item, p.delta_bits))
        return too_small("delta", *want.delta_bits_per_item, *p.delta_bits);
    return std::nullopt;
}

// By how much a plan breaks the wishes. One that has the rate, in an allowed array, is nearest.
std::tuple<bool, bool, double> plan_search::excess(const plan& p) const {
    if (want.rate && p.false_positive_rate > *want.rate) return {true, false, p.false_positive_rate};
    if (p.bits > limit()) return {false, true, static_cast<double>(p.bits)};
    double most = 0;
    if (want.message_bits_per_item) most = p.message_bits / total(want.message_bits_per_item);
    if (want.delta_bits_per_item) most = std::max(most, *p.delta_bits / total(want.delta_bits_per_item));
    return {false, false, most};
}

double plan_search::cost(const plan& p) const {
    switch (aim) {
        case goal::memory:
            return static_cast<double>(p.bits);
        case goal::message:
            // The budget is used up, unless only a rate was asked for.
            return budgeted() && !want.rate ? p.false_positive_rate : p.message_bits;
        case goal::delta:
            return *p.delta_bits;
        case goal::rate:
            break;
    }
    return p.false_positive_rate;
}

bool plan_search::better(const plan& p, const plan& than) const {
    const bool laborious = (travels() || budgeted()) && p.fill > 0.5 && p.hashes >= 2 * than.hashes;
    const double difference = cost(p) - cost(than);
    if (laborious) return difference < -worth_twice_the_hashes * cost(than);
    if (std::abs(difference) > 1e-9 * cost(than)) return difference < 0;
    return p.false_positive_rate < than.false_positive_rate * (1 - 1e-9);
}

result<plan> plan_search::with(unsigned hashes) const {
    const auto bits = bits_for(hashes);
    if (!bits) return error::invalid("no number of hashes gives that rate in 2^40 bits");
    if (*bits == 0) return error::invalid("there is room for not a single bit");
    auto p = predict(want.items, {*bits, hashes, layout, hash}, want.delta_fraction);
    if (p && budgeted() && p->false_positive_rate > 1 - 1e-9)
        return error::invalid("the message is too small: its filter would say yes to everything");
    return p;
}

unsigned plan_search::last() const {
    return want.hashes.value_or(std::min(most_hashes(layout), want.max_hashes.value_or(32)));
}

result<plan> plan_search::best() const {
    std::optional<plan> good, nearest;
    std::string why;
    for (unsigned k = first(); k <= last(); ++k) {
        const auto p = with(k);
        if (!p) {
            if (!good && !nearest) why = p.error().message;
            continue;
        }
        // With the rate open, a message past half full shrinks again, and its rate gets worse.
        if (travels() && rate_is_open() && good && p->fill > 0.5) continue;
        if (const auto reason = broken(*p)) {
            if (!nearest || excess(*p) < excess(*nearest)) nearest = *p, why = *reason;
        } else if (!good || better(*p, *good)) {
            good = *p;
        }
    }
    if (!good) return error::invalid(why);
    return *good;
}

}  // namespace posy
