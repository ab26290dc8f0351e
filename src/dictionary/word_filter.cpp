#include "posy/dictionary/word_filter.hpp"

#include <concepts>
#include <optional>

namespace posy::dictionary {

template <class Filter>
result<word_filter> word_filter::asking(Filter filter) {
    const hasher hash = filter.hash();
    double rate = 0;
    if constexpr (std::same_as<Filter, compressed_filter>) {
        const auto known = filter.false_positive_rate();
        if (!known) return known.error();
        rate = *known;
    } else {
        rate = filter.false_positive_rate();
    }
    const auto shared = std::make_shared<const Filter>(std::move(filter));
    return word_filter(hash, rate, [shared](std::span<const digest> digests, std::span<bool> answers) {
        if constexpr (std::same_as<Filter, bloomier_map>) {
            std::vector<std::optional<std::uint64_t>> values(digests.size());
            shared->find(digests, values);
            for (std::size_t i = 0; i < values.size(); ++i) answers[i] = values[i].has_value();
        } else {
            shared->may_contain(digests, answers);
        }
    });
}

result<word_filter> word_filter::of(any_body body) {
    if (auto* plain = std::get_if<bloom_filter>(&body)) return asking(std::move(*plain));
    if (auto* sealed = std::get_if<sealed_filter>(&body)) return asking(std::move(*sealed));
    if (auto* compressed = std::get_if<compressed_filter>(&body)) return asking(std::move(*compressed));
    if (auto* growing = std::get_if<growing_filter>(&body)) return asking(std::move(*growing));
    if (auto* map = std::get_if<bloomier_map>(&body)) return asking(std::move(*map));
    if (const auto* counting = std::get_if<counting_filter>(&body)) {
        auto projection = counting->projection().clone();
        if (!projection) return projection.error();
        return asking(std::move(*projection));
    }
    return error::mismatch("a message of kind " + std::string(name_of(kind_of(body))) +
                           " does not tell which words are in a set; make one with 'posy seal'");
}

result<word_filter> word_filter::seal(std::span<const std::string_view> words, double rate) {
    const hasher hash;
    std::vector<digest> digests(words.size());
    hash(words, digests);
    auto sealed = sealed_filter::make(hash, digests, {.rate = rate});
    if (!sealed) return sealed.error();
    return asking(std::move(*sealed));
}

void word_filter::may_contain(std::span<const std::string> words, std::span<bool> answers) const {
    std::vector<digest> digests;
    digests.reserve(words.size());
    for (const std::string& word : words) digests.push_back(hash_(word));
    ask_(digests, answers);
}

}  // namespace posy::dictionary
