// Filters that grow and filters that forget, through C: the bytes of C++, files, unions and refusals.
#include "posy/typed/growing.hpp"
#include "owned.hpp"
#include "posy/growing_filter.hpp"
#include "posy/message.hpp"
#include "posy/typed/window.hpp"

namespace posy::testing {
namespace {

posy_growing_options promising(double rate) {
    posy_growing_options options{};
    options.struct_size = sizeof options;
    options.rate = rate;
    return options;
}

posy_window_options lasting(std::uint64_t items, std::uint64_t window) {
    posy_window_options options{};
    options.struct_size = sizeof options;
    options.items = items;
    options.rate = 0.01;
    options.window = window;
    return options;
}

TEST(c_growing, has_the_bytes_of_cpp) {
    auto options = promising(0.01);
    options.hash = POSY_HASH_SIPHASH;
    options.seed_low = 7;
    const auto c = made<posy_growing>(posy_growing_make, &options);
    auto cpp = *typed::make_growing(0.01, hasher(hash_family::siphash, {7}));
    const auto all = words(20'000);
    const auto pieces = bytes_in(all);
    const auto keys = posy_keys_bytes(pieces.data(), pieces.size());
    ASSERT_EQ(posy_growing_insert_many(c.get(), &keys, nullptr), POSY_OK);
    ASSERT_EQ(posy_growing_insert_u64(c.get(), 7, nullptr), POSY_OK);
    ASSERT_EQ(posy_growing_insert_text(c.get(), "last", nullptr), POSY_OK);
    const hasher hash = cpp.hash();
    for (std::size_t first = 0; first < all.size();
         first += 1024) {  // arrays follow each other at ends of batches
        std::vector<digest> digests;
        for (std::size_t i = first; i < std::min(first + 1024, all.size()); ++i)
            digests.push_back(hash(all[i]));
        *cpp.insert(digests);
    }
    *cpp.insert(hash(std::uint64_t{7}));
    *cpp.insert(hash(std::string_view("last")));

    posy_growing_info info{};
    info.struct_size = sizeof info;
    ASSERT_EQ(posy_growing_info_of(c.get(), &info, nullptr), POSY_OK);
    EXPECT_EQ(info.items, 20'002);
    EXPECT_LE(info.false_positive_rate, 0.01);
    EXPECT_EQ(info.promised_rate, 0.01);
    EXPECT_EQ(info.shrunk, 0);
    posy_estimate items;
    ASSERT_EQ(posy_growing_estimate_items(c.get(), 0.95, &items, nullptr), POSY_OK);
    EXPECT_LT(items.low, items.high);
    EXPECT_NEAR(items.value, 20'002, 1000);

    const auto bytes = bytes_of(posy_growing_to_bytes, c);
    const auto again = made<posy_growing>(posy_growing_from_bytes, bytes.data(), bytes.size(), 0u);
    EXPECT_EQ(bytes_of(posy_growing_to_bytes, again), bytes);
    EXPECT_EQ(bytes, as_string(to_bytes(cpp)));
    std::size_t yes = 0;
    const auto answers = std::make_unique<bool[]>(all.size());
    ASSERT_EQ(posy_growing_may_contain_many(again.get(), &keys, answers.get(), &yes, nullptr), POSY_OK);
    EXPECT_EQ(yes, all.size());
    EXPECT_EQ(posy_growing_may_contain_u64(again.get(), 7), 1);
    EXPECT_EQ(posy_growing_may_contain_text(again.get(), "last"), 1);
    EXPECT_EQ(posy_growing_may_contain(again.get(), nullptr, 3), -1);
    EXPECT_EQ(posy_growing_may_contain_u64(nullptr, 3), -1);
}

TEST(c_growing, shrinks_unites_and_is_a_file) {
    const scratch folder;
    const auto path = folder / "growing.posy";
    const auto options = promising(0.001);
    const auto a = made<posy_growing>(posy_growing_make, &options),
               b = made<posy_growing>(posy_growing_make, &options);
    ASSERT_EQ(posy_growing_insert_text(a.get(), "a", nullptr), POSY_OK);
    ASSERT_EQ(posy_growing_insert_text(b.get(), "b", nullptr), POSY_OK);
    posy_error why;
    ASSERT_EQ(posy_growing_unite(a.get(), b.get(), &why), POSY_OK) << why.text;
    ASSERT_EQ(posy_growing_shrink(a.get(), &why), POSY_OK) << why.text;
    EXPECT_NE(posy_growing_insert_text(a.get(), "c", &why), POSY_OK);
    ASSERT_EQ(posy_growing_save(a.get(), path.c_str(), POSY_SMALLEST, &why), POSY_OK) << why.text;
    const auto loaded = made<posy_growing>(posy_growing_load, path.c_str(), 0u);
    EXPECT_EQ(posy_growing_may_contain_text(loaded.get(), "a"), 1);
    EXPECT_EQ(posy_growing_may_contain_text(loaded.get(), "b"), 1);
    const auto other = promising(0.1);
    const auto different = made<posy_growing>(posy_growing_make, &other);
    EXPECT_EQ(posy_growing_unite(b.get(), different.get(), &why), POSY_MISMATCH);
    EXPECT_EQ(refused<posy_window>(posy_window_load, path.c_str(), 0u).status, POSY_MISMATCH);
    for (const double rate : {0.0, 1.0, -1.0}) {
        const auto bad = promising(rate);
        EXPECT_EQ(refused<posy_growing>(posy_growing_make, &bad).status, POSY_INVALID);
    }
    EXPECT_EQ(refused<posy_growing>(posy_growing_make, static_cast<posy_growing_options*>(nullptr)).status,
              POSY_INVALID);
    EXPECT_NE(refused<posy_growing>(posy_growing_from_bytes, "rubbish", 7u, 0u).status, POSY_OK);
}

TEST(c_window, remembers_for_a_window_and_forgets) {
    const auto options = lasting(1000, 60);
    const auto c = made<posy_window>(posy_window_make, &options);
    EXPECT_EQ(posy_window_insert_text(c.get(), "anna", 100), 1);
    EXPECT_EQ(posy_window_insert_u64(c.get(), 7, 130), 1);
    EXPECT_EQ(posy_window_insert_u64(c.get(), 8, 10), 0);  // longer ago than the window
    EXPECT_EQ(posy_window_may_contain_text(c.get(), "anna", 150), 1);
    EXPECT_EQ(posy_window_may_contain_text(c.get(), "anna", 400), 0);
    EXPECT_EQ(posy_window_may_contain_u64(c.get(), 7, 185), 1);
    EXPECT_EQ(posy_window_insert(nullptr, "x", 1, 100), -1);
    EXPECT_EQ(posy_window_may_contain_u64(nullptr, 7, 185), -1);

    const std::vector<std::uint64_t> numbers{20, 21, 22};
    const auto keys = posy_keys_u64(numbers.data(), numbers.size());
    bool inserted = false;
    ASSERT_EQ(posy_window_insert_many(c.get(), &keys, 140, &inserted, nullptr), POSY_OK);
    EXPECT_TRUE(inserted);
    ASSERT_EQ(posy_window_insert_many(c.get(), &keys, 1, &inserted, nullptr), POSY_OK);
    EXPECT_FALSE(inserted);
    bool answers[3] = {};
    std::size_t yes = 0;
    ASSERT_EQ(posy_window_may_contain_many(c.get(), &keys, 150, answers, &yes, nullptr), POSY_OK);
    EXPECT_EQ(yes, 3);

    posy_window_info info{};
    info.struct_size = sizeof info;
    ASSERT_EQ(posy_window_info_of(c.get(), 150, &info, nullptr), POSY_OK);
    EXPECT_EQ(info.items, 5);
    EXPECT_GE(info.remembered_at_least, 60);
    EXPECT_EQ(info.latest, 140);
    EXPECT_EQ(info.planned_items, 1000);
    ASSERT_EQ(posy_window_info_of(c.get(), 1000, &info, nullptr), POSY_OK);
    EXPECT_EQ(info.items, 0);
}

TEST(c_window, is_a_message_and_unites) {
    const scratch folder;
    const auto path = folder / "window.posy";
    const auto options = lasting(1000, 60);
    const auto a = made<posy_window>(posy_window_make, &options),
               b = made<posy_window>(posy_window_make, &options);
    posy_window_insert_text(a.get(), "a", 100);
    posy_window_insert_text(b.get(), "b", 110);
    posy_error why;
    ASSERT_EQ(posy_window_unite(a.get(), b.get(), &why), POSY_OK) << why.text;
    const auto bytes = bytes_of(posy_window_to_bytes, a);
    const auto read = made<posy_window>(posy_window_from_bytes, bytes.data(), bytes.size(), 0u);
    EXPECT_EQ(bytes_of(posy_window_to_bytes, read), bytes);
    ASSERT_EQ(posy_window_save(a.get(), path.c_str(), POSY_RAW, &why), POSY_OK) << why.text;
    const auto loaded = made<posy_window>(posy_window_load, path.c_str(), 0u);
    EXPECT_EQ(posy_window_may_contain_text(loaded.get(), "a", 120), 1);
    EXPECT_EQ(posy_window_may_contain_text(loaded.get(), "b", 120), 1);
    const auto longer = lasting(1000, 600);
    const auto other = made<posy_window>(posy_window_make, &longer);
    EXPECT_EQ(posy_window_unite(a.get(), other.get(), &why), POSY_MISMATCH);
    auto bad = lasting(1000, 60);
    bad.generations = 255;
    EXPECT_EQ(refused<posy_window>(posy_window_make, &bad).status, POSY_INVALID);
    bad = lasting(0, 60);
    EXPECT_EQ(refused<posy_window>(posy_window_make, &bad).status, POSY_INVALID);
    EXPECT_NE(refused<posy_window>(posy_window_from_bytes, "rubbish", 7u, 0u).status, POSY_OK);
}

}  // namespace
}  // namespace posy::testing
