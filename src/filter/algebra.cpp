#include "posy/algebra.hpp"

#include <algorithm>
#include <bit>

#include "base/saturate.hpp"
#include "layout/all.hpp"
#include "unequal.hpp"

namespace posy {
namespace {

// The even bits of `word | word >> 1`, moved together: pairs of bits become bits.
std::uint64_t halve(std::uint64_t word) {
    word = (word | word >> 1) & 0x5555555555555555;
    word = (word | word >> 1) & 0x3333333333333333;
    word = (word | word >> 2) & 0x0f0f0f0f0f0f0f0f;
    word = (word | word >> 4) & 0x00ff00ff00ff00ff;
    word = (word | word >> 8) & 0x0000ffff0000ffff;
    return (word | word >> 16) & 0x00000000ffffffff;
}

void fold_bits(std::span<const std::uint64_t> from, bit_array& to, std::uint64_t divisor) {
    if (divisor == 2) {
        for (std::size_t i = 0; i < from.size(); ++i) to.words()[i / 2] |= halve(from[i]) << i % 2 * 32;
        return;
    }
    for (std::size_t i = 0; i < from.size(); ++i) {
        for (std::uint64_t word = from[i]; word != 0; word &= word - 1) {
            to.set((i * 64 + static_cast<unsigned>(std::countr_zero(word))) / divisor);
        }
    }
}

void fold_lines(std::span<const std::uint64_t> from, bit_array& to, std::uint64_t divisor,
                std::uint64_t unit) {
    const std::size_t words = unit / 64;
    const std::uint64_t* next = from.data();
    for (std::size_t line = 0; line < to.words().size(); line += words) {
        for (std::uint64_t i = 0; i < divisor; ++i, next += words) {
            for (std::size_t w = 0; w < words; ++w) to.words()[line + w] |= next[w];
        }
    }
}

// The plan for more items stays: its rate was computed for the geometry that both filters have.
std::optional<promise> larger(const std::optional<promise>& a, const std::optional<promise>& b) {
    if (!a || !b) return a ? a : b;
    return a->items >= b->items ? a : b;
}

}  // namespace

error unequal(const geometry& a, const geometry& b) {
    error why = mismatch(a, b);
    const auto [fewer, more] = std::minmax(a.bits, b.bits);
    geometry folded = a;
    folded.bits = b.bits;
    if (folded == b && more % fewer == 0)
        why.message += ", or fold the larger one by " + std::to_string(more / fewer);
    return why;
}

result<void> unite(bloom_filter& into, const bloom_filter& from) {
    if (into.geometry() != from.geometry()) return unequal(into.geometry(), from.geometry());
    into.bits().unite(from.bits());
    const provenance &a = into.provenance(), &b = from.provenance();
    provenance both{.intersection = a.intersection || b.intersection,
                    .planned = larger(a.planned, b.planned)};
    if (a.items && b.items) both.items = saturating_sum(*a.items, *b.items);
    into.set_provenance(both);
    return {};
}

result<void> intersect(bloom_filter& into, const bloom_filter& from) {
    if (into.geometry() != from.geometry()) return unequal(into.geometry(), from.geometry());
    into.bits().intersect(from.bits());
    into.set_provenance(
        {.intersection = true, .planned = larger(into.provenance().planned, from.provenance().planned)});
    return {};
}

result<bloom_filter> fold(const bloom_filter& filter, std::uint64_t divisor) {
    geometry g = filter.geometry();
    if (divisor == 0 || g.bits % divisor != 0) {
        return error::invalid("cannot fold " + std::to_string(g.bits) + " bits by " +
                              std::to_string(divisor) + "; the divisor must divide the size");
    }
    g.bits /= divisor;
    auto folded = bloom_filter::make(g);
    if (!folded) return folded.error().behind("cannot fold by " + std::to_string(divisor));
    const std::uint64_t unit =
        layouts::with_layout(g, []<class Layout>(const Layout&) { return Layout::fold_unit; });
    if (unit == 1) {
        fold_bits(filter.bits().words(), folded->bits(), divisor);
    } else {
        fold_lines(filter.bits().words(), folded->bits(), divisor, unit);
    }
    provenance same = filter.provenance();
    if (same.planned)
        same.planned->rate = layouts::expected_rate(g, static_cast<double>(same.planned->items));
    folded->set_provenance(same);
    return folded;
}

}  // namespace posy
