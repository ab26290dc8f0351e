#include "message/frame.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "posy/bloom_filter.hpp"

namespace posy::frame {
namespace {

TEST(frame, headers_come_back_as_they_went_at_their_largest) {
    for (const kind k : {kind::filter, kind::counting, kind::delta, kind::queryable}) {
        header h;
        h.kind = k;
        h.geometry = {
            max_bits, 7, layout_id::spread, hash_family::siphash, {~std::uint64_t{0}, ~std::uint64_t{0}}};
        h.provenance.items = bloom_filter::max_items;
        if (h.has_plan()) h.provenance.planned = promise{~std::uint64_t{0}, 1e-300};
        h.counter_bits = k == kind::counting ? 8 : 0;
        h.generation = h.base_generation = ~std::uint64_t{0};
        h.base_checksum = 0xdeadbeef;
        h.payload_size = h.array_bytes();
        const auto bytes = encode(h);
        if (h.raw()) {
            EXPECT_EQ(bytes.size() % 64, 0u);
        }
        ASSERT_EQ(*header_size(bytes), bytes.size());
        const auto back = decode(bytes);
        ASSERT_TRUE(back) << back.error().text();
        EXPECT_EQ(encode(*back), bytes);
        EXPECT_EQ(back->geometry, h.geometry);
        EXPECT_EQ(back->provenance, h.provenance);
    }
}

TEST(frame, a_plan_is_a_number_and_a_rate) {
    header h;
    h.codec = codec_id::gaps;
    h.geometry = {1000, 7, layout_id::spread};
    const std::size_t without = encode(h).size();
    for (const double rate : {0.0, 1e-308, 0.01, 1.0}) {
        h.provenance.planned = promise{100, rate};
        const auto bytes = encode(h);
        EXPECT_EQ(bytes.size(), without + 8);
        EXPECT_EQ(decode(bytes)->provenance, h.provenance);
    }
    for (const double rate : {-0.0, -0.01, 1.0000001, 1e300, std::numeric_limits<double>::infinity(),
                              std::numeric_limits<double>::quiet_NaN()}) {
        h.provenance.planned = promise{100, rate};
        const auto read = decode(encode(h));
        ASSERT_FALSE(read) << rate;
        EXPECT_NE(read.error().message.find("planned rate"), std::string::npos) << read.error().text();
        EXPECT_EQ(read.error().offset, 19u);
    }
    // A delta stays as small as it was: the receiver has the plan from the full message.
    h.kind = kind::delta;
    const std::size_t delta = encode(h).size();
    h.provenance.planned.reset();
    EXPECT_EQ(encode(h).size(), delta);
}

TEST(frame, an_intersection_is_not_an_unknown_number) {
    for (const kind k : {kind::filter, kind::delta, kind::queryable}) {
        header h;
        h.kind = k;
        h.codec = codec_id::gaps;
        h.geometry = {1000, 7, layout_id::spread};
        for (const bool intersection : {false, true}) {
            h.provenance.intersection = intersection;
            const auto back = decode(encode(h));
            ASSERT_TRUE(back) << back.error().text();
            EXPECT_EQ(back->provenance, h.provenance);
        }
    }
    header counting;
    counting.kind = kind::counting;
    counting.codec = codec_id::counters;
    counting.geometry = {1000, 7, layout_id::spread};
    counting.counter_bits = 4;
    counting.provenance.intersection = true;
    EXPECT_FALSE(decode(encode(counting)));
}

TEST(frame, a_small_delta_has_a_small_frame) {
    header h;
    h.kind = kind::delta;
    h.codec = codec_id::gaps;
    h.geometry = {320'000, 2, layout_id::spread};
    h.provenance.items = 10'000;
    h.generation = 100;
    h.base_generation = 99;
    h.payload_size = 2078;
    EXPECT_LE(encode(h).size() + checksum_size, 36u);
}

TEST(frame, arrays_are_whole_words) {
    header h;
    h.geometry = {65, 1, layout_id::spread};
    EXPECT_EQ(h.array_bytes(), 16u);
    h.kind = kind::counting;
    h.counter_bits = 4;
    EXPECT_EQ(h.array_bytes(), 40u);
}

}  // namespace
}  // namespace posy::frame
