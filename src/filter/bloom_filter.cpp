#include "posy/bloom_filter.hpp"

#include <array>
#include <cassert>

#include "batches.hpp"
#include "kernels.hpp"
#include "layout/all.hpp"

namespace posy {

bloom_filter::bloom_filter(const posy::geometry& g, bit_array bits, const posy::provenance& from)
    : geometry_(g),
      bits_(std::move(bits)),
      provenance_(from),
      kernel_(&kernels::kernel_for(g)),
      look_up_one_(kernel_->may_contain_one) {}

result<bloom_filter> bloom_filter::make(const posy::geometry& g) {
    if (auto valid = check(g); !valid) return valid.error();
    auto bits = bit_array::make(g.bits);
    if (!bits) return bits.error();
    return bloom_filter(g, std::move(*bits), {.items = 0});
}

bloom_filter bloom_filter::from_bits(const posy::geometry& g, bit_array bits,
                                     std::optional<std::uint64_t> items) {
    assert(check(g) && bits.size() == g.bits);
    return {g, std::move(bits), {.items = items}};
}

void bloom_filter::insert(digest d) {
    kernel_->insert(bits_.words().data(), geometry_, &d, 1, false);
    count_insertions(1);
}

template <class Keys>
void bloom_filter::insert_keys(const Keys& keys) {
    const auto& kernel = *kernel_;
    std::uint64_t* words = bits_.words().data();
    const auto put = [&](const digest* now, std::size_t count, bool more, std::size_t) {
        kernel.insert(words, geometry_, now, count, more);
    };
    if (geometry_.bits <= kernel.cached_bits) {
        kernels::in_pieces<kernels::short_piece>(hash(), keys, put);
    } else {
        kernels::in_windows(
            hash(), keys, [&](auto... later) { kernel.fetch(words, geometry_, later...); }, put);
    }
    count_insertions(keys.size());
}

template <class Keys>
std::size_t bloom_filter::look_up(const Keys& keys, std::span<bool> answers) const {
    assert(keys.size() == answers.size());
    const auto& kernel = *kernel_;
    const std::uint64_t* words = bits_.words().data();
    std::size_t yes = 0;
    const auto look = [&](const digest* now, std::size_t count, bool more, std::size_t first) {
        yes += kernel.may_contain(words, geometry_, now, count, more, answers.data() + first);
    };
    if (kernel.lookup_fetches_itself) {
        kernels::in_pieces<kernels::long_piece>(hash(), keys, look);
    } else if (geometry_.bits <= kernel.cached_bits) {
        kernels::in_pieces<kernels::short_piece>(hash(), keys, look);
    } else {
        kernels::in_windows(
            hash(), keys, [&](auto... later) { kernel.fetch(words, geometry_, later...); }, look);
    }
    return yes;
}

void bloom_filter::insert(std::span<const digest> digests) { insert_keys(digests); }
void bloom_filter::insert(std::span<const std::uint64_t> keys) { insert_keys(keys); }
void bloom_filter::insert(std::span<const std::string_view> keys) { insert_keys(keys); }

std::size_t bloom_filter::may_contain(std::span<const digest> digests, std::span<bool> answers) const {
    return look_up(digests, answers);
}
std::size_t bloom_filter::may_contain(std::span<const std::uint64_t> keys, std::span<bool> answers) const {
    return look_up(keys, answers);
}
std::size_t bloom_filter::may_contain(std::span<const std::string_view> keys, std::span<bool> answers) const {
    return look_up(keys, answers);
}

void bloom_filter::insert_concurrently(std::span<const digest> digests) {
    const auto& kernel = *kernel_;
    layouts::with_layout(geometry_, [&](const auto& layout) {
        kernels::in_windows(
            hash(), digests, [&](auto... later) { kernel.fetch(bits_.words().data(), geometry_, later...); },
            [&](const digest* now, std::size_t count, bool more, std::size_t) {
                for (std::size_t i = 0; i < count; ++i) {
                    if (more) kernel.fetch(bits_.words().data(), geometry_, now + i + kernels::window, 1);
                    layout.positions(now[i], [&](std::uint64_t position) {
                        return bits_.set_concurrently(position), true;
                    });
                }
            });
    });
    std::atomic_ref(inserted_).fetch_add(digests.size(), std::memory_order_relaxed);
}

double bloom_filter::false_positive_rate() const {
    const double by_bits =
        layouts::with_layout(geometry_, [&](const auto& layout) { return layout.rate_now(bits_.words()); });
    return with_collisions(by_bits, geometry_.hash, static_cast<double>(items().value_or(0)));
}

void bloom_filter::clear() {
    bits_.clear();
    set_items(0);
}

result<bloom_filter> bloom_filter::clone() const {
    auto bits = bits_.clone();
    if (!bits) return bits.error();
    return bloom_filter(geometry_, std::move(*bits), provenance());
}

}  // namespace posy
