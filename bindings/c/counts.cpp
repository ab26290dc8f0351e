// Count-Min tables and the heavy hitters on top of them.
#include "posy/typed/counts.hpp"

#include "handles.hpp"
#include "keys.hpp"

namespace {

using namespace posy::c;

posy::counter_width width_given(std::uint32_t bits) {
    require(bits == 0 || bits == 32 || bits == 64, "counter_bits is 32, 64, or 0 for 64");
    return bits == 32 ? posy::counter_width::bits_32 : posy::counter_width::bits_64;
}

posy::count_min counts_of(const posy_counts_options& o) {
    const auto rule = member<posy::update_rule>(o.rule, "rule").value_or(posy::update_rule::conservative);
    const auto counters = width_given(o.counter_bits);
    const auto asked = hasher_of(o.hash, o.seed_low, o.seed_high);
    const bool guarantee = o.epsilon != 0 || o.delta != 0;
    require(guarantee + (o.width != 0) + (o.bytes != 0) == 1,
            "give one of: epsilon and delta, width and depth, bytes");
    if (guarantee) {
        require(o.depth == 0, "epsilon and delta decide the depth; leave it 0");
        return *posy::typed::make_counts(o.epsilon, o.delta, rule, asked, counters);
    }
    const auto hash = *posy::typed::hasher_for(asked, posy::typed::many_keys, 0.01);
    if (o.width != 0) return *posy::count_min::make(hash, o.width, o.depth, rule, counters);
    return *posy::count_min::with_bytes(hash, o.bytes, o.depth == 0 ? 4 : o.depth, rule, counters);
}

void add(posy_counts& to, posy::digest d, std::uint64_t weight, std::uint64_t* estimate) {
    const std::uint64_t now = to.body.add(d, weight);
    if (estimate) *estimate = now;
}

// A list in one piece of memory: the keys, and behind them their bytes.
posy_hitter* in_one_piece(const std::vector<posy::heavy_hitter>& keys) {
    std::size_t bytes = keys.size() * sizeof(posy_hitter);
    for (const auto& each : keys) bytes += each.key.size();
    auto* const list = static_cast<posy_hitter*>(allocate(bytes));
    auto* text = reinterpret_cast<char*>(list + keys.size());
    for (std::size_t i = 0; i < keys.size(); ++i) {
        const auto& [key, count] = keys[i];
        new (list + i) posy_hitter{text, key.size(), count};
        if (!key.empty()) std::memcpy(text, key.data(), key.size());
        text += key.size();
    }
    return list;
}

}  // namespace

posy_status posy_counts_make(double epsilon, double delta, posy_counts** counts, posy_error* error) {
    return call(error, [&] {
        posy_counts*& made = place_for(counts, "counts");
        made = new posy_counts(*posy::typed::make_counts(epsilon, delta, posy::update_rule::conservative, {},
                                                         posy::counter_width::bits_64));
    });
}

posy_status posy_counts_make_with(const posy_counts_options* options, posy_counts** counts,
                                  posy_error* error) {
    return call(error, [&] {
        posy_counts*& made = place_for(counts, "counts");
        made = new posy_counts(counts_of(read(options, "options")));
    });
}

posy_status posy_counts_clone(const posy_counts* counts, posy_counts** copy, posy_error* error) {
    return call(error, [&] {
        posy_counts*& made = place_for(copy, "copy");
        made = new posy_counts(*given(counts, "counts").body.clone());
    });
}

void posy_counts_free(posy_counts* counts) { delete counts; }

posy_status posy_counts_add(posy_counts* counts, const void* key, size_t size, uint64_t weight,
                            uint64_t* estimate, posy_error* error) {
    return call(error, [&] {
        auto& to = given(counts, "counts");
        add(to, to.hash(key_given(key, size)), weight, estimate);
    });
}

posy_status posy_counts_add_u64(posy_counts* counts, uint64_t key, uint64_t weight, uint64_t* estimate,
                                posy_error* error) {
    return call(error, [&] {
        auto& to = given(counts, "counts");
        add(to, to.hash(key), weight, estimate);
    });
}

posy_status posy_counts_add_many(posy_counts* counts, const posy_keys* keys, posy_error* error) {
    return call(error, [&] {
        auto& to = given(counts, "counts");
        for_each_digests(to.hash, checked(keys), [&](auto batch, std::size_t) { to.body.add(batch); });
    });
}

posy_status posy_counts_estimate(const posy_counts* counts, const void* key, size_t size, uint64_t* estimate,
                                 posy_error* error) {
    return call(error, [&] {
        const auto& of = given(counts, "counts");
        const auto d = of.hash(key_given(key, size));
        given(estimate, "estimate") = of.body.estimate(d);
    });
}

posy_status posy_counts_estimate_u64(const posy_counts* counts, uint64_t key, uint64_t* estimate,
                                     posy_error* error) {
    return call(error, [&] {
        const auto& of = given(counts, "counts");
        given(estimate, "estimate") = of.body.estimate(of.hash(key));
    });
}

posy_status posy_counts_estimate_many(const posy_counts* counts, const posy_keys* keys, uint64_t* estimates,
                                      posy_error* error) {
    return call(error, [&] {
        const auto& of = given(counts, "counts");
        const auto& all = checked(keys);
        const auto places = answers_for(all, estimates, "estimates");
        for_each_digests(of.hash, all, [&](auto batch, std::size_t first) {
            of.body.estimate(batch, places.subspan(first, batch.size()));
        });
    });
}

