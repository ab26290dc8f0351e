// Ranges of keys, piece by piece as the batches of filters take them.
#pragma once

#include <array>
#include <concepts>
#include <ranges>
#include <span>

#include "posy/key.hpp"

namespace posy {

// Is From a number with a fraction, or a text, where the key is an integer? C++ would convert either, a text
// character by character, which is right only if the keys are characters.
template <class From, class Key>
concept mistaken_integer = keys::integer<Key> &&
    (std::floating_point<std::remove_cvref_t<From>> ||
     (keys::text<std::remove_cvref_t<From>> && !keys::byte_like<Key>));

// A range of what a filter of Key takes as a key, and not itself such a key.
template <class Range, class Key>
concept range_of_keys = std::ranges::input_range<Range> && !mistaken_integer<Range, Key> &&
                        !mistaken_integer<std::ranges::range_reference_t<Range>, Key> &&
                        std::convertible_to<std::ranges::range_reference_t<Range>, key_argument<Key>> &&
                        !std::convertible_to<Range, key_argument<Key>>;

namespace keys {
inline constexpr std::size_t batch_size = 2048;

// Calls use(batch, index of its first key) with what make(key) makes of the keys.
template <class Made, class Range, class Make, class Use>
void collect(Range&& range, const Make& make, const Use& use) {
    std::array<Made, batch_size> batch;
    std::size_t size = 0, first = 0;
    for (auto&& key : range) {
        batch[size++] = make(key);
        if (size < batch.size()) continue;
        use(std::span<const Made>(batch), first);
        first += std::exchange(size, 0);
    }
    if (size != 0) use(std::span<const Made>(batch.data(), size), first);
}
}  // namespace keys

// The places of the answers for a batch. Throws if the caller gave fewer answers than keys.
template <class Answer>
std::span<Answer> answers_of(std::span<Answer> all, std::size_t first, std::size_t count) {
    if (all.size() < first + count)
        throw exception(error::invalid("there are fewer answers than keys; give one for each key"));
    return all.subspan(first, count);
}

// Calls use(std::span<const digest>, index of the first) until all keys are used.
template <class Key, class Range, class Use>
void for_each_batch_of_digests(const hasher& hash, Range&& range, const Use& use) {
    keys::collect<digest>(
        range, [&](auto&& key) { return hash_key(hash, static_cast<key_argument<Key>>(key)); }, use);
}

// The same with spans of digests, or of 64-bit integers or text, whatever costs least. A batch of text refers
// to the keys, so these must stay where they are: a range that is read only once, such as the words of a
// stream, may reuse the memory of each for the next.
template <class Key, class Range, class Use>
void for_each_batch(const hasher& hash, Range&& range, const Use& use) {
    using value = std::ranges::range_value_t<Range>;
    using reference = std::ranges::range_reference_t<Range>;
    constexpr bool whole = std::ranges::contiguous_range<Range> && std::ranges::sized_range<Range>;
    // As they are, if that is how the filter takes one: any other is converted first.
    constexpr bool as_taken = std::same_as<value, key_argument<Key>> &&
                              (std::same_as<value, std::uint64_t> || std::same_as<value, std::string_view>);
    if constexpr (whole && as_taken) {
        use(std::span<const value>(std::ranges::data(range), std::ranges::size(range)), 0);
    } else if constexpr (std::ranges::forward_range<Range> &&
                         std::same_as<key_argument<Key>, std::string_view> &&
                         (std::is_lvalue_reference_v<reference> || std::same_as<value, std::string_view>)) {
        keys::collect<std::string_view>(
            range, [](const auto& key) { return std::string_view(key); }, use);
    } else {
        for_each_batch_of_digests<Key>(hash, range, use);
    }
}

}  // namespace posy
