// Window filters, which forget.
#include "handles.hpp"
#include "keys.hpp"
#include "posy/plan.hpp"

namespace {

using namespace posy::c;

posy::window_filter window_of(const posy_window_options& how) {
    const auto chosen = hasher_of(how.hash, how.seed_low, how.seed_high);
    const auto hash =
        chosen.value_or(posy::hasher(posy::fastest_hash(static_cast<double>(how.items), how.rate)));
    return *posy::window_filter::with_rate(how.items, how.rate, how.window,
                                           how.generations == 0 ? 8 : how.generations,
                                           posy::layout_id::blocked, hash);
}

}  // namespace

posy_status posy_window_make(const posy_window_options* options, posy_window** window, posy_error* error) {
    return call(error, [&] {
        posy_window*& made = place_for(window, "window");
        made = new posy_window(window_of(read(options, "options")));
    });
}

void posy_window_free(posy_window* window) { delete window; }

int posy_window_insert(posy_window* window, const void* key, size_t size, uint64_t time) {
    return ask([&] {
        auto& into = given(window, "window");
        return into.body.insert(into.hash(key_given(key, size)), time);
    });
}

int posy_window_insert_u64(posy_window* window, uint64_t key, uint64_t time) {
    return ask([&] {
        auto& into = given(window, "window");
        return into.body.insert(into.hash(key), time);
    });
}

posy_status posy_window_insert_many(posy_window* window, const posy_keys* keys, uint64_t time, bool* inserted,
                                    posy_error* error) {
    return call(error, [&] {
        auto& into = given(window, "window");
        bool in_time = true;  // the same for all of them
        for_each_digests(into.hash, checked(keys),
                         [&](auto batch, std::size_t) { in_time = into.body.insert(batch, time); });
        if (inserted) *inserted = in_time;
    });
}

int posy_window_may_contain(const posy_window* window, const void* key, size_t size, uint64_t time) {
    return ask([&] {
        const auto& in = given(window, "window");
        return in.body.may_contain(in.hash(key_given(key, size)), time);
    });
}

int posy_window_may_contain_u64(const posy_window* window, uint64_t key, uint64_t time) {
    return ask([&] {
        const auto& in = given(window, "window");
        return in.body.may_contain(in.hash(key), time);
    });
}

posy_status posy_window_may_contain_many(const posy_window* window, const posy_keys* keys, uint64_t time,
                                         bool* answers, size_t* yes, posy_error* error) {
    return call(error, [&] {
        const auto& in = given(window, "window");
        const auto& all = checked(keys);
        const auto places = answers_for(all, answers, "answers");
        std::size_t count = 0;
        for_each_digests(in.hash, all, [&](auto batch, std::size_t first) {
            count += in.body.may_contain(batch, time, places.subspan(first, batch.size()));
        });
        if (yes) *yes = count;
    });
}

posy_status posy_window_unite(posy_window* into, const posy_window* from, posy_error* error) {
    return call(error, [&] { *unite(given(into, "into").body, given(from, "from").body); });
}

posy_status posy_window_info_of(const posy_window* window, uint64_t time, posy_window_info* info,
                                posy_error* error) {
    return call(error, [&] {
        const auto& of = given(window, "window").body;
        write(info, "info",
              posy_window_info{.struct_size = 0,
                               .items = of.items(time),
                               .false_positive_rate = of.false_positive_rate(time),
                               .memory_bytes = of.memory_bytes(),
                               .remembered_at_least = of.remembered_at_least(),
                               .forgotten_after = of.forgotten_after(),
                               .planned_items = of.planned().items,
                               .planned_rate = of.planned().rate,
                               .latest = of.latest()});
    });
}

posy_status posy_window_to_bytes(const posy_window* window, int coding, void** bytes, size_t* size,
                                 posy_error* error) {
    return to_bytes(window, coding, bytes, size, error);
}

posy_status posy_window_from_bytes(const void* bytes, size_t size, uint64_t max_memory, posy_window** window,
                                   posy_error* error) {
    return from_bytes(bytes, size, max_memory, window, error);
}

posy_status posy_window_save(const posy_window* window, const char* path, int coding, posy_error* error) {
    return save(window, path, coding, error);
}

posy_status posy_window_load(const char* path, uint64_t max_memory, posy_window** window, posy_error* error) {
    return load(path, max_memory, window, error);
}
