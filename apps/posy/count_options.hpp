// What `posy count` is asked for.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "filter_options.hpp"
#include "keys.hpp"
#include "posy/counter_width.hpp"
#include "tool.hpp"

namespace posy::tool {

struct count_options {
    // Candidates for each key that is printed: what is frequent in the whole need not be so in each of its
    // parts, and is found when these are united.
    static constexpr std::uint64_t spare = 16;

    key_options keys;
    hash_options hash;
    reading_options reading;
    std::string memory, output, ask, saved, items, every;
    std::string weight_field;  // empty: every key counts 1
    std::string group_field, distinct_field, prefix, counter_bits;
    double delta = 0.01;
    std::optional<double> epsilon, threshold, wrong;
    std::uint64_t top = 10, groups = 100;
    bool plain = false, conservative = false, spectral = false, recurring = false, json = false;

    void add_to(command_line&);
    // Throws wrong_use for what does not go together.
    void check() const;
    // Sums of weights pass 32 bits sooner than numbers of keys do.
    counter_width width() const {
        if (counter_bits.empty())
            return weight_field.empty() ? counter_width::bits_32 : counter_width::bits_64;
        return counter_bits == "64" ? counter_width::bits_64 : counter_width::bits_32;
    }
};

}  // namespace posy::tool
