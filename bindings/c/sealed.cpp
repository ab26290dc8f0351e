// Sealed filters and Bloomier maps.
#include "posy/typed/sealed.hpp"

#include <bit>

#include "handles.hpp"
#include "keys.hpp"

namespace {

using namespace posy::c;

// Of sealed filters and maps.
template <class Body>
posy_seal_info seal_info_of(const Body& of, unsigned value_bits) {
    const auto hash = of.hash();
    return {.struct_size = 0,
            .items = of.items(),
            .false_positive_rate = of.false_positive_rate(),
            .bytes = of.bytes().size(),
            .hash = static_cast<std::uint32_t>(hash.family()),
            .value_bits = value_bits,
            .seed_low = hash.seed().low,
            .seed_high = hash.seed().high};
}

// As the C++ door chooses it.
posy::hasher seal_hasher(const posy_seal_options& options, const posy_keys& keys) {
    const auto asked = hasher_of(options.hash, options.seed_low, options.seed_high);
    return *posy::typed::hasher_for(asked, static_cast<double>(keys.count), options.rate);
}

unsigned seal_threads(const posy_seal_options& options) {
    require(options.threads <= 1024, "threads is more than 1024");
    return std::max(options.threads, 1u);
}

posy_sealed* seal(const posy_keys& keys, const posy_seal_options& options) {
    const auto hash = seal_hasher(options, keys);
    return new posy_sealed(*posy::sealed_filter::make(
        hash, digests_of(hash, keys), {.rate = options.rate, .threads = seal_threads(options)}));
}

posy_map* map_of(const posy_keys& keys, const std::uint64_t* values, posy_seal_options options) {
    // Two keys with one digest and different values would make a map impossible: not fold64.
    if (options.hash == 0) options.hash = POSY_HASH_XXH3;
    const auto hash = seal_hasher(options, keys);
    const auto all = answers_for(keys, values, "values");
    std::uint64_t largest = 1;
    for (const std::uint64_t value : all) largest = std::max(largest, value);
    return new posy_map(
        *posy::bloomier_map::make(hash, digests_of(hash, keys), all,
                                  {.value_bits = static_cast<unsigned>(std::bit_width(largest)),
                                   .rate = options.rate,
                                   .threads = seal_threads(options)}));
}

int find(const posy_map& in, posy::digest d, std::uint64_t* value) {
    const auto found = in.body.find(d);
    if (found) *value = *found;
    return found.has_value();
}

}  // namespace

posy_status posy_sealed_make(const posy_keys* keys, double rate, posy_sealed** sealed, posy_error* error) {
    return call(error, [&] {
        posy_sealed*& made = place_for(sealed, "sealed");
        made = seal(checked(keys), {.struct_size = 0, .rate = rate});
    });
}

posy_status posy_sealed_make_with(const posy_keys* keys, const posy_seal_options* options,
                                  posy_sealed** sealed, posy_error* error) {
    return call(error, [&] {
        posy_sealed*& made = place_for(sealed, "sealed");
        made = seal(checked(keys), read(options, "options"));
    });
}

void posy_sealed_free(posy_sealed* sealed) { delete sealed; }

int posy_sealed_may_contain(const posy_sealed* sealed, const void* key, size_t size) {
    return ask([&] {
        const auto& in = given(sealed, "sealed");
        return in.body.may_contain(in.hash(key_given(key, size)));
    });
}

int posy_sealed_may_contain_u64(const posy_sealed* sealed, uint64_t key) {
    return ask([&] {
        const auto& in = given(sealed, "sealed");
        return in.body.may_contain(in.hash(key));
    });
}

posy_status posy_sealed_may_contain_many(const posy_sealed* sealed, const posy_keys* keys, bool* answers,
                                         size_t* yes, posy_error* error) {
    return call(error, [&] {
        const auto& in = given(sealed, "sealed");
        const auto& all = checked(keys);
        const auto places = answers_for(all, answers, "answers");
        std::size_t count = 0;
        for_each_digests(in.hash, all, [&](auto batch, std::size_t first) {
            count += in.body.may_contain(batch, places.subspan(first, batch.size()));
        });
        if (yes) *yes = count;
    });
}

