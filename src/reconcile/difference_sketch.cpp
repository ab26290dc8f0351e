#include "reconcile/difference_sketch.hpp"

#include <algorithm>
#include <cmath>

#include "derive.hpp"
#include "payload.hpp"

namespace posy::reconcile {

difference_sketch difference_sketch::of(const digest_set& set) {
    difference_sketch sketch{set.hash(), set.width(), set.size(), {}};
    for (const digest& element : set.elements()) {
        const std::uint64_t signs = derive(element, purpose::signs);
        for (unsigned j = 0; j < size; ++j) sketch.positive[j] += signs >> j & 1;
    }
    return sketch;
}

// Half of the elements are positive on average; what is written is by how much a sum misses that.
void difference_sketch::append_to(std::vector<std::byte>& out) const {
    out.push_back(static_cast<std::byte>(width));
    base::put_varint(out, items);
    for (const std::uint64_t count : positive) {
        put_signed_varint(out, static_cast<std::int64_t>(count) - static_cast<std::int64_t>(items / 2));
    }
}

result<difference_sketch> difference_sketch::parse(const hasher& hash, byte_view bytes, const read_limits&) {
    payload_reader in(bytes);
    difference_sketch sketch{hash, in.width(), 0, {}};
    sketch.items = in.items();
    const auto items = static_cast<std::int64_t>(sketch.items);
    for (std::uint64_t& count : sketch.positive) {
        const std::int64_t off = in.signed_varint();
        if (off < -(items / 2) || off > items - items / 2) {
            in.fail("a sum that counts fewer than no elements, or more than the set has");
            break;
        }
        count = static_cast<std::uint64_t>(off + items / 2);
    }
    if (auto wrong = in.finish()) return *wrong;
    return sketch;
}

estimate estimate_difference(const difference_sketch& a, const difference_sketch& b) {
    const double more = static_cast<double>(a.items) - static_cast<double>(b.items);
    double squares = 0;
    for (std::size_t j = 0; j < difference_sketch::size; ++j) {
        const double pull =
            2 * (static_cast<double>(a.positive[j]) - static_cast<double>(b.positive[j])) - more;
        squares += pull * pull;
    }
    // The 2.5 % and 97.5 % points of χ² with 64 degrees of freedom.
    const auto at_least = [&](double d) { return std::max(d, std::abs(more)); };
    return {at_least(squares / difference_sketch::size), at_least(squares / 88.004),
            at_least(squares / 43.776)};
}

}  // namespace posy::reconcile
