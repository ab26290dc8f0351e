#include "trial.hpp"

#include <algorithm>
#include <memory>
#include <numeric>

#include "chapters.hpp"
#include "tool.hpp"

namespace posy::tool::papers {

geometry shape(std::uint64_t bits, unsigned hashes, std::uint64_t seed, layout_id layout) {
    return {
        .bits = bits, .hashes = hashes, .layout = layout, .hash = hash_family::xxh3, .seed = {.low = seed}};
}

std::uint64_t small_trials(const laboratory& lab) {
    return lab.trials() == 0 ? 0 : std::max<std::uint64_t>(16, lab.trials(purpose::rate));
}

std::vector<digest> digests_of(const hasher& hash, key_range range) {
    std::vector<std::uint64_t> keys(range.last - range.first);
    std::iota(keys.begin(), keys.end(), range.first);
    std::vector<digest> digests(keys.size());
    hash(keys, digests);
    return digests;
}

bloom_filter filter_of(const geometry& g, key_range range) {
    bloom_filter filter = take(bloom_filter::make(g), "papers");
    filter.insert(digests_of(filter.hash(), range));
    return filter;
}

std::uint64_t found(const bloom_filter& filter, key_range range) {
    const auto digests = digests_of(filter.hash(), range);
    const auto answers = std::make_unique<bool[]>(digests.size());
    return filter.may_contain(digests, {answers.get(), digests.size()});
}

std::uint64_t payload_size(const std::vector<std::byte>& message) {
    const auto header = std::to_integer<std::uint64_t>(message[7]);  // docs/format.md
    return message.size() - header - 4;
}

}  // namespace posy::tool::papers