posy_status posy_sealed_info_of(const posy_sealed* sealed, posy_seal_info* info, posy_error* error) {
    return call(error, [&] { write(info, "info", seal_info_of(given(sealed, "sealed").body, 0)); });
}

posy_status posy_sealed_to_bytes(const posy_sealed* sealed, int coding, void** bytes, size_t* size,
                                 posy_error* error) {
    return to_bytes(sealed, coding, bytes, size, error);
}

posy_status posy_sealed_from_bytes(const void* bytes, size_t size, uint64_t max_memory, posy_sealed** sealed,
                                   posy_error* error) {
    return from_bytes(bytes, size, max_memory, sealed, error);
}

posy_status posy_sealed_save(const posy_sealed* sealed, const char* path, int coding, posy_error* error) {
    return save(sealed, path, coding, error);
}

posy_status posy_sealed_load(const char* path, uint64_t max_memory, posy_sealed** sealed, posy_error* error) {
    return load(path, max_memory, sealed, error);
}

posy_status posy_map_make(const posy_keys* keys, const uint64_t* values, double rate, posy_map** map,
                          posy_error* error) {
    return call(error, [&] {
        posy_map*& made = place_for(map, "map");
        made = map_of(checked(keys), values, {.struct_size = 0, .rate = rate});
    });
}

posy_status posy_map_make_with(const posy_keys* keys, const uint64_t* values,
                               const posy_seal_options* options, posy_map** map, posy_error* error) {
    return call(error, [&] {
        posy_map*& made = place_for(map, "map");
        made = map_of(checked(keys), values, read(options, "options"));
    });
}

void posy_map_free(posy_map* map) { delete map; }

int posy_map_find(const posy_map* map, const void* key, size_t size, uint64_t* value) {
    return ask([&] {
        const auto& in = given(map, "map");
        return find(in, in.hash(key_given(key, size)), &given(value, "value"));
    });
}

int posy_map_find_u64(const posy_map* map, uint64_t key, uint64_t* value) {
    return ask([&] {
        const auto& in = given(map, "map");
        return find(in, in.hash(key), &given(value, "value"));
    });
}

posy_status posy_map_find_many(const posy_map* map, const posy_keys* keys, bool* found, uint64_t* values,
                               size_t* yes, posy_error* error) {
    return call(error, [&] {
        const auto& in = given(map, "map");
        const auto& all = checked(keys);
        const auto places = answers_for(all, found, "found");
        const auto into = answers_for(all, values, "values");
        std::array<std::optional<std::uint64_t>, batch_size> answers;
        std::size_t count = 0;
        for_each_digests(in.hash, all, [&](auto batch, std::size_t first) {
            count += in.body.find(batch, std::span(answers).first(batch.size()));
            for (std::size_t i = 0; i < batch.size(); ++i) {
                places[first + i] = answers[i].has_value();
                into[first + i] = answers[i].value_or(0);
            }
        });
        if (yes) *yes = count;
    });
}

posy_status posy_map_info_of(const posy_map* map, posy_seal_info* info, posy_error* error) {
    return call(error, [&] {
        const auto& of = given(map, "map").body;
        write(info, "info", seal_info_of(of, of.value_bits()));
    });
}

posy_status posy_map_to_bytes(const posy_map* map, int coding, void** bytes, size_t* size,
                              posy_error* error) {
    return to_bytes(map, coding, bytes, size, error);
}

posy_status posy_map_from_bytes(const void* bytes, size_t size, uint64_t max_memory, posy_map** map,
                                posy_error* error) {
    return from_bytes(bytes, size, max_memory, map, error);
}

posy_status posy_map_save(const posy_map* map, const char* path, int coding, posy_error* error) {
    return save(map, path, coding, error);
}

posy_status posy_map_load(const char* path, uint64_t max_memory, posy_map** map, posy_error* error) {
    return load(path, max_memory, map, error);
}
