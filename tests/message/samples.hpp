// Small messages of every kind, the same in every run.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "posy/message.hpp"
#include "support.hpp"

namespace posy {

inline bloom_filter filter_sample(const geometry& g, int keys = 100) { return filter_of(g, 0, keys); }

inline counting_filter counting_sample(const geometry& g, unsigned width) {
    auto filter = *counting_filter::make(g, width);
    for (int key = 0; key < 100; ++key) filter.insert(filter.hash()(key));
    return filter;
}

inline filter_delta delta_sample(const geometry& g) {
    return *make_delta(filter_sample(g, 100), filter_sample(g, 120), 7);
}

inline std::vector<digest> hundred_digests() {
    std::vector<digest> digests;
    for (int key = 0; key < 100; ++key) digests.push_back(hasher()(key));
    return digests;
}

struct named_message {
    const char* name;
    std::vector<std::byte> bytes;
};

// The kinds whose payload describes itself, of the integers 0 to 99; integer i has the value i and comes
// i % 7 + 1 times, 2^40 times as often in wide counters, and a window sees it at time i.
inline std::vector<named_message> described_by_payload() {
    const auto digests = hundred_digests();
    std::vector<std::uint64_t> values;
    auto sketch = *count_min::make(hasher(), 50, 3, update_rule::conservative);
    auto spectral = *spectral_filter::make({300, 3, layout_id::spread}, spectral_method::recurring_minimum);
    auto heavy = *heavy_hitters::top(*count_min::make(hasher(), 50, 3, update_rule::conservative), 5);
    auto wide_sketch = *count_min::make(hasher(), 50, 3, update_rule::conservative, counter_width::bits_64);
    auto wide_spectral = *spectral_filter::make({300, 3, layout_id::spread},
                                                spectral_method::minimum_increase, counter_width::bits_64);
    auto share = *heavy_hitters::above(
        *count_min::make(hasher(), 200, 3, update_rule::plain, counter_width::bits_64), 0.015);
    auto growing = *growing_filter::make({.first_bytes = 512});
    auto window = *window_filter::make({512, 4, layout_id::blocked}, {100, 0.1}, 100, 4);
    for (std::uint32_t key = 0; key < digests.size(); ++key) {
        const digest d = digests[key];
        const std::uint32_t times = key % 7 + 1;
        values.push_back(key);
        sketch.add(d, times);
        spectral.insert(d, times);
        heavy.add(std::to_string(key), d, times);
        const std::uint64_t more = std::uint64_t{times} << 40;
        wide_sketch.add(d, more);
        wide_spectral.insert(d, more);
        share.add(std::to_string(key), d, more);
        window.insert(d, key);
    }
    EXPECT_TRUE(growing.insert(digests));
    return {{"sealed.posy", to_bytes(*sealed_filter::make(hasher(), digests))},
            {"map.posy", to_bytes(*bloomier_map::make(hasher(), digests, values, {.value_bits = 7}))},
            {"count_min.posy", to_bytes(sketch)},
            {"spectral.posy", to_bytes(spectral)},
            {"heavy.posy", to_bytes(heavy)},
            {"count_min-wide.posy", to_bytes(wide_sketch)},
            {"spectral-wide.posy", to_bytes(wide_spectral)},
            {"heavy-share.posy", to_bytes(share)},
            {"growing.posy", to_bytes(growing)},
            {"window.posy", to_bytes(window)}};
}

// A small message of every kind in every coding.
inline std::vector<std::vector<std::byte>> all_kinds() {
    const geometry g{600, 3, layout_id::spread};
    std::vector<std::vector<std::byte>> all;
    for (const codec_id codec :
         {codec_id::raw, codec_id::adaptive, codec_id::range, codec_id::bytes, codec_id::gaps}) {
        all.push_back(to_bytes(filter_sample(g, 20), {.codec = codec}));
        all.push_back(to_bytes(delta_sample(g), {.codec = codec, .generation = 8}));
    }
    for (const codec_id codec : {codec_id::raw, codec_id::counters}) {
        all.push_back(to_bytes(counting_sample(g, 4), {.codec = codec}));
        all.push_back(to_bytes(counting_sample(g, 8), {.codec = codec}));
    }
    for (const queryable_form form : {queryable_form::small, queryable_form::fast, queryable_form::list}) {
        all.push_back(to_bytes(*compressed_filter::make(filter_sample(g, 20), form)));
    }
    for (auto& each : described_by_payload()) all.push_back(std::move(each.bytes));
    auto planned = filter_sample(g, 20);
    planned.set_planned(promise{20, 0.0625});
    all.push_back(to_bytes(planned));
    all.push_back(to_bytes(reconcile::envelope(reconcile::kind::refusal, hasher(), as_byte_view("why"))));
    return all;
}

}  // namespace posy
