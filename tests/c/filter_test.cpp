// Filters through C are the filters of C++: the same bits, messages and files.
#include <algorithm>
#include <cmath>
#include <thread>

#include "owned.hpp"
#include "posy/filter.hpp"
#include "posy/message.hpp"

namespace posy::testing {
namespace {

posy_filter_info info_of(const owned<posy_filter>& filter) {
    posy_filter_info info{};
    info.struct_size = sizeof info;
    posy_error why;
    EXPECT_EQ(posy_filter_info_of(filter.get(), &info, &why), POSY_OK) << why.text;
    return info;
}

TEST(c_filter, has_the_bits_of_cpp) {
    const auto c = made<posy_filter>(posy_filter_make, 10'000u, 0.001);
    filter<std::string> text(10'000, 0.001);
    for (const auto& word : words(5000)) {
        EXPECT_EQ(posy_filter_insert(c.get(), word.data(), word.size(), nullptr), POSY_OK);
        text.insert(word);
    }
    EXPECT_EQ(posy_filter_insert(c.get(), nullptr, 0, nullptr), POSY_OK);
    text.insert("");
    EXPECT_EQ(bytes_of(posy_filter_to_bytes, c), as_string(to_bytes(text.untyped())));
    for (const auto& word : words(5000)) EXPECT_EQ(posy_filter_may_contain_text(c.get(), word.c_str()), 1);

    const auto numbers = made<posy_filter>(posy_filter_make, 10'000u, 0.001);
    filter<std::int64_t> integers(10'000, 0.001);
    for (std::int64_t i = -500; i < 500; ++i) {
        posy_filter_insert_i64(numbers.get(), i, nullptr);
        integers.insert(i);
        const std::uint64_t large = std::uint64_t{1} << 63 | static_cast<std::uint64_t>(i + 500);
        posy_filter_insert_u64(numbers.get(), large, nullptr);
        integers.insert(static_cast<std::int64_t>(large));
    }
    EXPECT_EQ(bytes_of(posy_filter_to_bytes, numbers), as_string(to_bytes(integers.untyped())));
    EXPECT_EQ(posy_filter_may_contain_i64(numbers.get(), -500), 1);
    const std::uint64_t seven = 7;  // the integer and its eight bytes are one key
    EXPECT_EQ(posy_filter_may_contain(numbers.get(), &seven, sizeof seven), 1);
}

TEST(c_filter, takes_arrays_in_every_form) {
    const auto all = words(10'000);
    std::vector<const char*> texts;
    std::string data;
    std::vector<std::int32_t> offsets32{0};
    std::vector<std::int64_t> offsets64{0};
    std::vector<std::uint64_t> numbers;
    const auto one_by_one = made<posy_filter>(posy_filter_make, 20'000u, 0.01);
    const auto integers = made<posy_filter>(posy_filter_make, 20'000u, 0.01);
    for (const auto& word : all) {
        posy_filter_insert_text(one_by_one.get(), word.c_str(), nullptr);
        texts.push_back(word.c_str());
        data += word;
        offsets32.push_back(static_cast<std::int32_t>(data.size()));
        offsets64.push_back(static_cast<std::int64_t>(data.size()));
        numbers.push_back(numbers.size() * 0x9e3779b97f4a7c15);
        posy_filter_insert_u64(integers.get(), numbers.back(), nullptr);
    }
    const auto pieces = bytes_in(all);
    const auto* const signed_numbers = reinterpret_cast<const std::int64_t*>(numbers.data());
    const std::vector<posy_keys> forms{
        posy_keys_texts(texts.data(), texts.size()),
        posy_keys_bytes(pieces.data(), pieces.size()),
        posy_keys_offsets32(offsets32.data(), data.data(), data.size(), all.size()),
        posy_keys_offsets64(offsets64.data(), data.data(), data.size(), all.size()),
        posy_keys_u64(numbers.data(), numbers.size()),
        posy_keys_i64(signed_numbers, numbers.size()),
    };
    for (const auto& form : forms) {
        const auto& expected = form.form <= POSY_KEYS_I64 ? integers : one_by_one;
        for (const unsigned threads : {0u, 1u, 3u}) {
            const auto filter = made<posy_filter>(posy_filter_make, 20'000u, 0.01);
            ASSERT_EQ(posy_filter_insert_many(filter.get(), &form, threads, nullptr), POSY_OK);
            EXPECT_EQ(posy_filter_equal(filter.get(), expected.get()), 1) << form.form;
            EXPECT_EQ(info_of(filter).items, all.size());
            const auto answers = std::make_unique<bool[]>(form.count);
            std::size_t yes = 0;
            ASSERT_EQ(
                posy_filter_may_contain_many(filter.get(), &form, threads, answers.get(), &yes, nullptr),
                POSY_OK);
            EXPECT_EQ(yes, form.count);
            EXPECT_TRUE(std::all_of(answers.get(), answers.get() + form.count, [](bool b) { return b; }));
        }
        const auto filter = made<posy_filter>(posy_filter_make, 20'000u, 0.01);
        ASSERT_EQ(posy_filter_insert_concurrently_many(filter.get(), &form, nullptr), POSY_OK);
        EXPECT_EQ(posy_filter_equal(filter.get(), expected.get()), 1) << form.form;
    }
}

TEST(c_filter, takes_keys_from_many_threads) {
    const auto shared = made<posy_filter>(posy_filter_make, 40'000u, 0.01);
    const auto alone = made<posy_filter>(posy_filter_make, 40'000u, 0.01);
    std::vector<std::thread> threads;
    for (std::uint64_t t = 0; t < 4; ++t) {
        threads.emplace_back([&, t] {
            for (std::uint64_t i = 0; i < 2000; ++i) {
                posy_filter_insert_concurrently_u64(shared.get(), t << 32 | i, nullptr);
                const std::string text = std::to_string(t << 32 | i);
                posy_filter_insert_concurrently(shared.get(), text.data(), text.size(), nullptr);
                EXPECT_EQ(posy_filter_may_contain_u64(shared.get(), t << 32 | i), 1);
            }
        });
    }
    for (auto& thread : threads) thread.join();
    for (std::uint64_t key = 0; key < 4 * 2000; ++key) {
        const std::uint64_t number = key / 2000 << 32 | key % 2000;
        posy_filter_insert_u64(alone.get(), number, nullptr);
        posy_filter_insert_text(alone.get(), std::to_string(number).c_str(), nullptr);
    }
    EXPECT_EQ(posy_filter_equal(shared.get(), alone.get()), 1);
    EXPECT_EQ(info_of(shared).items, 16'000u);
}

TEST(c_filter, is_a_set) {
    const auto a = made<posy_filter>(posy_filter_make, 10'000u, 0.01),
               b = made<posy_filter>(posy_filter_make, 10'000u, 0.01);
    for (std::uint64_t i = 0; i < 4000; ++i) posy_filter_insert_u64(a.get(), i, nullptr);
    for (std::uint64_t i = 2000; i < 6000; ++i) posy_filter_insert_u64(b.get(), i, nullptr);
    EXPECT_EQ(posy_filter_same_geometry(a.get(), b.get()), 1);
    EXPECT_EQ(posy_filter_equal(a.get(), b.get()), 0);

    posy_comparison compared{};
    compared.struct_size = sizeof compared;
    ASSERT_EQ(posy_filter_compare(a.get(), b.get(), 0.999999, &compared, nullptr), POSY_OK);
    // Odds of a false alarm: 10^-6 for each interval.
    EXPECT_LE(compared.intersection.low, 2000);
    EXPECT_GE(compared.intersection.high, 2000);
    EXPECT_LE(compared.united.low, 6000);
    EXPECT_GE(compared.united.high, 6000);
    EXPECT_NEAR(compared.jaccard.value, compared.intersection.value / compared.united.value, 1e-9);

    const auto both = made<posy_filter>(posy_filter_clone, a.get()),
               common = made<posy_filter>(posy_filter_clone, a.get());
    ASSERT_EQ(posy_filter_unite(both.get(), b.get(), nullptr), POSY_OK);
    ASSERT_EQ(posy_filter_intersect(common.get(), b.get(), nullptr), POSY_OK);
    for (std::uint64_t i = 0; i < 6000; ++i) EXPECT_EQ(posy_filter_may_contain_u64(both.get(), i), 1);
    for (std::uint64_t i = 2000; i < 4000; ++i) EXPECT_EQ(posy_filter_may_contain_u64(common.get(), i), 1);
    EXPECT_EQ(info_of(both).items, 8000u);
    EXPECT_EQ(info_of(common).items, POSY_UNKNOWN);
    EXPECT_LT(info_of(common).ones, info_of(a).ones);

    posy_estimate items{};
    ASSERT_EQ(posy_filter_estimate_items(a.get(), 0.999999, &items, nullptr), POSY_OK);
    EXPECT_LE(items.low, 4000);
    EXPECT_GE(items.high, 4000);
    EXPECT_DOUBLE_EQ(posy_filter_false_positive_rate(a.get()), info_of(a).false_positive_rate);
    EXPECT_GT(info_of(a).false_positive_rate, 0);

    const posy_error other = [&] {
        const auto small = made<posy_filter>(posy_filter_make, 10u, 0.01);
        EXPECT_EQ(posy_filter_same_geometry(a.get(), small.get()), 0);
        posy_error why;
        posy_filter_unite(a.get(), small.get(), &why);
        return why;
    }();
    EXPECT_EQ(other.status, POSY_MISMATCH);
    EXPECT_NE(std::string(other.text).find("bits"), std::string::npos) << other.text;

    ASSERT_EQ(posy_filter_clear(a.get(), nullptr), POSY_OK);
    EXPECT_EQ(info_of(a).ones, 0u);
}

TEST(c_filter, folds) {
    posy_filter_options options{};
    options.struct_size = sizeof options;
    options.bits = 1 << 16;
    options.hashes = 5;
    const auto large = made<posy_filter>(posy_filter_make_with, &options);
    options.bits /= 4;
    const auto small = made<posy_filter>(posy_filter_make_with, &options);
    for (std::uint64_t i = 0; i < 1000; ++i) {
        posy_filter_insert_u64(large.get(), i, nullptr);
        posy_filter_insert_u64(small.get(), i, nullptr);
    }
    EXPECT_EQ(posy_filter_equal(made<posy_filter>(posy_filter_fold, large.get(), 4u).get(), small.get()), 1);
    EXPECT_EQ(refused<posy_filter>(posy_filter_fold, large.get(), 3u).status, POSY_INVALID);
    EXPECT_EQ(refused<posy_filter>(posy_filter_fold, large.get(), 0u).status, POSY_INVALID);
}

TEST(c_filter, is_made_as_the_options_say) {
    posy_filter_options options{};
    options.struct_size = sizeof options;
    options.items = 1000;
    options.rate = 0.01;
    options.layout = POSY_LAYOUT_SPREAD;
    options.hashes = 4;
    options.hash = POSY_HASH_SIPHASH;
    options.seed_low = 5;
    options.seed_high = 6;
    const auto info = info_of(made<posy_filter>(posy_filter_make_with, &options));
    EXPECT_EQ(info.layout, std::uint32_t{POSY_LAYOUT_SPREAD});
    EXPECT_EQ(info.hash, std::uint32_t{POSY_HASH_SIPHASH});
    EXPECT_EQ(info.hashes, 4u);
    EXPECT_EQ(info.seed_low, 5u);
    EXPECT_EQ(info.seed_high, 6u);
    EXPECT_EQ(info.planned_items, 1000u);
    EXPECT_LE(info.planned_rate, 0.01);
    EXPECT_EQ(info.memory_bytes, (info.bits + 63) / 64 * 8);

    const auto status_with = [&](auto change) {
        posy_filter_options other = options;
        change(other);
        return refused<posy_filter>(posy_filter_make_with, &other).status;
    };
    EXPECT_EQ(status_with([](auto& o) { o.struct_size = 0; }), POSY_INVALID);
    EXPECT_EQ(status_with([](auto& o) { o.zero = 1; }), POSY_INVALID);
    EXPECT_EQ(status_with([](auto& o) { o.layout = 6; }), POSY_INVALID);
    EXPECT_EQ(status_with([](auto& o) { o.layout = 259; }), POSY_INVALID);
    EXPECT_EQ(status_with([](auto& o) { o.hash = 99; }), POSY_INVALID);
    EXPECT_EQ(status_with([](auto& o) { o.hash = 0; }), POSY_INVALID) << "a seed without a hash";
    EXPECT_EQ(status_with([](auto& o) { o.hashes = 100; }), POSY_INVALID);
    EXPECT_EQ(status_with([](auto& o) { o.items = 0; }), POSY_INVALID);
    EXPECT_EQ(status_with([](auto& o) { o.rate = std::nan(""); }), POSY_INVALID);
    EXPECT_EQ(status_with([](auto& o) { o.bits = 1 << 20; }), POSY_INVALID) << "bits and rate";
}

TEST(c_filter, is_made_by_programs_of_other_versions) {
    struct {
        posy_filter_options known{};
        std::uint64_t later = 0;
    } newer;
    newer.known.struct_size = sizeof newer;
    newer.known.items = 1000;
    newer.known.rate = 0.01;
    made<posy_filter>(posy_filter_make_with, &newer.known);
    newer.later = 1;
    const auto why = refused<posy_filter>(posy_filter_make_with, &newer.known);
    EXPECT_EQ(why.status, POSY_UNSUPPORTED);
    EXPECT_NE(std::string(why.text).find(posy_version()), std::string::npos);

    struct {
        posy_filter_info known{};
        std::uint64_t later = 77;
    } more;
    more.known.struct_size = sizeof more;
    const auto filter = made<posy_filter>(posy_filter_make, 10u, 0.1);
    EXPECT_EQ(posy_filter_info_of(filter.get(), &more.known, nullptr), POSY_OK);
    EXPECT_EQ(more.later, 77u);
    more.known.struct_size = 8;
    EXPECT_EQ(posy_filter_info_of(filter.get(), &more.known, nullptr), POSY_INVALID);
}

TEST(c_filter, is_planned) {
    posy_wishes wishes{};
    wishes.struct_size = sizeof wishes;
    wishes.items = 100'000;
    wishes.rate = 0.001;
    wishes.minimize = POSY_GOAL_MEMORY;
    posy_plan plan{};
    plan.struct_size = sizeof plan;
    posy_error why;
    ASSERT_EQ(posy_plan_choose(&wishes, &plan, &why), POSY_OK) << why.text;
    EXPECT_LE(plan.false_positive_rate, 0.001);
    EXPECT_EQ(plan.delta_bits, 0);

    posy_filter_options options{};
    options.struct_size = sizeof options;
    options.items = plan.items;
    options.bits = plan.bits;
    options.hashes = plan.hashes;
    options.layout = plan.layout;
    options.hash = plan.hash;
    const auto info = info_of(made<posy_filter>(posy_filter_make_with, &options));
    EXPECT_EQ(info.bits, plan.bits);
    EXPECT_EQ(info.planned_items, plan.items);
    EXPECT_DOUBLE_EQ(info.planned_rate, plan.false_positive_rate);

    wishes.minimize = 9;
    EXPECT_EQ(posy_plan_choose(&wishes, &plan, &why), POSY_INVALID);
    wishes.minimize = 0;
    wishes.rate = 2;
    EXPECT_EQ(posy_plan_choose(&wishes, &plan, &why), POSY_INVALID);
    EXPECT_STRNE(why.text, "");
}

TEST(c_filter, shares_files_with_cpp) {
    const scratch folder;
    const auto path = folder / "a.posy";
    filter<std::string> cpp(1000, 0.01);
    for (const auto& word : words(1000)) cpp.insert(word);
    cpp.save(path);
    const auto c = made<posy_filter>(posy_filter_load, path.c_str(), std::uint64_t{0});
    EXPECT_EQ(bytes_of(posy_filter_to_bytes, c), as_string(to_bytes(cpp.untyped())));
    posy_filter_insert_text(c.get(), "another", nullptr);
    cpp.insert("another");
    for (const int coding : {POSY_RAW, POSY_SMALLEST, POSY_FASTEST}) {
        const auto other = folder / "b.posy";
        posy_error why;
        ASSERT_EQ(posy_filter_save(c.get(), other.c_str(), coding, &why), POSY_OK) << why.text;
        EXPECT_EQ(*filter<std::string>::load(other), cpp);
    }
    EXPECT_LT(bytes_of(posy_filter_to_bytes, c, POSY_SMALLEST).size(),
              bytes_of(posy_filter_to_bytes, c).size());

    const auto missing = refused<posy_filter>(posy_filter_load, (folder / "none").c_str(), std::uint64_t{0});
    EXPECT_EQ(missing.status, POSY_INPUT_OUTPUT);
    EXPECT_NE(std::string(missing.text).find("none"), std::string::npos) << missing.text;
    posy_error why;
    EXPECT_EQ(posy_filter_save(c.get(), (folder / "no/where").c_str(), POSY_RAW, &why), POSY_INPUT_OUTPUT);
    EXPECT_EQ(posy_filter_save(c.get(), path.c_str(), 3, &why), POSY_INVALID);
    EXPECT_EQ(posy_filter_save(nullptr, path.c_str(), POSY_RAW, &why), POSY_INVALID);
}

TEST(c_filter, refuses_damaged_messages) {
    const auto filter = made<posy_filter>(posy_filter_make, 1000u, 0.01);
    for (const auto& word : words(500)) posy_filter_insert_text(filter.get(), word.c_str(), nullptr);
    for (const int coding : {POSY_RAW, POSY_SMALLEST})
        expect_damage_is_refused<posy_filter>(posy_filter_from_bytes,
                                              bytes_of(posy_filter_to_bytes, filter, coding));

    const auto packed = bytes_of(posy_filter_to_bytes, filter, POSY_SMALLEST);
    const auto limited =
        refused<posy_filter>(posy_filter_from_bytes, packed.data(), packed.size(), std::uint64_t{64});
    EXPECT_EQ(limited.status, POSY_TOO_LARGE);
    const auto cut =
        refused<posy_filter>(posy_filter_from_bytes, packed.data(), packed.size() - 1, std::uint64_t{0});
    EXPECT_NE(cut.offset, POSY_UNKNOWN);
}

TEST(c_filter, cuts_long_texts_between_characters) {
    const scratch folder;
    std::string path = folder / "";
    while (path.size() < 3000) path += "/ä";
    for (int i = 0; i < 2; ++i) {
        const auto why = refused<posy_filter>(posy_filter_load, path.c_str(), std::uint64_t{0});
        const std::string_view text = why.text;
        EXPECT_GE(text.size(), sizeof why.text - 3);
        EXPECT_NE(static_cast<unsigned char>(text.back()), 0xc3) << "half of an ä";
        path.insert(0, "/");
    }
}

}  // namespace
}  // namespace posy::testing
