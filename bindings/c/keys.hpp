// Arrays of keys as they lie in the caller's memory, in batches as the library takes them.
//
// Invariant: checked() has looked at every key before the first one is used, so that an array with a fault
// changes nothing. Cost: one pass over lengths or offsets; the keys are not copied. Thread safety: no state.
#pragma once

#include <array>
#include <span>
#include <string_view>
#include <type_traits>
#include <vector>

#include "call.hpp"

namespace posy::c {

// The array, if every key of it can be; otherwise throws.
const posy_keys& checked(const posy_keys*);

// Key i. Precondition: checked, and not of integers.
std::string_view key_at(const posy_keys&, std::size_t i);
// Are the keys integers? Then these are they.
inline bool are_integers(const posy_keys& keys) {
    return keys.form == POSY_KEYS_U64 || keys.form == POSY_KEYS_I64;
}
inline std::span<const std::uint64_t> integers(const posy_keys& keys) {
    return {static_cast<const std::uint64_t*>(keys.values), keys.count};
}

inline constexpr std::size_t batch_size = 2048;

// Calls use(batch, index of its first key) with spans of integers or of text, at most `most` of the latter.
template <class Use>
void for_each_batch(const posy_keys& keys, const Use& use, std::size_t most = batch_size) {
    if (are_integers(keys)) return use(integers(keys), std::size_t{0});
    std::vector<std::string_view> batch(std::min(most, keys.count));
    for (std::size_t first = 0; first < keys.count; first += batch.size()) {
        const std::size_t size = std::min(batch.size(), keys.count - first);
        for (std::size_t i = 0; i < size; ++i) batch[i] = key_at(keys, first + i);
        use(std::span<const std::string_view>(batch.data(), size), first);
    }
}

// The same with spans of digests.
template <class Use>
void for_each_digests(const hasher& hash, const posy_keys& keys, const Use& use) {
    std::array<digest, batch_size> digests;
    const auto hash_all = [&](auto batch, std::size_t first) {
        for (std::size_t i = 0; i < batch.size(); i += batch_size) {
            const auto part = batch.subspan(i, std::min(batch_size, batch.size() - i));
            hash(part, std::span(digests).first(part.size()));
            use(std::span<const digest>(digests.data(), part.size()), first + i);
        }
    };
    for_each_batch(keys, hash_all);
}

// All digests.
inline std::vector<digest> digests_of(const hasher& hash, const posy_keys& keys) {
    std::vector<digest> all;
    all.reserve(keys.count);
    for_each_digests(hash, keys,
                     [&](auto batch, std::size_t) { all.insert(all.end(), batch.begin(), batch.end()); });
    return all;
}

// Places for the answers to these keys.
template <class Answer>
std::span<Answer> answers_for(const posy_keys& keys, Answer* answers, const char* name) {
    if (keys.count != 0) given(answers, name);
    return {answers, keys.count};
}

}  // namespace posy::c
