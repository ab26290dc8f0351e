// posy::filter<Key> is a bloom_filter of the keys' digests, bit for bit, whatever way the keys come.
#include "posy/filter.hpp"

#include <sstream>
#include <thread>

#include "checked.hpp"
#include "posy/secret_hash.hpp"
#include "typed/files.hpp"
#include "typed/keys.hpp"

namespace posy {
namespace {

checked<bloom_filter> twin_of(const bloom_filter& bits) {
    return checked<bloom_filter>(*bloom_filter::make(bits.geometry()));
}

template <class Filter>
void expect_same_answers(const Filter& filter, const checked<bloom_filter>& twin,
                         const std::vector<typename Filter::key_type>& keys) {
    const auto digests = digests_of_all(filter.untyped().hash(), keys);
    answers_for answers(keys.size());
    const std::size_t yes = filter.may_contain(keys, answers.span);
    EXPECT_EQ(yes, static_cast<std::size_t>(std::ranges::count(answers.span, true)));
    for (std::size_t i = 0; i < keys.size(); ++i) {
        ASSERT_EQ(filter.may_contain(keys[i]), twin.may_contain(digests[i])) << i;
        ASSERT_EQ(answers.span[i], filter.may_contain(keys[i])) << i;
    }
}

// Some keys one by one, some in batches of every size.
template <class Filter>
void expect_equal_to_untyped(Filter filter) {
    using key = typename Filter::key_type;
    auto twin = twin_of(filter);
    const auto all = keys_of<key>(0, 4500);
    const auto digests = digests_of_all(filter.untyped().hash(), all);
    for (std::size_t i = 0; i < 200; ++i) {
        filter.insert(all[i]);
        twin.insert(digests[i]);
    }
    for (std::size_t first = 200, size = 0; first < all.size(); first += size, size = 3 * size + 1) {
        size = std::min(size, all.size() - first);
        filter.insert(std::span(all).subspan(first, size));
        twin.insert(std::span<const digest>(digests).subspan(first, size));
    }
    EXPECT_EQ(filter.untyped(), *twin);
    EXPECT_EQ(filter.items(), all.size());
    expect_same_answers(filter, twin, keys_of<key>(4000, 6000));
}

template <class Key>
class typed_filter : public testing::Test {};
TYPED_TEST_SUITE(typed_filter, kinds_of_keys);

TYPED_TEST(typed_filter, is_the_untyped_one) {
    expect_equal_to_untyped(filter<TypeParam>(5000, 0.01));
    expect_equal_to_untyped(filter<TypeParam>(5000, 0.01, hasher(hash_family::fold64, {7})));
    expect_equal_to_untyped(filter<TypeParam>(5000, 0.01, hash::secret_hasher()));
}

TYPED_TEST(typed_filter, has_no_false_negatives_and_few_false_positives) {
    filter<TypeParam> some(2000, 0.01);
    some.insert(keys_of<TypeParam>(0, 2000));
    for (const auto& key : keys_of<TypeParam>(0, 2000)) ASSERT_TRUE(some.may_contain(key));
    answers_for answers(10'000);
    // 100 are expected; eleven standard deviations more never come by chance.
    EXPECT_LT(some.may_contain(keys_of<TypeParam>(2000, 12'000), answers.span), 210u);
}

// Hashes for which a call is inlined, and others; a number that is fixed, or not.
template <layout_id Layout, unsigned... Hashes>
void expect_all_shapes() {
    for (const double rate : {0.3, 0.01, 0.0005}) {
        expect_equal_to_untyped(filter<std::uint64_t, Layout>(5000, rate));
        expect_equal_to_untyped(filter<std::string, Layout>(5000, rate));
        expect_equal_to_untyped(filter<std::uint64_t, Layout>(5000, rate, hash::secret_hasher()));
    }
    (expect_equal_to_untyped(filter<std::uint64_t, Layout, Hashes>(5000, 0.1)), ...);
    for (const unsigned hashes : {Hashes...}) {
        const geometry g{round_up_bits(60'000, hashes, Layout), hashes, Layout, hash_family::fold64};
        expect_equal_to_untyped(*filter<int, Layout>::make(*bloom_filter::make(g)));
    }
}
TEST(typed_filters, have_every_layout_and_number_of_hashes) {
    expect_all_shapes<layout_id::spread, 1, 2, 3, 7, 8, 12>();
    expect_all_shapes<layout_id::sliced, 1, 2, 3, 7, 8, 12>();
    expect_all_shapes<layout_id::blocked, 1, 2, 7, 8, 9, 15, 16>();
    expect_all_shapes<layout_id::paired, 2, 4, 8, 14, 16>();
    expect_all_shapes<layout_id::narrow, 1, 2, 7, 8, 9, 15, 16>();
}

TEST(typed_filters, take_any_range) {
    const auto all = keys_of<std::string>(0, 5000);
    filter<std::string> expected(5000, 0.01);
    expected.insert(all);

    filter<std::string> prvalues(5000, 0.01), views(5000, 0.01), words(5000, 0.01), pointers(5000, 0.01);
    prvalues.insert(std::views::iota(0, 5000) | std::views::transform([](int i) {
                        return key_number<std::string>(static_cast<std::uint64_t>(i));
                    }));
    views.insert(std::vector<std::string_view>(all.begin(), all.end()));
    pointers.insert(keys_of<const char*>(0, 5000));
    EXPECT_EQ(prvalues, expected);
    EXPECT_EQ(views, expected);
    EXPECT_EQ(pointers, expected);

    // A stream gives every word in the same string.
    std::istringstream stream("many different words, one after the other");
    words.insert(std::ranges::istream_view<std::string>(stream));
    for (const char* word : {"many", "different", "words,", "one", "after", "the", "other"})
        EXPECT_TRUE(words.may_contain(word)) << word;
    EXPECT_EQ(words.items(), 7u);

    filter<int> none(10, 0.01);
    none.insert(std::vector<int>());
    EXPECT_EQ(none.items(), 0u);
    EXPECT_EQ(none.untyped().ones(), 0u);
}

TEST(typed_filters, are_inserted_into_by_many_threads) {
    filter<std::uint64_t> shared(20'000, 0.01), expected(20'000, 0.01);
    expected.insert(keys_of<std::uint64_t>(0, 20'000));
    std::vector<std::thread> threads;
    for (std::uint64_t t = 0; t < 4; ++t) {
        threads.emplace_back([&shared, t] {
            const auto mine = keys_of<std::uint64_t>(5000 * t, 5000 * t + 5000);
            for (std::size_t i = 0; i < 500; ++i) shared.insert_concurrently(mine[i]);
            shared.insert_concurrently(std::span(mine).subspan(500));
        });
    }
    for (std::thread& each : threads) each.join();
    EXPECT_EQ(shared, expected);
    EXPECT_EQ(shared.items(), 20'000u);
}

TEST(typed_filters, can_be_used_after_a_move) {
    filter<int> first(1000, 0.01);
    const geometry shape = first.untyped().geometry();
    first.insert(1);
    filter<int> second(std::move(first));
    EXPECT_TRUE(second.may_contain(1));
    EXPECT_FALSE(first.may_contain(1));
    EXPECT_EQ(first.items(), 0u);
    EXPECT_EQ(first.untyped().geometry(), shape);
    EXPECT_EQ(first.untyped().provenance().planned, second.untyped().provenance().planned);
    first.insert(2);
    EXPECT_TRUE(first.may_contain(2));

    second = std::move(first);
    EXPECT_TRUE(second.may_contain(2));
    first.insert(keys_of<int>(0, 10));
    EXPECT_EQ(first.items(), 10u);
    auto& same = second;
    second = std::move(same);
    EXPECT_TRUE(second.may_contain(2));
    const filter<int> third(std::move(second)), copy(second);
    EXPECT_EQ(copy.items(), 0u);
}

TEST(typed_filters, are_copied_with_their_bits) {
    filter<int> first(1000, 0.01);
    first.insert(1);
    filter<int> copy(first), assigned(10, 0.1);
    assigned = first;
    EXPECT_EQ(copy, first);
    EXPECT_EQ(assigned, first);
    EXPECT_EQ(copy.items(), 1u);
    copy.insert(2);
    EXPECT_NE(copy, first);
    first.clear();
    EXPECT_TRUE(assigned.may_contain(1));
    EXPECT_FALSE(first.may_contain(1));
}

TEST(typed_filters, view_the_bits_of_another) {
    auto bits = *bloom_filter::make(filter<int>(1000, 0.01).untyped().geometry());
    {
        auto view = *filter<int>::view(bits);
        view.insert(1);
        view.insert(keys_of<int>(0, 100));
        filter<int> copy(view);
        copy.insert(2);
    }
    EXPECT_EQ(bits.items(), 101u);
    EXPECT_TRUE(bits.may_contain(bits.hash()(1)));
    EXPECT_FALSE(bits.may_contain(bits.hash()(2)));
    EXPECT_FALSE((filter<int, layout_id::spread>::view(bits)));
}

TEST(typed_filters, refuse_other_shapes) {
    using spread = filter<int, layout_id::spread>;
    expect_files(filter<int>(1000, 0.01), *sealed_filter::make(hasher(), {}));
    const scratch_directory scratch;
    spread(1000, 0.01).save(scratch / "file");
    const auto other = filter<int>::load(scratch / "file");
    ASSERT_FALSE(other);
    EXPECT_EQ(other.error().kind, error_kind::mismatch);
    expect_mentions(other.error().text(),
                    {(scratch / "file").string(), "posy::filter<Key, posy::layout_id::spread>"});
    EXPECT_TRUE(spread::load(scratch / "file"));
    EXPECT_FALSE((filter<int, layout_id::spread, 3>::load(scratch / "file")));
}

TEST(typed_filters, say_what_is_impossible) {
    for (const double rate : {0.0, -1.0, 2.0}) {
        EXPECT_THROW(filter<int>(1000, rate), exception) << rate;
        EXPECT_FALSE(filter<int>::make(1000, rate)) << rate;
    }
    EXPECT_THROW(filter<int>(0, 0.01), exception);
    EXPECT_THROW(filter<int>(~std::uint64_t{0}, 0.01), exception);
    EXPECT_THROW(filter<int>(10, 0.01, hasher(hash_family::xxh3, {0, 1})), exception);
}

TEST(typed_filters, have_the_fastest_hash_that_is_good_enough) {
    EXPECT_EQ((filter<int>(1000, 0.01)).untyped().hash().family(), hash_family::fold64);
    EXPECT_EQ((filter<int, layout_id::spread>(1'000'000, 1e-12)).untyped().hash().family(),
              hash_family::xxh3);
    EXPECT_EQ((filter<int>(1000, 0.01, hash::secret_hasher())).untyped().hash(), hash::secret_hasher());
}

// A range of another type than the filter's keys holds what its elements are as keys.
TEST(typed_filters, convert_the_keys_of_a_range) {
    filter<int> numbers(1000, 1e-6);
    const std::vector<std::uint64_t> wide{0xffffffff, 7};
    numbers.insert(wide);
    for (const std::uint64_t key : wide) EXPECT_TRUE(numbers.may_contain(static_cast<int>(key))) << key;
    std::array<bool, 2> answers{};
    EXPECT_EQ(numbers.may_contain(wide, answers), 2u);
}

TEST(typed_filters, take_several_keys_in_braces) {
    filter<std::string> words(1000, 1e-6);
    words.insert({"alpha", "beta"});
    EXPECT_TRUE(words.may_contain("alpha") && words.may_contain("beta"));
    EXPECT_EQ(words.items(), 2u);
    filter<int> numbers(1000, 1e-6);
    numbers.insert({1, 2, 3});
    EXPECT_TRUE(numbers.may_contain(1) && numbers.may_contain(3) && !numbers.may_contain(4));
}

template <class Filter, class From>
concept takes = requires(Filter f, From key) {
    f.insert(key);
    f.may_contain(key);
};
static_assert(takes<filter<int>, short> && takes<filter<std::string>, const char*>);
static_assert(!takes<filter<int>, double> && !takes<filter<int>, std::string> &&
              !takes<filter<int>, const char*>);
static_assert(!range_of_keys<std::vector<double>, int> && !range_of_keys<std::string, int>);

TEST(typed_filters, unite_and_intersect) {
    filter<int> a(1000, 1e-6), b(1000, 1e-6);
    a.insert({1, 2});
    b.insert({2, 3});
    filter<int> both = a;
    ASSERT_TRUE(unite(a, b));
    EXPECT_TRUE(a.may_contain(1) && a.may_contain(2) && a.may_contain(3));
    ASSERT_TRUE(intersect(both, b));
    EXPECT_TRUE(both.may_contain(2) && !both.may_contain(1) && !both.items());
    EXPECT_FALSE(unite(a, filter<int>(2000, 1e-6)));
}

TEST(typed_filters, want_an_answer_for_each_key) {
    filter<std::uint64_t> numbers(1000, 1e-6);
    const std::vector<std::uint64_t> keys(5000, 7);
    std::array<bool, 4999> answers{};
    EXPECT_THROW(numbers.may_contain(keys, answers), exception);
}

}  // namespace
}  // namespace posy
