// Growing filters, which take any number of keys.
#include "posy/typed/growing.hpp"

#include "handles.hpp"
#include "keys.hpp"
#include "posy/estimate.hpp"

using namespace posy::c;

posy_status posy_growing_make(const posy_growing_options* options, posy_growing** growing,
                              posy_error* error) {
    return call(error, [&] {
        posy_growing*& made = place_for(growing, "growing");
        const auto how = read(options, "options");
        made = new posy_growing(
            *posy::typed::make_growing(how.rate, hasher_of(how.hash, how.seed_low, how.seed_high)));
    });
}

void posy_growing_free(posy_growing* growing) { delete growing; }

posy_status posy_growing_insert(posy_growing* growing, const void* key, size_t size, posy_error* error) {
    return call(error, [&] {
        auto& into = given(growing, "growing");
        *into.body.insert(into.hash(key_given(key, size)));
    });
}

posy_status posy_growing_insert_u64(posy_growing* growing, uint64_t key, posy_error* error) {
    return call(error, [&] {
        auto& into = given(growing, "growing");
        *into.body.insert(into.hash(key));
    });
}

posy_status posy_growing_insert_many(posy_growing* growing, const posy_keys* keys, posy_error* error) {
    return call(error, [&] {
        auto& into = given(growing, "growing");
        posy::result<void> grown;  // a filter that cannot grow takes keys nevertheless
        for_each_digests(into.hash, checked(keys), [&](auto batch, std::size_t) {
            if (auto done = into.body.insert(batch); !done && grown) grown = std::move(done);
        });
        *grown;
    });
}

int posy_growing_may_contain(const posy_growing* growing, const void* key, size_t size) {
    return ask([&] {
        const auto& in = given(growing, "growing");
        return in.body.may_contain(in.hash(key_given(key, size)));
    });
}

int posy_growing_may_contain_u64(const posy_growing* growing, uint64_t key) {
    return ask([&] {
        const auto& in = given(growing, "growing");
        return in.body.may_contain(in.hash(key));
    });
}

posy_status posy_growing_may_contain_many(const posy_growing* growing, const posy_keys* keys, bool* answers,
                                          size_t* yes, posy_error* error) {
    return call(error, [&] {
        const auto& in = given(growing, "growing");
        const auto& all = checked(keys);
        const auto places = answers_for(all, answers, "answers");
        std::size_t count = 0;
        for_each_digests(in.hash, all, [&](auto batch, std::size_t first) {
            count += in.body.may_contain(batch, places.subspan(first, batch.size()));
        });
        if (yes) *yes = count;
    });
}

posy_status posy_growing_shrink(posy_growing* growing, posy_error* error) {
    return call(error, [&] { *given(growing, "growing").body.shrink(); });
}

posy_status posy_growing_unite(posy_growing* into, const posy_growing* from, posy_error* error) {
    return call(error, [&] { *unite(given(into, "into").body, given(from, "from").body); });
}

posy_status posy_growing_estimate_items(const posy_growing* growing, double level, posy_estimate* items,
                                        posy_error* error) {
    return call(error, [&] {
        require(level > 0 && level < 1, "a level is between 0 and 1");
        const auto found = estimate_items(given(growing, "growing").body, level);
        given(items, "items") = {found.value, found.low, found.high};
    });
}

posy_status posy_growing_info_of(const posy_growing* growing, posy_growing_info* info, posy_error* error) {
    return call(error, [&] {
        const auto& of = given(growing, "growing").body;
        write(info, "info",
              posy_growing_info{.struct_size = 0,
                                .bits = of.bits(),
                                .items = of.items(),
                                .false_positive_rate = of.false_positive_rate(),
                                .promised_rate = of.promised_rate(),
                                .shrunk = of.shrunk() ? 1U : 0U,
                                .zero = 0});
    });
}

posy_status posy_growing_to_bytes(const posy_growing* growing, int coding, void** bytes, size_t* size,
                                  posy_error* error) {
    return to_bytes(growing, coding, bytes, size, error);
}

posy_status posy_growing_from_bytes(const void* bytes, size_t size, uint64_t max_memory,
                                    posy_growing** growing, posy_error* error) {
    return from_bytes(bytes, size, max_memory, growing, error);
}

posy_status posy_growing_save(const posy_growing* growing, const char* path, int coding, posy_error* error) {
    return save(growing, path, coding, error);
}

posy_status posy_growing_load(const char* path, uint64_t max_memory, posy_growing** growing,
                              posy_error* error) {
    return load(path, max_memory, growing, error);
}
