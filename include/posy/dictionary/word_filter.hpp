// A set of words in any kind of filter, asked in batches.
//
// Cost: a question is one of the filter's batch. Thread safety: immutable; copies share the filter.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "posy/message.hpp"

namespace posy::dictionary {

class word_filter {
  public:
    // Of a message that answers yes or no: a filter, counting, queryable, growing or sealed one, or a map.
    static result<word_filter> of(any_body);
    // Of words, sealed in memory at this rate.
    static result<word_filter> seal(std::span<const std::string_view> words, double rate);

    // The probability that a word that is not in the set passes.
    double false_positive_rate() const { return rate_; }
    // One answer per word. Precondition: the spans have the same length.
    void may_contain(std::span<const std::string> words, std::span<bool> answers) const;

  private:
    using batch = std::function<void(std::span<const digest>, std::span<bool>)>;
    word_filter(hasher hash, double rate, batch ask) : hash_(hash), rate_(rate), ask_(std::move(ask)) {}

    template <class Filter>
    static result<word_filter> asking(Filter);

    hasher hash_;
    double rate_;
    batch ask_;
};

}  // namespace posy::dictionary
