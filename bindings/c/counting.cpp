// Counting filters.
#include "posy/typed/counting.hpp"

#include "handles.hpp"
#include "keys.hpp"
#include "options.hpp"

namespace {

using namespace posy::c;

posy::counting_filter counting_of(const posy_filter_options& options, unsigned counter_bits) {
    const auto hash = hasher_of(options.hash, options.seed_low, options.seed_high);
    planned_array array;
    if (options.bits != 0) {
        array = array_of(options, hash);
    } else if (options.layout == 0 && options.hashes == 0 && counter_bits == 0) {
        return *posy::typed::make_counting(options.items, options.rate, hash);
    } else {
        posy::wishes want{.items = options.items, .rate = options.rate};
        want.layout = member<posy::layout_id>(options.layout, "layout").value_or(posy::layout_id::narrow);
        if (options.hashes != 0) want.hashes = options.hashes;
        if (hash) want.hash = hash->family();
        const auto plan = *posy::choose(want);
        array = {plan.geometry(plan.hash, hash ? hash->seed() : posy::hash_seed{}), plan.promise()};
    }
    auto made = *posy::counting_filter::make(array.geometry, counter_bits == 0 ? 4 : counter_bits);
    made.set_planned(array.planned);
    return made;
}

}  // namespace

posy_status posy_counting_make(uint64_t items, double rate, posy_counting** counting, posy_error* error) {
    return call(error, [&] {
        posy_counting*& made = place_for(counting, "counting");
        made = new posy_counting(*posy::typed::make_counting(items, rate, {}));
    });
}

posy_status posy_counting_make_with(const posy_filter_options* options, unsigned counter_bits,
                                    posy_counting** counting, posy_error* error) {
    return call(error, [&] {
        posy_counting*& made = place_for(counting, "counting");
        made = new posy_counting(counting_of(read(options, "options"), counter_bits));
    });
}

void posy_counting_free(posy_counting* counting) { delete counting; }

posy_status posy_counting_insert(posy_counting* counting, const void* key, size_t size, posy_error* error) {
    return call(error, [&] {
        auto& into = given(counting, "counting");
        into.body.insert(into.hash(key_given(key, size)));
    });
}

posy_status posy_counting_insert_u64(posy_counting* counting, uint64_t key, posy_error* error) {
    return call(error, [&] {
        auto& into = given(counting, "counting");
        into.body.insert(into.hash(key));
    });
}

posy_status posy_counting_insert_many(posy_counting* counting, const posy_keys* keys, posy_error* error) {
    return call(error, [&] {
        auto& into = given(counting, "counting").body;
        for_each_batch(checked(keys), [&](auto batch, std::size_t) { into.insert(batch); });
    });
}

int posy_counting_remove(posy_counting* counting, const void* key, size_t size) {
    return ask([&] {
        auto& from = given(counting, "counting");
        return from.body.remove(from.hash(key_given(key, size)));
    });
}

int posy_counting_remove_u64(posy_counting* counting, uint64_t key) {
    return ask([&] {
        auto& from = given(counting, "counting");
        return from.body.remove(from.hash(key));
    });
}

posy_status posy_counting_remove_many(posy_counting* counting, const posy_keys* keys, bool* removed,
                                      size_t* count, posy_error* error) {
    return call(error, [&] {
        auto& from = given(counting, "counting");
        std::array<bool, batch_size> unwanted;
        std::size_t sum = 0;
        for_each_digests(from.hash, checked(keys), [&](auto batch, std::size_t first) {
            const auto here =
                removed ? std::span(removed + first, batch.size()) : std::span(unwanted).first(batch.size());
            sum += from.body.remove(batch, here);
        });
        if (count) *count = sum;
    });
}

int posy_counting_may_contain(const posy_counting* counting, const void* key, size_t size) {
    return ask([&] {
        const auto& in = given(counting, "counting");
        return in.body.may_contain(in.hash(key_given(key, size)));
    });
}

int posy_counting_may_contain_u64(const posy_counting* counting, uint64_t key) {
    return ask([&] {
        const auto& in = given(counting, "counting");
        return in.body.may_contain(in.hash(key));
    });
}

posy_status posy_counting_may_contain_many(const posy_counting* counting, const posy_keys* keys,
                                           bool* answers, size_t* yes, posy_error* error) {
    return call(error, [&] {
        const auto& in = given(counting, "counting").body;
        const auto& all = checked(keys);
        const auto places = answers_for(all, answers, "answers");
        std::size_t count = 0;
        for_each_batch(all, [&](auto batch, std::size_t first) {
            count += in.may_contain(batch, places.subspan(first, batch.size()));
        });
        if (yes) *yes = count;
    });
}

posy_status posy_counting_clear(posy_counting* counting, posy_error* error) {
    return call(error, [&] { given(counting, "counting").body.clear(); });
}

posy_status posy_counting_filter(const posy_counting* counting, posy_filter** filter, posy_error* error) {
    return call(error, [&] {
        posy_filter*& made = place_for(filter, "filter");
        made = new posy_filter(*given(counting, "counting").body.projection().clone());
    });
}

posy_status posy_counting_info_of(const posy_counting* counting, posy_filter_info* info,
                                  unsigned* counter_bits, uint64_t* saturated, posy_error* error) {
    return call(error, [&] {
        const auto& of = given(counting, "counting").body;
        write(info, "info", info_of(of.projection()));
        if (counter_bits) *counter_bits = of.counters().width();
        if (saturated) *saturated = of.saturated();
    });
}

posy_status posy_counting_to_bytes(const posy_counting* counting, int coding, void** bytes, size_t* size,
                                   posy_error* error) {
    return to_bytes(counting, coding, bytes, size, error);
}

posy_status posy_counting_from_bytes(const void* bytes, size_t size, uint64_t max_memory,
                                     posy_counting** counting, posy_error* error) {
    return from_bytes(bytes, size, max_memory, counting, error);
}

posy_status posy_counting_save(const posy_counting* counting, const char* path, int coding,
                               posy_error* error) {
    return save(counting, path, coding, error);
}

posy_status posy_counting_load(const char* path, uint64_t max_memory, posy_counting** counting,
                               posy_error* error) {
    return load(path, max_memory, counting, error);
}
