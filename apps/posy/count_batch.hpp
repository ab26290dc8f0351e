// The keys of a block with what `posy count` needs to know of each: digest, weight, group, value. Blocks are
// read by many threads, and counted in order.
#pragma once

#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "count_options.hpp"
#include "posy/packet/address_prefix.hpp"

namespace posy::tool {

// Parallel lists; those that were not asked for are empty.
struct count_batch {
    std::vector<std::string_view> keys;
    std::vector<digest> digests;
    std::vector<std::uint64_t> weights;
    std::vector<std::string_view> groups;
    std::vector<digest> of_groups;
    std::vector<digest> values;      // of the column whose different values are counted
    std::deque<std::string> copies;  // of text that does not stand in the input as it is

    std::uint64_t weight(std::size_t i) const { return weights.empty() ? 1 : weights[i]; }
};

class count_reader {
  public:
    explicit count_reader(const count_options&);
    // Throws failure for a record that lacks something, unless such records are to be skipped.
    count_batch read(const hasher&, const block&) const;

  private:
    const count_options& o_;
    std::optional<packets::address_prefix> prefix_;
};

}  // namespace posy::tool
