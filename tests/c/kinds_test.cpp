// The other kinds through C are those of C++: the same messages, and the same answers.
#include <map>

#include "owned.hpp"
#include "posy/message.hpp"
#include "posy/typed/counting.hpp"
#include "posy/typed/counts.hpp"
#include "posy/typed/map.hpp"
#include "posy/typed/sealed.hpp"

namespace posy::testing {
namespace {

// A kind as bytes and as a file, and every other kind's reader refuses it.
template <class Handle, class ToBytes, class FromBytes, class Save, class Load>
void expect_travels(const owned<Handle>& handle, ToBytes to, FromBytes from, Save save, Load load) {
    const scratch folder;
    const auto path = folder / "file.posy";
    for (const int coding : {POSY_RAW, POSY_SMALLEST, POSY_FASTEST}) {
        const auto message = bytes_of(to, handle, coding);
        EXPECT_EQ(bytes_of(to, made<Handle>(from, message.data(), message.size(), std::uint64_t{0}), coding),
                  message);
        posy_error why;
        ASSERT_EQ(save(handle.get(), path.c_str(), coding, &why), POSY_OK) << why.text;
        EXPECT_EQ(bytes_of(to, made<Handle>(load, path.c_str(), std::uint64_t{0}), coding), message);
    }
    const auto message = bytes_of(to, handle);
    expect_damage_is_refused<Handle>(from, message);

    const auto filter = made<posy_filter>(posy_filter_make, 10u, 0.1);
    const auto other = bytes_of(posy_filter_to_bytes, filter);
    const auto why = refused<Handle>(from, other.data(), other.size(), std::uint64_t{0});
    EXPECT_EQ(why.status, POSY_MISMATCH);
    EXPECT_NE(std::string(why.text).find("kind filter"), std::string::npos) << why.text;
    EXPECT_EQ(
        refused<posy_filter>(posy_filter_from_bytes, message.data(), message.size(), std::uint64_t{0}).status,
        POSY_MISMATCH);
    EXPECT_EQ(refused<posy_filter>(posy_filter_load, path.c_str(), std::uint64_t{0}).status, POSY_MISMATCH);
}

TEST(c_kinds, deltas_turn_one_filter_into_another) {
    const auto before = made<posy_filter>(posy_filter_make, 10'000u, 0.01);
    for (std::uint64_t i = 0; i < 5000; ++i) posy_filter_insert_u64(before.get(), i, nullptr);
    const auto after = made<posy_filter>(posy_filter_clone, before.get());
    for (std::uint64_t i = 5000; i < 5100; ++i) posy_filter_insert_u64(after.get(), i, nullptr);
    const auto delta = made<posy_delta>(posy_delta_make, before.get(), after.get());
    expect_travels(delta, posy_delta_to_bytes, posy_delta_from_bytes, posy_delta_save, posy_delta_load);
    EXPECT_LT(bytes_of(posy_delta_to_bytes, delta, POSY_SMALLEST).size(),
              bytes_of(posy_filter_to_bytes, after, POSY_SMALLEST).size() / 4);

    EXPECT_EQ(posy_delta_apply(after.get(), delta.get(), nullptr), POSY_MISMATCH);
    posy_error why;
    ASSERT_EQ(posy_delta_apply(before.get(), delta.get(), &why), POSY_OK) << why.text;
    EXPECT_EQ(posy_filter_equal(before.get(), after.get()), 1);
    const auto small = made<posy_filter>(posy_filter_make, 10u, 0.01);
    EXPECT_EQ(refused<posy_delta>(posy_delta_make, small.get(), after.get()).status, POSY_MISMATCH);
}

TEST(c_kinds, counting_filters_forget) {
    const auto all = words(3000);
    const auto pieces = bytes_in(all);
    const auto keys = posy_keys_bytes(pieces.data(), pieces.size());
    const auto c = made<posy_counting>(posy_counting_make, 10'000u, 0.001);
    typed::counting<std::string> cpp(10'000, 0.001);
    ASSERT_EQ(posy_counting_insert_many(c.get(), &keys, nullptr), POSY_OK);
    cpp.insert(all);
    posy_counting_insert_text(c.get(), "one more", nullptr);
    cpp.insert("one more");
    posy_counting_insert_u64(c.get(), 7, nullptr);
    cpp.insert(std::string_view("\7\0\0\0\0\0\0\0", 8));
    EXPECT_EQ(bytes_of(posy_counting_to_bytes, c), as_string(to_bytes(cpp.untyped())));
    expect_travels(c, posy_counting_to_bytes, posy_counting_from_bytes, posy_counting_save,
                   posy_counting_load);
    EXPECT_EQ(bytes_of(posy_filter_to_bytes, made<posy_filter>(posy_counting_filter, c.get())),
              as_string(to_bytes(cpp.untyped().projection())));

    posy_filter_info info{};
    info.struct_size = sizeof info;
    unsigned counter_bits = 0;
    std::uint64_t saturated = 1;
    ASSERT_EQ(posy_counting_info_of(c.get(), &info, &counter_bits, &saturated, nullptr), POSY_OK);
    EXPECT_EQ(info.items, 3002u);
    EXPECT_EQ(counter_bits, cpp.untyped().counters().width());
    EXPECT_EQ(saturated, 0u);

    EXPECT_EQ(posy_counting_may_contain_u64(c.get(), 7), 1);
    EXPECT_EQ(posy_counting_remove_u64(c.get(), 7), 1);
    EXPECT_EQ(posy_counting_may_contain_u64(c.get(), 7), 0);
    EXPECT_EQ(posy_counting_remove_u64(c.get(), 7), 0);
    EXPECT_EQ(posy_counting_may_contain_text(c.get(), "one more"), 1);
    EXPECT_EQ(posy_counting_remove_text(c.get(), "one more"), 1);
    EXPECT_EQ(posy_counting_may_contain_text(c.get(), "one more"), 0);
    const auto answers = std::make_unique<bool[]>(all.size());
    std::size_t count = 0;
    ASSERT_EQ(posy_counting_may_contain_many(c.get(), &keys, answers.get(), &count, nullptr), POSY_OK);
    EXPECT_EQ(count, all.size());
    ASSERT_EQ(posy_counting_remove_many(c.get(), &keys, answers.get(), &count, nullptr), POSY_OK);
    EXPECT_EQ(count, all.size());
    EXPECT_TRUE(answers[17]);
    ASSERT_EQ(posy_counting_remove_many(c.get(), &keys, nullptr, &count, nullptr), POSY_OK);
    EXPECT_EQ(count, 0u);
    ASSERT_EQ(posy_counting_insert_many(c.get(), &keys, nullptr), POSY_OK);
    ASSERT_EQ(posy_counting_clear(c.get(), nullptr), POSY_OK);
    ASSERT_EQ(posy_counting_may_contain_many(c.get(), &keys, answers.get(), &count, nullptr), POSY_OK);
    EXPECT_EQ(count, 0u);
}

TEST(c_kinds, counting_filters_are_made_as_the_options_say) {
    posy_filter_options options{};
    options.struct_size = sizeof options;
    options.items = 1000;
    options.rate = 0.01;
    options.layout = POSY_LAYOUT_BLOCKED;
    unsigned counter_bits = 0;
    posy_filter_info info{};
    info.struct_size = sizeof info;
    const auto wide = made<posy_counting>(posy_counting_make_with, &options, 8u);
    ASSERT_EQ(posy_counting_info_of(wide.get(), &info, &counter_bits, nullptr, nullptr), POSY_OK);
    EXPECT_EQ(counter_bits, 8u);
    EXPECT_EQ(info.layout, std::uint32_t{POSY_LAYOUT_BLOCKED});
    EXPECT_EQ(refused<posy_counting>(posy_counting_make_with, &options, 5u).status, POSY_INVALID);
    options.rate = 0;
    options.bits = 1 << 16;
    options.hashes = 4;
    const auto array = made<posy_counting>(posy_counting_make_with, &options, 0u);
    ASSERT_EQ(posy_counting_info_of(array.get(), &info, &counter_bits, nullptr, nullptr), POSY_OK);
    EXPECT_EQ(counter_bits, 4u);
    EXPECT_EQ(info.bits, 1u << 16);
}

TEST(c_kinds, sealed_filters_are_those_of_cpp) {
    const auto all = words(5000);
    const auto pieces = bytes_in(all);
    const auto keys = posy_keys_bytes(pieces.data(), pieces.size());
    const auto c = made<posy_sealed>(posy_sealed_make, &keys, 0.001);
    const typed::sealed<std::string> cpp(all, 0.001);
    EXPECT_EQ(bytes_of(posy_sealed_to_bytes, c), as_string(to_bytes(cpp.untyped())));
    expect_travels(c, posy_sealed_to_bytes, posy_sealed_from_bytes, posy_sealed_save, posy_sealed_load);

    posy_seal_info info{};
    info.struct_size = sizeof info;
    ASSERT_EQ(posy_sealed_info_of(c.get(), &info, nullptr), POSY_OK);
    EXPECT_EQ(info.items, 5000u);
    EXPECT_EQ(info.value_bits, 0u);
    EXPECT_DOUBLE_EQ(info.false_positive_rate, cpp.false_positive_rate());
    const auto answers = std::make_unique<bool[]>(all.size());
    std::size_t yes = 0;
    ASSERT_EQ(posy_sealed_may_contain_many(c.get(), &keys, answers.get(), &yes, nullptr), POSY_OK);
    EXPECT_EQ(yes, 5000u);
    EXPECT_EQ(posy_sealed_may_contain_text(c.get(), "key4999"), 1);
    std::size_t mistaken = 0;
    for (std::uint64_t i = 0; i < 1000; ++i) mistaken += posy_sealed_may_contain_u64(c.get(), i) == 1;
    EXPECT_LT(mistaken, 20u);  // 1 is expected: 20 or more, once in 10^18

    posy_seal_options options{};
    options.struct_size = sizeof options;
    options.rate = 0.001;
    options.hash = POSY_HASH_SIPHASH;
    options.seed_low = 3;
    options.threads = 2;
    const auto secret = made<posy_sealed>(posy_sealed_make_with, &keys, &options);
    ASSERT_EQ(posy_sealed_info_of(secret.get(), &info, nullptr), POSY_OK);
    EXPECT_EQ(info.hash, std::uint32_t{POSY_HASH_SIPHASH});
    EXPECT_EQ(info.seed_low, 3u);
    options.rate = 2;
    EXPECT_EQ(refused<posy_sealed>(posy_sealed_make_with, &keys, &options).status, POSY_INVALID);
    options.threads = 5000;
    EXPECT_EQ(refused<posy_sealed>(posy_sealed_make_with, &keys, &options).status, POSY_INVALID);
    const auto none = posy_keys_u64(nullptr, 0);
    EXPECT_EQ(posy_sealed_may_contain_u64(made<posy_sealed>(posy_sealed_make, &none, 0.01).get(), 1), 0);
}

TEST(c_kinds, maps_are_those_of_cpp) {
    std::map<std::string, unsigned> pairs;
    std::vector<std::uint64_t> values;
    for (const auto& word : words(2000)) pairs[word] = static_cast<unsigned>(pairs.size() * 3);
    std::vector<std::string> all;
    for (const auto& [word, value] : pairs) {
        all.push_back(word);
        values.push_back(value);
    }
    const auto pieces = bytes_in(all);
    const auto keys = posy_keys_bytes(pieces.data(), pieces.size());
    const auto c = made<posy_map>(posy_map_make, &keys, values.data(), 0.001);
    const typed::map<std::string, unsigned> cpp(pairs, 0.001);
    EXPECT_EQ(bytes_of(posy_map_to_bytes, c), as_string(to_bytes(cpp.untyped())));
    expect_travels(c, posy_map_to_bytes, posy_map_from_bytes, posy_map_save, posy_map_load);

    std::uint64_t value = 0;
    EXPECT_EQ(posy_map_find_text(c.get(), all[5].c_str(), &value), 1);
    EXPECT_EQ(value, values[5]);
    const auto found = std::make_unique<bool[]>(all.size());
    std::vector<std::uint64_t> read(all.size());
    std::size_t yes = 0;
    ASSERT_EQ(posy_map_find_many(c.get(), &keys, found.get(), read.data(), &yes, nullptr), POSY_OK);
    EXPECT_EQ(yes, all.size());
    EXPECT_EQ(read, values);
    std::size_t mistaken = 0;
    for (std::uint64_t i = 0; i < 1000; ++i) mistaken += posy_map_find_u64(c.get(), i, &value) == 1;
    EXPECT_LT(mistaken, 20u);  // as above

    posy_seal_info info{};
    info.struct_size = sizeof info;
    ASSERT_EQ(posy_map_info_of(c.get(), &info, nullptr), POSY_OK);
    EXPECT_EQ(info.value_bits, 13u);  // 5997
    posy_seal_options options{};
    options.struct_size = sizeof options;
    options.rate = 1;  // all absent keys have a value
    const auto full = made<posy_map>(posy_map_make_with, &keys, values.data(), &options);
    EXPECT_EQ(posy_map_find_text(full.get(), "absent", &value), 1);

    const std::uint64_t twice[] = {1, 1}, two[] = {1, 2};
    const auto same = posy_keys_u64(twice, 2);
    EXPECT_EQ(refused<posy_map>(posy_map_make, &same, two, 0.01).status, POSY_INVALID);
}

TEST(c_kinds, counts_are_those_of_cpp) {
    const auto all = words(1000);
    const auto pieces = bytes_in(all);
    const auto keys = posy_keys_bytes(pieces.data(), pieces.size());
    const auto c = made<posy_counts>(posy_counts_make, 0.001, 0.01);
    typed::counts<std::string> cpp(0.001, 0.01);
    ASSERT_EQ(posy_counts_add_many(c.get(), &keys, nullptr), POSY_OK);
    cpp.add(all);
    std::uint64_t estimate = 0;
    ASSERT_EQ(posy_counts_add_text(c.get(), "key7", 9, &estimate, nullptr), POSY_OK);
    EXPECT_EQ(estimate, cpp.add("key7", 9));
    ASSERT_EQ(posy_counts_add_u64(c.get(), 7, 2, nullptr, nullptr), POSY_OK);
    cpp.add(std::string_view("\7\0\0\0\0\0\0\0", 8), 2);
    EXPECT_EQ(bytes_of(posy_counts_to_bytes, c), as_string(to_bytes(cpp.untyped())));
    expect_travels(c, posy_counts_to_bytes, posy_counts_from_bytes, posy_counts_save, posy_counts_load);

    ASSERT_EQ(posy_counts_estimate_text(c.get(), "key7", &estimate, nullptr), POSY_OK);
    EXPECT_EQ(estimate, cpp.estimate("key7"));
    ASSERT_EQ(posy_counts_estimate_u64(c.get(), 7, &estimate, nullptr), POSY_OK);
    EXPECT_GE(estimate, 2u);
    std::vector<std::uint64_t> estimates(all.size()), expected(all.size());
    ASSERT_EQ(posy_counts_estimate_many(c.get(), &keys, estimates.data(), nullptr), POSY_OK);
    cpp.estimate(all, expected);
    EXPECT_EQ(estimates, expected);

    posy_counts_info info{};
    info.struct_size = sizeof info;
    const auto copy = made<posy_counts>(posy_counts_clone, c.get());
    ASSERT_EQ(posy_counts_unite(copy.get(), c.get(), nullptr), POSY_OK);
    ASSERT_EQ(posy_counts_info_of(copy.get(), &info, nullptr), POSY_OK);
    EXPECT_EQ(info.total, 2 * 1011u);
    EXPECT_EQ(info.counter_bits, 64u);
    EXPECT_EQ(info.rule, std::uint32_t{POSY_RULE_CONSERVATIVE});
    EXPECT_DOUBLE_EQ(info.error_bound, info.epsilon * static_cast<double>(info.total));
    ASSERT_EQ(posy_counts_clear(copy.get(), nullptr), POSY_OK);
    ASSERT_EQ(posy_counts_info_of(copy.get(), &info, nullptr), POSY_OK);
    EXPECT_EQ(info.total, 0u);
}

TEST(c_kinds, counts_are_made_as_the_options_say) {
    posy_counts_options options{};
    options.struct_size = sizeof options;
    options.width = 100;
    options.depth = 3;
    options.rule = POSY_RULE_PLAIN;
    options.counter_bits = 32;
    posy_counts_info info{};
    info.struct_size = sizeof info;
    const auto table = made<posy_counts>(posy_counts_make_with, &options);
    ASSERT_EQ(posy_counts_info_of(table.get(), &info, nullptr), POSY_OK);
    EXPECT_EQ(info.width, 100u);
    EXPECT_EQ(info.depth, 3u);
    EXPECT_EQ(info.counter_bits, 32u);
    const auto other = made<posy_counts>(posy_counts_make, 0.01, 0.01);
    EXPECT_EQ(posy_counts_unite(other.get(), table.get(), nullptr), POSY_MISMATCH);
    options.bytes = 1000;
    EXPECT_EQ(refused<posy_counts>(posy_counts_make_with, &options).status, POSY_INVALID) << "two of three";
    options.width = 0;
    options.depth = 0;
    const auto small = made<posy_counts>(posy_counts_make_with, &options);
    ASSERT_EQ(posy_counts_info_of(small.get(), &info, nullptr), POSY_OK);
    EXPECT_LE(info.memory_bytes, 1000u);
    EXPECT_EQ(info.depth, 4u);
    options.counter_bits = 16;
    EXPECT_EQ(refused<posy_counts>(posy_counts_make_with, &options).status, POSY_INVALID);
    EXPECT_EQ(refused<posy_counts>(posy_counts_make, 0.0, 0.01).status, POSY_INVALID);
}

TEST(c_kinds, heavy_hitters_are_listed) {
    const auto table = made<posy_counts>(posy_counts_make, 0.001, 0.01);
    const auto hitters = made<posy_hitters>(posy_hitters_top, table.get(), 10u);
    std::vector<std::uint64_t> numbers;
    for (std::uint64_t i = 0; i < 20; ++i) numbers.insert(numbers.end(), 10 * (20 - i), i);
    const auto keys = posy_keys_u64(numbers.data(), numbers.size());
    ASSERT_EQ(posy_hitters_add_many(hitters.get(), &keys, nullptr), POSY_OK);
    ASSERT_EQ(posy_hitters_add_text(hitters.get(), "text", 1000, nullptr), POSY_OK);
    expect_travels(hitters, posy_hitters_to_bytes, posy_hitters_from_bytes, posy_hitters_save,
                   posy_hitters_load);

    posy_hitter* list = nullptr;
    std::size_t count = 0;
    std::uint64_t complete_from = 0;
    ASSERT_EQ(posy_hitters_list(hitters.get(), 3, &list, &count, &complete_from, nullptr), POSY_OK);
    ASSERT_EQ(count, 3u);
    EXPECT_EQ(std::string_view(static_cast<const char*>(list[0].key), list[0].size), "text");
    EXPECT_EQ(list[0].count, 1000u);
    ASSERT_EQ(list[2].size, 8u);
    EXPECT_EQ(load_little<std::uint64_t>(static_cast<const std::byte*>(list[2].key)), 1u);
    EXPECT_EQ(list[2].count, 190u);
    posy_free(list);

    const auto heavy = made<posy_hitters>(posy_hitters_above, table.get(), 0.2);
    ASSERT_EQ(posy_hitters_add_many(heavy.get(), &keys, nullptr), POSY_OK);
    ASSERT_EQ(posy_hitters_list(heavy.get(), 0, &list, &count, nullptr, nullptr), POSY_OK);
    EXPECT_EQ(count, 0u);  // the first has 200 of 2100
    posy_free(list);
    EXPECT_EQ(posy_hitters_unite(heavy.get(), hitters.get(), nullptr), POSY_MISMATCH);
    const auto again = made<posy_hitters>(posy_hitters_top, table.get(), 10u);
    ASSERT_EQ(posy_hitters_unite(again.get(), hitters.get(), nullptr), POSY_OK);
    ASSERT_EQ(posy_hitters_list(again.get(), 0, &list, &count, nullptr, nullptr), POSY_OK);
    EXPECT_EQ(count, 10u);
    posy_free(list);

    EXPECT_EQ(refused<posy_hitters>(posy_hitters_above, table.get(), 0.0001).status, POSY_INVALID)
        << "below epsilon";
    EXPECT_EQ(refused<posy_hitters>(posy_hitters_top, table.get(), 0u).status, POSY_INVALID);
    posy_counts_add_u64(table.get(), 1, 1, nullptr, nullptr);
    EXPECT_EQ(refused<posy_hitters>(posy_hitters_top, table.get(), 10u).status, POSY_INVALID) << "not empty";
}

}  // namespace
}  // namespace posy::testing
