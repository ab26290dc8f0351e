// Filters: made, filled and asked.
#include "posy/filter.hpp"

#include "handles.hpp"
#include "keys.hpp"
#include "options.hpp"
#include "posy/parallel.hpp"

namespace {

using namespace posy::c;

posy::bloom_filter filter_of(const posy_filter_options& options) {
    const auto hash = hasher_of(options.hash, options.seed_low, options.seed_high);
    if (options.bits == 0) {
        const auto layout =
            member<posy::layout_id>(options.layout, "layout").value_or(posy::layout_id::blocked);
        return *posy::typed::make_filter(options.items, options.rate, layout, options.hashes, hash);
    }
    const auto array = array_of(options, hash);
    auto made = *posy::bloom_filter::make(array.geometry);
    made.set_planned(array.planned);
    return made;
}

constexpr unsigned most_threads = 1024;
// Text is handed to threads in larger pieces.
constexpr std::size_t parallel_batch = 1 << 16;

unsigned threads_given(unsigned threads) {
    require(threads <= most_threads, "threads is more than 1024");
    return std::max(threads, 1u);
}

}  // namespace

posy_status posy_filter_make(uint64_t items, double rate, posy_filter** filter, posy_error* error) {
    return call(error, [&] {
        posy_filter*& made = place_for(filter, "filter");
        made = new posy_filter(*posy::typed::make_filter(items, rate, posy::layout_id::blocked, 0, {}));
    });
}

posy_status posy_filter_make_with(const posy_filter_options* options, posy_filter** filter,
                                  posy_error* error) {
    return call(error, [&] {
        posy_filter*& made = place_for(filter, "filter");
        made = new posy_filter(filter_of(read(options, "options")));
    });
}

posy_status posy_filter_clone(const posy_filter* filter, posy_filter** copy, posy_error* error) {
    return call(error, [&] {
        posy_filter*& made = place_for(copy, "copy");
        made = new posy_filter(*given(filter, "filter").body.clone());
    });
}

void posy_filter_free(posy_filter* filter) { delete filter; }

posy_status posy_filter_insert(posy_filter* filter, const void* key, size_t size, posy_error* error) {
    return call(error, [&] {
        auto& into = given(filter, "filter");
        into.body.insert(into.hash(key_given(key, size)));
    });
}

posy_status posy_filter_insert_u64(posy_filter* filter, uint64_t key, posy_error* error) {
    return call(error, [&] {
        auto& into = given(filter, "filter");
        into.body.insert(into.hash(key));
    });
}

posy_status posy_filter_insert_many(posy_filter* filter, const posy_keys* keys, unsigned threads,
                                    posy_error* error) {
    return call(error, [&] {
        auto& into = given(filter, "filter").body;
        const unsigned on = threads_given(threads);
        const auto insert = [&](auto batch, std::size_t) {
            if (on == 1)
                into.insert(batch);
            else
                posy::insert(into, batch, on);
        };
        for_each_batch(checked(keys), insert, on == 1 ? batch_size : parallel_batch);
    });
}

posy_status posy_filter_insert_concurrently(posy_filter* filter, const void* key, size_t size,
                                            posy_error* error) {
    return call(error, [&] {
        auto& into = given(filter, "filter");
        const posy::digest d = into.hash(key_given(key, size));
        into.body.insert_concurrently(std::span(&d, 1));
    });
}

posy_status posy_filter_insert_concurrently_u64(posy_filter* filter, uint64_t key, posy_error* error) {
    return call(error, [&] {
        auto& into = given(filter, "filter");
        const posy::digest d = into.hash(key);
        into.body.insert_concurrently(std::span(&d, 1));
    });
}

posy_status posy_filter_insert_concurrently_many(posy_filter* filter, const posy_keys* keys,
                                                 posy_error* error) {
    return call(error, [&] {
        auto& into = given(filter, "filter");
        for_each_digests(into.hash, checked(keys),
                         [&](auto batch, std::size_t) { into.body.insert_concurrently(batch); });
    });
}

int posy_filter_may_contain(const posy_filter* filter, const void* key, size_t size) {
    if (!filter || (!key && size != 0)) return -1;
    return filter->body.may_contain(filter->hash(std::string_view(static_cast<const char*>(key), size)));
}

int posy_filter_may_contain_u64(const posy_filter* filter, uint64_t key) {
    return filter ? filter->body.may_contain(filter->hash(key)) : -1;
}

posy_status posy_filter_may_contain_many(const posy_filter* filter, const posy_keys* keys, unsigned threads,
                                         bool* answers, size_t* yes, posy_error* error) {
    return call(error, [&] {
        const auto& in = given(filter, "filter").body;
        const unsigned on = threads_given(threads);
        const auto& all = checked(keys);
        const auto places = answers_for(all, answers, "answers");
        std::size_t count = 0;
        const auto look_up = [&](auto batch, std::size_t first) {
            const auto here = places.subspan(first, batch.size());
            count += on == 1 ? in.may_contain(batch, here) : posy::may_contain(in, batch, here, on);
        };
        for_each_batch(all, look_up, on == 1 ? batch_size : parallel_batch);
        if (yes) *yes = count;
    });
}

posy_status posy_filter_clear(posy_filter* filter, posy_error* error) {
    return call(error, [&] { given(filter, "filter").body.clear(); });
}