posy_status posy_counts_unite(posy_counts* into, const posy_counts* from, posy_error* error) {
    return call(error, [&] { *posy::unite(given(into, "into").body, given(from, "from").body); });
}

posy_status posy_counts_clear(posy_counts* counts, posy_error* error) {
    return call(error, [&] { given(counts, "counts").body.clear(); });
}

posy_status posy_counts_info_of(const posy_counts* counts, posy_counts_info* info, posy_error* error) {
    return call(error, [&] {
        const auto& of = given(counts, "counts").body;
        const auto hash = of.hash();
        write(info, "info",
              {.struct_size = 0,
               .width = of.width(),
               .depth = of.depth(),
               .rule = static_cast<std::uint32_t>(of.rule()),
               .counter_bits = of.counter_width() == posy::counter_width::bits_32 ? 32u : 64u,
               .hash = static_cast<std::uint32_t>(hash.family()),
               .seed_low = hash.seed().low,
               .seed_high = hash.seed().high,
               .total = of.total(),
               .epsilon = of.epsilon(),
               .delta = of.delta(),
               .error_bound = of.error_bound(),
               .memory_bytes = of.memory_bytes()});
    });
}

posy_status posy_counts_to_bytes(const posy_counts* counts, int coding, void** bytes, size_t* size,
                                 posy_error* error) {
    return to_bytes(counts, coding, bytes, size, error);
}

posy_status posy_counts_from_bytes(const void* bytes, size_t size, uint64_t max_memory, posy_counts** counts,
                                   posy_error* error) {
    return from_bytes(bytes, size, max_memory, counts, error);
}

posy_status posy_counts_save(const posy_counts* counts, const char* path, int coding, posy_error* error) {
    return save(counts, path, coding, error);
}

posy_status posy_counts_load(const char* path, uint64_t max_memory, posy_counts** counts, posy_error* error) {
    return load(path, max_memory, counts, error);
}

posy_status posy_hitters_above(const posy_counts* empty, double phi, posy_hitters** hitters,
                               posy_error* error) {
    return call(error, [&] {
        posy_hitters*& made = place_for(hitters, "hitters");
        made = new posy_hitters(*posy::heavy_hitters::above(*given(empty, "empty").body.clone(), phi));
    });
}

posy_status posy_hitters_top(const posy_counts* empty, uint64_t room, posy_hitters** hitters,
                             posy_error* error) {
    return call(error, [&] {
        posy_hitters*& made = place_for(hitters, "hitters");
        made = new posy_hitters(*posy::heavy_hitters::top(*given(empty, "empty").body.clone(), room));
    });
}

void posy_hitters_free(posy_hitters* hitters) { delete hitters; }

posy_status posy_hitters_add(posy_hitters* hitters, const void* key, size_t size, uint64_t weight,
                             posy_error* error) {
    return call(error, [&] {
        auto& to = given(hitters, "hitters");
        const auto bytes = key_given(key, size);
        to.body.add(bytes, to.hash(bytes), weight);
    });
}

posy_status posy_hitters_add_many(posy_hitters* hitters, const posy_keys* keys, posy_error* error) {
    return call(error, [&] {
        auto& to = given(hitters, "hitters");
        const auto& all = checked(keys);
        std::vector<std::string_view> texts(std::min(batch_size, all.count));
        std::vector<std::array<std::byte, 8>> words(are_integers(all) ? texts.size() : 0);
        for_each_digests(to.hash, all, [&](auto batch, std::size_t first) {
            for (std::size_t i = 0; i < batch.size(); ++i) {
                if (words.empty()) {
                    texts[i] = key_at(all, first + i);
                } else {
                    words[i] = posy::key_bytes(integers(all)[first + i]);
                    texts[i] = {reinterpret_cast<const char*>(words[i].data()), words[i].size()};
                }
            }
            to.body.add(std::span<const std::string_view>(texts).first(batch.size()), batch);
        });
    });
}

posy_status posy_hitters_unite(posy_hitters* into, const posy_hitters* from, posy_error* error) {
    return call(error, [&] { *posy::unite(given(into, "into").body, given(from, "from").body); });
}

posy_status posy_hitters_list(const posy_hitters* hitters, uint64_t most, posy_hitter** list, size_t* count,
                              uint64_t* complete_from, posy_error* error) {
    return call(error, [&] {
        posy_hitter*& made = place_for(list, "list");
        given(count, "count");
        auto found = given(hitters, "hitters").body.report(most == 0 ? std::nullopt : std::optional(most));
        if (most != 0 && found.keys.size() > most) found.keys.resize(most);  // with a threshold it lists all
        made = in_one_piece(found.keys);
        *count = found.keys.size();
        if (complete_from) *complete_from = found.complete_from;
    });
}

posy_status posy_hitters_to_bytes(const posy_hitters* hitters, int coding, void** bytes, size_t* size,
                                  posy_error* error) {
    return to_bytes(hitters, coding, bytes, size, error);
}

posy_status posy_hitters_from_bytes(const void* bytes, size_t size, uint64_t max_memory,
                                    posy_hitters** hitters, posy_error* error) {
    return from_bytes(bytes, size, max_memory, hitters, error);
}

posy_status posy_hitters_save(const posy_hitters* hitters, const char* path, int coding, posy_error* error) {
    return save(hitters, path, coding, error);
}

posy_status posy_hitters_load(const char* path, uint64_t max_memory, posy_hitters** hitters,
                              posy_error* error) {
    return load(path, max_memory, hitters, error);
}
