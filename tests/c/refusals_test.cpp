// What cannot be is refused: NULL in every place, keys that lie nowhere, and memory that is not there.
#include <cmath>
#include <cstdlib>
#include <functional>
#include <new>

#include "owned.hpp"

namespace {
// Allocations until the next one fails; below 0, none does. Only what the library takes with operator new
// counts.
thread_local long allocations_left = -1;

void* take(std::size_t size) {
    if (allocations_left == 0) return nullptr;
    if (allocations_left > 0) --allocations_left;
    return std::malloc(size == 0 ? 1 : size);
}
}  // namespace

void* operator new(std::size_t size) {
    if (void* memory = take(size)) return memory;
    throw std::bad_alloc();
}
void* operator new(std::size_t size, const std::nothrow_t&) noexcept { return take(size); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete(void* memory, const std::nothrow_t&) noexcept { std::free(memory); }

namespace posy::testing {
namespace {

// One handle of each type.
struct one_of_each {
    posy_keys keys = posy_keys_u64(numbers, 2);
    owned<posy_filter> filter = made<posy_filter>(posy_filter_make, 100u, 0.01);
    owned<posy_delta> delta = made<posy_delta>(posy_delta_make, filter.get(), filter.get());
    owned<posy_counting> counting = made<posy_counting>(posy_counting_make, 100u, 0.01);
    owned<posy_sealed> sealed = made<posy_sealed>(posy_sealed_make, &keys, 0.01);
    owned<posy_map> map = made<posy_map>(posy_map_make, &keys, numbers, 0.01);
    owned<posy_counts> counts = made<posy_counts>(posy_counts_make, 0.01, 0.01);
    owned<posy_hitters> hitters = made<posy_hitters>(posy_hitters_top, counts.get(), 10u);
    owned<posy_foreign> foreign =
        made<posy_foreign>(posy_foreign_make, int{POSY_GUAVA_64}, 100u, 0.01, nullptr);

    static constexpr std::uint64_t numbers[2] = {3, 4};
};

// Calls the function with a NULL in the place of each pointer, one after the other, and says whether all were
// refused. What a NULL is allowed for is not handed in: it is bound beforehand. The last argument is the
// error.
template <class... Arguments, class... Given>
void expect_null_refused(const char* name, posy_status (*function)(Arguments...), Given... arguments) {
    const std::tuple<Arguments...> all(arguments..., static_cast<posy_error*>(nullptr));
    const auto without = [&]<std::size_t Place>(std::integral_constant<std::size_t, Place>) {
        using type = std::tuple_element_t<Place, std::tuple<Arguments...>>;
        if constexpr (std::is_pointer_v<type> && Place + 1 < sizeof...(Arguments)) {
            auto some = all;
            if (std::get<Place>(some) == nullptr) return;  // it may be
            std::get<Place>(some) = nullptr;
            posy_error why;
            std::get<sizeof...(Arguments) - 1>(some) = &why;
            EXPECT_EQ(std::apply(function, some), POSY_INVALID) << name << ", argument " << Place;
            EXPECT_NE(std::string(why.text).find("NULL"), std::string::npos) << name << ": " << why.text;
            std::get<sizeof...(Arguments) - 1>(some) = nullptr;  // and the error may be NULL, too
            EXPECT_EQ(std::apply(function, some), POSY_INVALID) << name << ", argument " << Place;
        }
    };
    [&]<std::size_t... Places>(std::index_sequence<Places...>) {
        (without(std::integral_constant<std::size_t, Places>()), ...);
    }
    (std::make_index_sequence<sizeof...(Arguments)>());
}
#define EXPECT_NULL_REFUSED(function, ...) expect_null_refused(#function, function, __VA_ARGS__)

template <class Handle, class ToBytes, class FromBytes, class Save, class Load>
void expect_null_refused_by_messages(Handle* handle, ToBytes to, FromBytes from, Save save, Load load) {
    void* bytes = nullptr;
    std::size_t size = 0;
    Handle* made = nullptr;
    EXPECT_NULL_REFUSED(to, handle, POSY_RAW, &bytes, &size);
    EXPECT_EQ(bytes, nullptr);
    EXPECT_NULL_REFUSED(from, "x", 1u, 0u, &made);
    EXPECT_NULL_REFUSED(save, handle, "/proc/nowhere/at/all", POSY_RAW);
    EXPECT_NULL_REFUSED(load, "/proc/nowhere/at/all", 0u, &made);
}

TEST(c_refusals, null_handles_and_files) {
    const one_of_each h;
    expect_null_refused_by_messages(h.filter.get(), posy_filter_to_bytes, posy_filter_from_bytes,
                                    posy_filter_save, posy_filter_load);
    expect_null_refused_by_messages(h.delta.get(), posy_delta_to_bytes, posy_delta_from_bytes,
                                    posy_delta_save, posy_delta_load);
    expect_null_refused_by_messages(h.counting.get(), posy_counting_to_bytes, posy_counting_from_bytes,
                                    posy_counting_save, posy_counting_load);
    expect_null_refused_by_messages(h.sealed.get(), posy_sealed_to_bytes, posy_sealed_from_bytes,
                                    posy_sealed_save, posy_sealed_load);
    expect_null_refused_by_messages(h.map.get(), posy_map_to_bytes, posy_map_from_bytes, posy_map_save,
                                    posy_map_load);
    expect_null_refused_by_messages(h.counts.get(), posy_counts_to_bytes, posy_counts_from_bytes,
                                    posy_counts_save, posy_counts_load);
    expect_null_refused_by_messages(h.hitters.get(), posy_hitters_to_bytes, posy_hitters_from_bytes,
                                    posy_hitters_save, posy_hitters_load);
    expect_null_refused_by_messages(
        h.foreign.get(), posy_foreign_to_bytes,
        +[](const void* b, size_t n, uint64_t, posy_foreign** f, posy_error* e) {
            return posy_foreign_from_bytes(b, n, 0, nullptr, f, e);
        },
        posy_foreign_save,
        +[](const char* p, uint64_t, posy_foreign** f, posy_error* e) {
            return posy_foreign_load(p, 0, nullptr, f, e);
        });
    // To give nothing back is nothing.
    posy_free(nullptr);
    posy_filter_free(nullptr);
    posy_delta_free(nullptr);
    posy_counting_free(nullptr);
    posy_sealed_free(nullptr);
    posy_map_free(nullptr);
    posy_counts_free(nullptr);
    posy_hitters_free(nullptr);
    posy_foreign_free(nullptr);
}

TEST(c_refusals, null_in_filters) {
    const one_of_each h;
    auto* const filter = h.filter.get();
    posy_filter* out = nullptr;
    posy_delta* delta = nullptr;
    bool answers[2];
    posy_estimate items;
    posy_filter_options options{};
    options.struct_size = sizeof options;
    posy_filter_info info{};
    info.struct_size = sizeof info;
    posy_comparison compared{};
    compared.struct_size = sizeof compared;
    posy_wishes wishes{};
    wishes.struct_size = sizeof wishes;
    wishes.items = 10;
    posy_plan plan{};
    plan.struct_size = sizeof plan;
    EXPECT_NULL_REFUSED(posy_plan_choose, &wishes, &plan);
    EXPECT_NULL_REFUSED(posy_filter_make, 100u, 0.01, &out);
    EXPECT_NULL_REFUSED(posy_filter_make_with, &options, &out);
    EXPECT_NULL_REFUSED(posy_filter_clone, filter, &out);
    EXPECT_NULL_REFUSED(posy_filter_insert, filter, "k", 1u);
    EXPECT_NULL_REFUSED(posy_filter_insert_u64, filter, 1u);
    EXPECT_NULL_REFUSED(posy_filter_insert_many, filter, &h.keys, 1u);
    EXPECT_NULL_REFUSED(posy_filter_insert_concurrently, filter, "k", 1u);
    EXPECT_NULL_REFUSED(posy_filter_insert_concurrently_u64, filter, 1u);
    EXPECT_NULL_REFUSED(posy_filter_insert_concurrently_many, filter, &h.keys);
    EXPECT_NULL_REFUSED(posy_filter_may_contain_many, filter, &h.keys, 1u, answers, nullptr);
    EXPECT_NULL_REFUSED(posy_filter_clear, filter);
    EXPECT_NULL_REFUSED(posy_filter_unite, filter, filter);
    EXPECT_NULL_REFUSED(posy_filter_intersect, filter, filter);
    EXPECT_NULL_REFUSED(posy_filter_fold, filter, 2u, &out);
    EXPECT_NULL_REFUSED(posy_filter_estimate_items, filter, 0.95, &items);
    EXPECT_NULL_REFUSED(posy_filter_compare, filter, filter, 0.95, &compared);
    EXPECT_NULL_REFUSED(posy_filter_info_of, filter, &info);
    EXPECT_NULL_REFUSED(posy_delta_make, filter, filter, &delta);
    EXPECT_NULL_REFUSED(posy_delta_apply, filter, h.delta.get());
    EXPECT_EQ(out, nullptr);
    EXPECT_EQ(posy_filter_insert_text(filter, nullptr, nullptr), POSY_INVALID);
    EXPECT_EQ(posy_filter_may_contain(nullptr, "k", 1), -1);
    EXPECT_EQ(posy_filter_may_contain(filter, nullptr, 1), -1);
    EXPECT_EQ(posy_filter_may_contain_text(filter, nullptr), -1);
    EXPECT_EQ(posy_filter_may_contain_u64(nullptr, 1), -1);
    EXPECT_EQ(posy_filter_same_geometry(filter, nullptr), -1);
    EXPECT_EQ(posy_filter_equal(nullptr, filter), -1);
    EXPECT_EQ(posy_filter_false_positive_rate(nullptr), -1);
    for (const double level : {0.0, 1.0, -1.0, std::nan("")})
        EXPECT_EQ(posy_filter_estimate_items(filter, level, &items, nullptr), POSY_INVALID);
    EXPECT_EQ(posy_filter_insert_many(filter, &h.keys, 1025, nullptr), POSY_INVALID);
    info.struct_size = sizeof info;
    ASSERT_EQ(posy_filter_info_of(filter, &info, nullptr), POSY_OK);
    EXPECT_EQ(info.ones, 0u) << "a refused call has changed the filter";
}

TEST(c_refusals, null_in_counting_filters) {
    const one_of_each h;
    posy_filter_options options{};
    options.struct_size = sizeof options;
    posy_filter_info info{};
    info.struct_size = sizeof info;
    bool answers[2];
    posy_filter* filter = nullptr;
    posy_counting* counting = nullptr;
    EXPECT_NULL_REFUSED(posy_counting_make, 100u, 0.01, &counting);
    EXPECT_NULL_REFUSED(posy_counting_make_with, &options, 4u, &counting);
    EXPECT_NULL_REFUSED(posy_counting_insert, h.counting.get(), "k", 1u);
    EXPECT_NULL_REFUSED(posy_counting_insert_u64, h.counting.get(), 1u);
    EXPECT_NULL_REFUSED(posy_counting_insert_many, h.counting.get(), &h.keys);
    EXPECT_NULL_REFUSED(posy_counting_remove_many, h.counting.get(), &h.keys, nullptr, nullptr);
    EXPECT_NULL_REFUSED(posy_counting_may_contain_many, h.counting.get(), &h.keys, answers, nullptr);
    EXPECT_NULL_REFUSED(posy_counting_clear, h.counting.get());
    EXPECT_NULL_REFUSED(posy_counting_filter, h.counting.get(), &filter);
    EXPECT_NULL_REFUSED(posy_counting_info_of, h.counting.get(), &info, nullptr, nullptr);
    EXPECT_EQ(posy_counting_remove(nullptr, "k", 1), -1);
    EXPECT_EQ(posy_counting_remove(h.counting.get(), nullptr, 1), -1);
    EXPECT_EQ(posy_counting_remove_u64(nullptr, 1), -1);
    EXPECT_EQ(posy_counting_may_contain(h.counting.get(), nullptr, 1), -1);
    EXPECT_EQ(posy_counting_may_contain_u64(nullptr, 1), -1);
}

TEST(c_refusals, null_in_sealed_filters_and_maps) {
    const one_of_each h;
    posy_seal_options seal{};
    seal.struct_size = sizeof seal;
    seal.rate = 0.01;
    posy_seal_info sealed_info{};
    sealed_info.struct_size = sizeof sealed_info;
    bool answers[2];
    std::uint64_t values[2] = {1, 2};
    posy_sealed* sealed = nullptr;
    posy_map* map = nullptr;
    EXPECT_NULL_REFUSED(posy_sealed_make, &h.keys, 0.01, &sealed);
    EXPECT_NULL_REFUSED(posy_sealed_make_with, &h.keys, &seal, &sealed);
    EXPECT_NULL_REFUSED(posy_sealed_may_contain_many, h.sealed.get(), &h.keys, answers, nullptr);
    EXPECT_NULL_REFUSED(posy_sealed_info_of, h.sealed.get(), &sealed_info);
    EXPECT_NULL_REFUSED(posy_map_make, &h.keys, values, 0.01, &map);
    EXPECT_NULL_REFUSED(posy_map_make_with, &h.keys, values, &seal, &map);
    EXPECT_NULL_REFUSED(posy_map_find_many, h.map.get(), &h.keys, answers, values, nullptr);
    EXPECT_NULL_REFUSED(posy_map_info_of, h.map.get(), &sealed_info);
    EXPECT_EQ(posy_sealed_may_contain(h.sealed.get(), nullptr, 1), -1);
    EXPECT_EQ(posy_sealed_may_contain_u64(nullptr, 1), -1);
    EXPECT_EQ(posy_map_find(h.map.get(), "k", 1, nullptr), -1);
    EXPECT_EQ(posy_map_find(h.map.get(), nullptr, 1, values), -1);
    EXPECT_EQ(posy_map_find_u64(nullptr, 1, values), -1);
}

TEST(c_refusals, null_in_counts_and_foreign_filters) {
    const one_of_each h;
    posy_counts_options counts_options{};
    counts_options.struct_size = sizeof counts_options;
    posy_counts_info counts_info{};
    counts_info.struct_size = sizeof counts_info;
    posy_foreign_info foreign_info{};
    foreign_info.struct_size = sizeof foreign_info;
    bool answers[2];
    std::uint64_t values[2] = {1, 2};
    std::size_t count = 0;
    posy_hitter* list = nullptr;
    posy_counts* counts = nullptr;
    posy_hitters* hitters = nullptr;
    posy_foreign* foreign = nullptr;
    EXPECT_NULL_REFUSED(posy_counts_make, 0.01, 0.01, &counts);
    EXPECT_NULL_REFUSED(posy_counts_make_with, &counts_options, &counts);
    EXPECT_NULL_REFUSED(posy_counts_clone, h.counts.get(), &counts);
    EXPECT_NULL_REFUSED(posy_counts_add, h.counts.get(), "k", 1u, 1u, nullptr);
    EXPECT_NULL_REFUSED(posy_counts_add_u64, h.counts.get(), 1u, 1u, nullptr);
    EXPECT_NULL_REFUSED(posy_counts_add_many, h.counts.get(), &h.keys);
    EXPECT_NULL_REFUSED(posy_counts_estimate, h.counts.get(), "k", 1u, values);
    EXPECT_NULL_REFUSED(posy_counts_estimate_u64, h.counts.get(), 1u, values);
    EXPECT_NULL_REFUSED(posy_counts_estimate_many, h.counts.get(), &h.keys, values);
    EXPECT_NULL_REFUSED(posy_counts_unite, h.counts.get(), h.counts.get());
    EXPECT_NULL_REFUSED(posy_counts_clear, h.counts.get());
    EXPECT_NULL_REFUSED(posy_counts_info_of, h.counts.get(), &counts_info);
    EXPECT_NULL_REFUSED(posy_hitters_above, h.counts.get(), 0.1, &hitters);
    EXPECT_NULL_REFUSED(posy_hitters_top, h.counts.get(), 10u, &hitters);
    EXPECT_NULL_REFUSED(posy_hitters_add, h.hitters.get(), "k", 1u, 1u);
    EXPECT_NULL_REFUSED(posy_hitters_add_many, h.hitters.get(), &h.keys);
    EXPECT_NULL_REFUSED(posy_hitters_unite, h.hitters.get(), h.hitters.get());
    EXPECT_NULL_REFUSED(posy_hitters_list, h.hitters.get(), 1u, &list, &count, nullptr);
    EXPECT_NULL_REFUSED(posy_foreign_make, POSY_GUAVA_64, 100u, 0.01, nullptr, &foreign);
    EXPECT_NULL_REFUSED(posy_foreign_load_parquet, "/proc/nowhere", "s", &foreign);
    EXPECT_NULL_REFUSED(posy_foreign_insert, h.foreign.get(), "k", 1u);
    EXPECT_NULL_REFUSED(posy_foreign_insert_u64, h.foreign.get(), 1u);
    EXPECT_NULL_REFUSED(posy_foreign_insert_many, h.foreign.get(), &h.keys);
    EXPECT_NULL_REFUSED(posy_foreign_may_contain_many, h.foreign.get(), &h.keys, answers, nullptr);
    EXPECT_NULL_REFUSED(posy_foreign_unite, h.foreign.get(), h.foreign.get());
    EXPECT_NULL_REFUSED(posy_foreign_info_of, h.foreign.get(), &foreign_info);
    EXPECT_EQ(posy_foreign_may_contain(h.foreign.get(), nullptr, 1), -1);
    EXPECT_EQ(posy_foreign_may_contain_u64(nullptr, 1), -1);
}

TEST(c_refusals, keys_that_cannot_be) {
    const one_of_each h;
    const auto refuse = [&](const posy_keys& keys, const char* why) {
        posy_error error;
        EXPECT_EQ(posy_filter_insert_many(h.filter.get(), &keys, 1, &error), POSY_INVALID) << why;
        EXPECT_NE(std::string(error.text).find(why), std::string::npos) << error.text;
    };
    refuse(posy_keys_u64(nullptr, 1), "NULL");
    alignas(8) const char unaligned[24] = {};
    refuse({POSY_KEYS_U64, 0, 1, unaligned + 1, 0, nullptr}, "aligned");
    refuse(posy_keys_u64(h.numbers, SIZE_MAX / 2), "more keys");
    refuse({0, 0, 1, h.numbers, 0, nullptr}, "POSY_KEYS_");
    refuse({POSY_KEYS_U64, 1, 1, h.numbers, 0, nullptr}, "later versions");
    refuse({7, 0, 1, h.numbers, 0, nullptr}, "POSY_KEYS_");
    const char* const texts[] = {"a", nullptr};
    refuse(posy_keys_texts(texts, 2), "key 1 is NULL");
    const posy_bytes pieces[] = {{"a", 1}, {nullptr, 0}, {nullptr, 3}};
    refuse(posy_keys_bytes(pieces, 3), "key 2 is NULL");
    const std::int32_t negative[] = {-1, 2}, falling[] = {0, 3, 2}, beyond[] = {0, 3, 9};
    refuse(posy_keys_offsets32(negative, "abc", 3, 1), "negative");
    refuse(posy_keys_offsets32(falling, "abc", 3, 2), "key 1 ends before it starts");
    refuse(posy_keys_offsets32(beyond, "abc", 3, 2), "key 1 ends behind the data");
    refuse(posy_keys_offsets32(nullptr, "abc", 3, 2), "NULL");
    const std::int64_t wide[] = {0, 3};
    refuse(posy_keys_offsets64(wide, nullptr, 3, 1), "NULL");
    posy_filter_info info{};
    info.struct_size = sizeof info;
    ASSERT_EQ(posy_filter_info_of(h.filter.get(), &info, nullptr), POSY_OK);
    EXPECT_EQ(info.ones, 0u) << "keys before the fault were inserted";
    // Empty arrays may be nowhere, and empty keys, too.
    for (std::uint32_t form = POSY_KEYS_U64; form <= POSY_KEYS_OFFSETS64; ++form) {
        const posy_keys none{form, 0, 0, nullptr, 0, nullptr};
        EXPECT_EQ(posy_filter_insert_many(h.filter.get(), &none, 2, nullptr), POSY_OK);
        EXPECT_EQ(posy_filter_may_contain_many(h.filter.get(), &none, 2, nullptr, nullptr, nullptr), POSY_OK);
    }
    const posy_keys empty = posy_keys_bytes(pieces + 1, 1);
    EXPECT_EQ(posy_filter_insert_many(h.filter.get(), &empty, 1, nullptr), POSY_OK);
    EXPECT_EQ(posy_filter_may_contain(h.filter.get(), nullptr, 0), 1);
}

// Each allocation of each function fails once: the status says so, nothing is handed out, nothing leaks
// (which the leak sanitizer and valgrind look at), and the next call succeeds.
TEST(c_refusals, no_memory) {
    const one_of_each h;
    const auto words = testing::words(100);
    const auto pieces = bytes_in(words);
    const auto keys = posy_keys_bytes(pieces.data(), pieces.size());
    const std::vector<std::uint64_t> values(words.size(), 5);
    const auto message = bytes_of(posy_filter_to_bytes, h.filter, POSY_SMALLEST);
    posy_error why;
    std::size_t failures = 0;
    const auto expect_survives = [&](const char* name, const std::function<posy_status()>& work) {
        for (long n = 0;; ++n) {
            ASSERT_LT(n, 10'000) << name;
            allocations_left = n;
            const posy_status status = work();
            allocations_left = -1;
            if (status == POSY_OK) return;
            ++failures;
            EXPECT_TRUE(status == POSY_NO_MEMORY || status == POSY_TOO_LARGE) << name << ": " << why.text;
        }
    };
    const auto expect_makes = [&]<class Handle>(const char* name, Handle*, auto make) {
        expect_survives(name, [&] {
            Handle* handle = nullptr;
            const posy_status status = make(&handle);
            EXPECT_EQ(handle == nullptr, status != POSY_OK);
            give_back()(handle);
            return status;
        });
    };
    expect_makes("filter", h.filter.get(), [&](auto** f) { return posy_filter_make(1000, 0.01, f, &why); });
    expect_makes("clone", h.filter.get(),
                 [&](auto** f) { return posy_filter_clone(h.filter.get(), f, &why); });
    expect_makes("from bytes", h.filter.get(), [&](auto** f) {
        return posy_filter_from_bytes(message.data(), message.size(), 0, f, &why);
    });
    expect_makes("counting", h.counting.get(),
                 [&](auto** f) { return posy_counting_make(1000, 0.01, f, &why); });
    expect_makes("sealed", h.sealed.get(), [&](auto** f) { return posy_sealed_make(&keys, 0.01, f, &why); });
    expect_makes("map", h.map.get(),
                 [&](auto** f) { return posy_map_make(&keys, values.data(), 0.01, f, &why); });
    expect_makes("counts", h.counts.get(), [&](auto** f) { return posy_counts_make(0.01, 0.01, f, &why); });
    expect_makes("hitters", h.hitters.get(),
                 [&](auto** f) { return posy_hitters_top(h.counts.get(), 5, f, &why); });
    expect_makes("foreign", h.foreign.get(),
                 [&](auto** f) { return posy_foreign_make(POSY_GUAVA_64, 100, 0.01, nullptr, f, &why); });
    expect_survives("insert_many", [&] { return posy_filter_insert_many(h.filter.get(), &keys, 1, &why); });
    expect_survives("hitters_add_many", [&] { return posy_hitters_add_many(h.hitters.get(), &keys, &why); });
    expect_survives("to_bytes", [&] {
        void* bytes = nullptr;
        std::size_t size = 0;
        const posy_status status = posy_filter_to_bytes(h.filter.get(), POSY_SMALLEST, &bytes, &size, &why);
        posy_free(bytes);
        return status;
    });
    EXPECT_GT(failures, 20u);
    EXPECT_EQ(refused<posy_filter>(posy_filter_make, std::uint64_t{1} << 60, 1e-9).status, POSY_INVALID);
}

TEST(c_refusals, names) {
    EXPECT_STREQ(posy_status_name(POSY_OK), "ok");
    EXPECT_STREQ(posy_status_name(POSY_NO_MEMORY), "no memory");
    EXPECT_STREQ(posy_status_name(static_cast<posy_status>(POSY_INTERNAL + 1)), "unknown");
}

}  // namespace
}  // namespace posy::testing
