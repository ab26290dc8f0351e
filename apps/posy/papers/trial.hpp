// Small experiments of a chapter's own: a filter of consecutive integers, built, asked and weighed. The
// papers' large ones, many trials on all cores, are the laboratory's (laboratory.hpp).
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "posy/bloom_filter.hpp"

namespace posy::tool::papers {

// XXH3 under the seed of a trial.
geometry shape(std::uint64_t bits, unsigned hashes, std::uint64_t seed, layout_id = layout_id::spread);

// The keys first, first + 1, … last − 1.
struct key_range {
    std::uint64_t first = 0, last = 0;
};
std::vector<digest> digests_of(const hasher&, key_range);
bloom_filter filter_of(const geometry&, key_range);
// How many of the keys the filter has or seems to have.
std::uint64_t found(const bloom_filter&, key_range);

// The bytes of a message's payload: all of it but header and checksum.
std::uint64_t payload_size(const std::vector<std::byte>& message);

// The mean of what was seen, and its standard error.
class average {
  public:
    void add(double x) {
        ++count_;
        const double step = x - mean_;
        mean_ += step / static_cast<double>(count_);
        squares_ += step * (x - mean_);
    }
    double mean() const { return mean_; }
    double deviation() const {
        return count_ < 2 ? 0 : std::sqrt(squares_ / static_cast<double>(count_ - 1));
    }
    double error() const { return deviation() / std::sqrt(static_cast<double>(count_)); }

  private:
    std::uint64_t count_ = 0;
    double mean_ = 0, squares_ = 0;
};

}  // namespace posy::tool::papers
