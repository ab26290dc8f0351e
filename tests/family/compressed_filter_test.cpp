#include "posy/compressed_filter.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <vector>

#include "checked.hpp"
#include "support.hpp"

namespace posy {
namespace {

constexpr std::array all_forms{queryable_form::small, queryable_form::fast, queryable_form::list};

class every_compressed_shape : public testing::TestWithParam<geometry> {};
INSTANTIATE_TEST_SUITE_P(compressed_filter, every_compressed_shape, testing::ValuesIn(all_shapes()),
                         [](const auto& row) { return std::to_string(row.index); });

TEST_P(every_compressed_shape, answers_as_the_filter_does) {
    SCOPED_TRACE(describe(GetParam()));
    auto filter = *bloom_filter::make(GetParam());
    std::vector<digest> digests;
    for (int key = 0; key < 2000; ++key) digests.push_back(filter.hash()(key));
    const auto members = std::span(digests).first(200);
    filter.insert(members);
    for (const queryable_form form : all_forms) {
        const checked compressed(*compressed_filter::make(filter, form), members);
        EXPECT_EQ(compressed->geometry(), filter.geometry());
        EXPECT_EQ(compressed->form(), form);
        EXPECT_EQ(compressed->items(), 200u);
        EXPECT_EQ(compressed->ones(), filter.ones());
        EXPECT_EQ(compressed->hash()("x"), filter.hash()("x"));
        const auto rate = compressed->false_positive_rate();
        ASSERT_TRUE(rate);
        EXPECT_DOUBLE_EQ(*rate, filter.false_positive_rate());
        const auto back = compressed->unpack();
        ASSERT_TRUE(back) << back.error().text();
        EXPECT_EQ(*back, filter);
        EXPECT_EQ(back->items(), filter.items());

        const std::unique_ptr<bool[]> answers(new bool[digests.size()]);
        compressed.may_contain(digests, {answers.get(), digests.size()});
        for (std::size_t i = 0; i < digests.size(); ++i)
            ASSERT_EQ(answers[i], filter.may_contain(digests[i])) << i;
        EXPECT_TRUE(std::ranges::equal(compressed.sent()->bytes(), compressed->bytes()));
    }
}

// The bytes travel; what keeps them alive is handed over and let go with the last copy.
TEST(compressed_filter, opens_the_bytes_of_another) {
    for (const queryable_form form : all_forms) {
        auto filter = *bloom_filter::make({10'000, 3, layout_id::spread});
        for (int key = 0; key < 500; ++key) filter.insert(filter.hash()(key));
        const auto first = *compressed_filter::make(filter, form);
        auto held = std::make_shared<std::vector<std::byte>>(3 + first.bytes().size());
        std::ranges::copy(first.bytes(), held->begin() + 3);
        const std::weak_ptr<std::vector<std::byte>> watched = held;
        {
            const byte_view bytes = byte_view(*held).subspan(3);
            auto second = compressed_filter::open(filter.geometry(), form, {}, std::move(held), bytes);
            ASSERT_TRUE(second) << second.error().text();
            EXPECT_FALSE(second->items());
            const compressed_filter copy = *second;
            second = error::invalid("gone");
            EXPECT_FALSE(watched.expired());
            for (int key = 0; key < 500; ++key) EXPECT_TRUE(copy.may_contain(copy.hash()(key)));
            EXPECT_EQ(*copy.unpack(), filter);
        }
        EXPECT_TRUE(watched.expired());
    }
}

TEST(compressed_filter, refusals) {
    const auto filter = *bloom_filter::make({10'000, 3, layout_id::spread});
    const auto good = *compressed_filter::make(filter, queryable_form::small);
    const auto open = [&](const geometry& g, queryable_form form, byte_view bytes) {
        return compressed_filter::open(g, form, {}, nullptr, bytes);
    };
    EXPECT_TRUE(open(filter.geometry(), queryable_form::small, good.bytes()));
    EXPECT_FALSE(open(filter.geometry(), queryable_form::small, good.bytes().first(10)));
    EXPECT_FALSE(open(filter.geometry(), queryable_form{0}, good.bytes()));
    EXPECT_FALSE(open(filter.geometry(), queryable_form{4}, good.bytes()));
    EXPECT_FALSE(open({0, 3, layout_id::spread}, queryable_form::small, good.bytes()));
    EXPECT_FALSE(compressed_filter::make(filter, queryable_form{0}));
}

// Damage that open() does not see is found when the bits are unpacked.
TEST(compressed_filter, unpacking_finds_what_opening_does_not) {
    auto filter = *bloom_filter::make({9'999, 3, layout_id::sliced});
    for (int key = 0; key < 300; ++key) filter.insert(filter.hash()(key));
    const auto good = *compressed_filter::make(filter, queryable_form::list);
    std::vector<std::byte> bytes(good.bytes().begin(), good.bytes().end());
    std::swap(bytes[10], bytes[400]);
    const auto damaged =
        compressed_filter::open(filter.geometry(), queryable_form::list, {.items = 300}, nullptr, bytes);
    ASSERT_TRUE(damaged);
    EXPECT_FALSE(damaged->unpack());
    EXPECT_FALSE(damaged->false_positive_rate());
}

}  // namespace
}  // namespace posy
