#include "posy/message.hpp"

#include <algorithm>
#include <cstdlib>
#include <iterator>

#include "posy/algebra.hpp"
#include "samples.hpp"
#include "support.hpp"

namespace posy {
namespace {

// The array inside a message, for comparison.
std::vector<std::uint64_t> plain_of(const message& m) {
    const auto copy = [](const bit_array& bits) {
        return std::vector(bits.words().begin(), bits.words().end());
    };
    if (const auto* filter = std::get_if<bloom_filter>(&m.body)) return copy(filter->bits());
    if (const auto* filter = std::get_if<counting_filter>(&m.body)) return copy(filter->counters().cells());
    if (const auto* delta = std::get_if<filter_delta>(&m.body)) return copy(delta->flips);
    return copy(std::get<compressed_filter>(m.body).unpack()->bits());
}

class every_message : public testing::TestWithParam<geometry> {};
INSTANTIATE_TEST_SUITE_P(message, every_message, testing::ValuesIn(all_shapes()),
                         [](const auto& row) { return std::to_string(row.index); });

TEST_P(every_message, comes_back_as_it_went) {
    SCOPED_TRACE(describe(GetParam()));
    const auto filter = filter_sample(GetParam());
    const auto bytes = to_bytes(filter);
    const auto back = from_bytes(bytes);
    ASSERT_TRUE(back) << back.error().text();
    EXPECT_EQ(back->size, bytes.size());
    EXPECT_EQ(std::get<bloom_filter>(back->body), filter);
    EXPECT_EQ(std::get<bloom_filter>(back->body).items(), filter.items());
    for (const unsigned width : {4u, 8u}) {
        const auto counting = counting_sample(GetParam(), width);
        const auto again = from_bytes(to_bytes(counting));
        ASSERT_TRUE(again) << again.error().text();
        const auto& read = std::get<counting_filter>(again->body);
        EXPECT_EQ(read.counters(), counting.counters());
        EXPECT_EQ(read.projection(), counting.projection());
        EXPECT_EQ(read.items(), counting.items());
        EXPECT_EQ(read.saturated(), counting.saturated());
    }
}

TEST(message, seeds_and_unknown_counts_travel) {
    auto filter = filter_sample({1024, 3, layout_id::blocked, hash_family::siphash, {~std::uint64_t{0}, 17}});
    filter.set_items(std::nullopt);
    const auto back = *from_bytes(to_bytes(filter));
    EXPECT_EQ(std::get<bloom_filter>(back.body), filter);
    EXPECT_EQ(std::get<bloom_filter>(back.body).items(), std::nullopt);
}

// A plan, and that the bits are an intersection's, in every kind that has bits and every coding.
TEST(message, the_provenance_travels) {
    const scratch_directory scratch;
    const geometry g{6000, 3, layout_id::spread};
    auto planned = filter_sample(g), common = filter_sample(g);
    planned.set_planned(promise{1000, 0.125});
    common.set_planned(promise{7, 0.25});
    ASSERT_TRUE(intersect(common, filter_sample(g, 50)));
    auto counting = counting_sample(g, 4);
    counting.set_planned(promise{1000, 0.125});
    const auto expect_kept = [&](const auto& body, const provenance& kept, const packing& how = {}) {
        using body_type = std::remove_cvref_t<decltype(body)>;
        const auto back = from_bytes(to_bytes(body, how));
        ASSERT_TRUE(back) << back.error().text();
        EXPECT_EQ(std::get<body_type>(back->body).provenance(), kept);
        ASSERT_TRUE(save(scratch / "f", body, how));
        EXPECT_EQ(std::get<body_type>(load(scratch / "f")->body).provenance(), kept);
    };
    const provenance of_planned{100, false, promise{1000, 0.125}};
    for (const auto* filter : {&planned, &common}) {
        const provenance kept = filter == &planned ? of_planned : provenance{{}, true, promise{7, 0.25}};
        for (const coding want : {coding::raw, coding::smallest, coding::fastest})
            expect_kept(*filter, kept, {.want = want});
        for (const queryable_form form :
             {queryable_form::small, queryable_form::fast, queryable_form::list}) {
            const auto compressed = *compressed_filter::make(*filter, form);
            expect_kept(compressed, kept);
            EXPECT_EQ(compressed.unpack()->provenance(), kept);
        }
        EXPECT_EQ(filter->clone()->provenance(), kept);
    }
    for (const coding want : {coding::raw, coding::smallest})
        expect_kept(counting, of_planned, {.want = want});
    EXPECT_EQ(counting.projection().provenance(), of_planned);
}

// The files in testdata/messages were written once and must be read, and written, forever.
TEST(message, golden_bytes) {
    const std::filesystem::path golden = std::filesystem::path(POSY_TESTDATA) / "messages";
    std::vector<named_message> all = {
        {"spread.posy", to_bytes(filter_sample({1000, 7, layout_id::spread}))},
        {"sliced.posy", to_bytes(filter_sample({1001, 7, layout_id::sliced, hash_family::siphash, {1, 2}}))},
        {"paired.posy", to_bytes(filter_sample({2048, 6, layout_id::paired, hash_family::xxh3, {5}}))},
        {"narrow.posy", to_bytes(filter_sample({1280, 11, layout_id::narrow}))},
        {"blocked.posy",
         to_bytes(filter_sample({1024, 11, layout_id::blocked, hash_family::multiply_shift, {300}}))},
        {"counting4.posy", to_bytes(counting_sample({1000, 7, layout_id::spread}, 4))},
        {"counting8.posy", to_bytes(counting_sample({1024, 3, layout_id::blocked}, 8))},
        {"adaptive.posy",
         to_bytes(filter_sample({1400, 2, layout_id::spread}), {.codec = codec_id::adaptive})},
        {"range.posy", to_bytes(filter_sample({1400, 2, layout_id::spread}), {.codec = codec_id::range})},
        {"bytes.posy", to_bytes(filter_sample({1400, 2, layout_id::spread}), {.codec = codec_id::bytes})},
        {"gaps.posy", to_bytes(filter_sample({9200, 1, layout_id::spread}), {.codec = codec_id::gaps})},
        {"counters.posy",
         to_bytes(counting_sample({1000, 7, layout_id::spread}, 4), {.codec = codec_id::counters})},
        {"delta.posy",
         to_bytes(delta_sample({3200, 2, layout_id::spread}), {.want = coding::smallest, .generation = 8})},
        {"queryable-small.posy", to_bytes(*compressed_filter::make(
                                     filter_sample({1400, 2, layout_id::spread}), queryable_form::small))},
        {"queryable-fast.posy", to_bytes(*compressed_filter::make(filter_sample({1400, 2, layout_id::spread}),
                                                                  queryable_form::fast))},
        {"queryable-list.posy", to_bytes(*compressed_filter::make(filter_sample({9200, 1, layout_id::spread}),
                                                                  queryable_form::list))},
    };
    auto planned = filter_sample({1000, 7, layout_id::spread});
    planned.set_planned(promise{120, 0.0625});
    all.push_back({"planned.posy", to_bytes(planned)});
    auto common = filter_sample({1000, 7, layout_id::spread});
    ASSERT_TRUE(intersect(common, filter_of({1000, 7, layout_id::spread}, 50, 150)));
    all.push_back({"intersection.posy", to_bytes(common)});
    std::ranges::move(described_by_payload(), std::back_inserter(all));
    for (const auto& [name, bytes] : all) {
        if (std::getenv("POSY_WRITE_GOLDEN")) write_file(golden / name, bytes);
        EXPECT_EQ(file_bytes(golden / name), bytes) << name;
        const auto read = load(golden / name);
        ASSERT_TRUE(read) << name << ": " << read.error().text();
        if (read->body.index() < 4) {
            EXPECT_EQ(plain_of(*read), plain_of(*from_bytes(bytes))) << name;
        } else {
            EXPECT_EQ(to_bytes(read->body), bytes) << name;
        }
    }
}

TEST(message, every_codec_carries_every_shape) {
    for (const geometry& g : all_shapes()) {
        const auto filter = filter_sample(g);
        for (const codec_id codec :
             {codec_id::raw, codec_id::adaptive, codec_id::range, codec_id::bytes, codec_id::gaps}) {
            const auto bytes = to_bytes(filter, {.codec = codec, .generation = 300});
            const auto back = from_bytes(bytes);
            ASSERT_TRUE(back) << describe(g) << " " << name_of(codec) << ": " << back.error().text();
            EXPECT_EQ(std::get<bloom_filter>(back->body), filter);
            EXPECT_EQ(back->generation, 300u);
        }
        EXPECT_LE(to_bytes(filter, {.want = coding::smallest}).size(), to_bytes(filter).size());
        EXPECT_LE(to_bytes(filter, {.want = coding::fastest}).size(), to_bytes(filter).size());
    }
}

TEST(message, codec_names_round_trip) {
    for (unsigned id = 0; id <= 5; ++id) {
        EXPECT_EQ(named<codec_id>(name_of(static_cast<codec_id>(id))), static_cast<codec_id>(id));
    }
    EXPECT_EQ(named<codec_id>("zip"), std::nullopt);
}

}  // namespace
}  // namespace posy
