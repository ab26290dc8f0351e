#include "array_filter.hpp"

#include <cmath>
#include <numbers>

#include "item_count.hpp"

namespace posy::foreign {

double classical_bits(std::uint64_t items, double rate) {
    return -static_cast<double>(items) * std::log(rate) / (std::numbers::ln2 * std::numbers::ln2);
}

unsigned classical_hashes(double bits_per_item) {
    return static_cast<unsigned>(std::max(1L, std::lround(bits_per_item * std::numbers::ln2)));
}

foreign_filter::purpose classical_purpose(const placing& how, bool cut_off) {
    const double hashes = how.hashes + (cut_off ? 0.5 : 0);
    const double items = static_cast<double>(how.bits) * std::numbers::ln2 / hashes;
    return {static_cast<std::uint64_t>(items), std::exp2(-hashes), false};
}

result<void> array_filter::insert(byte_view key) {
    count_more(bits_.insert(key) ? 1 : 0);  // what may be there already is not counted again
    return {};
}

result<void> array_filter::unite(const foreign_filter& other) {
    const array_filter* const same = same_kind(*this, other);
    if (!same) return not_alike("formats");
    if (same->bits_.how() != bits_.how() || same->bits_.bytes().size() != bits_.bytes().size())
        return not_alike("sizes or hashes");
    bits_.unite(same->bits_);
    if (form_.count_at) count_more(same->count());
    return {};
}

void array_filter::count_more(std::uint64_t more) {
    if (form_.count_at) store_little(head_.data() + *form_.count_at, count() + more);
}

result<std::vector<std::byte>> array_filter::to_bytes() const {
    std::vector<std::byte> bytes = head_;
    append(bytes, form_.words_are_big_endian ? with_words_turned(bits_.bytes()) : bits_.bytes());
    append(bytes, tail_);
    return bytes;
}

foreign_filter::facts array_filter::about() const {
    facts f{.bits = bits_.how().bits,
            .hashes = bits_.how().hashes,
            .ones = bits_.ones(),
            .false_positive_rate = form_.rate ? form_.rate(bits_) : bits_.false_positive_rate(),
            .planned = form_.planned,
            .hash = form_.hash};
    // Above this some bits are reached so much more often than others that their number does not tell.
    constexpr std::uint64_t most_even = std::uint64_t{1} << 27;
    if (form_.counts && (form_.rate != rate_of_31_bits || f.bits <= most_even)) {
        const auto block = static_cast<double>(form_.bits_of_block);
        item_count counted;
        counted.add(f.bits,
                    form_.places_repeat ? -block * std::expm1(f.hashes * std::log1p(-1 / block)) : f.hashes,
                    f.ones, form_.bits_of_block == 0 ? 0 : f.bits / form_.bits_of_block);
        f.different_items = counted.items();
    }
    if (form_.count_at) f.items = count();
    return f;
}

}  // namespace posy::foreign
