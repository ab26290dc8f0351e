// Filters as sets: united, compared, estimated, sent; and the deltas between them.
#include "handles.hpp"
#include "options.hpp"
#include "posy/algebra.hpp"
#include "posy/estimate.hpp"

namespace {

using namespace posy::c;

posy_estimate in_c(const posy::estimate& from) { return {from.value, from.low, from.high}; }

double level_given(double level) {
    require(level > 0 && level < 1,
            "level is the probability of an interval: above 0 and below 1, e.g. 0.95");
    return level;
}

}  // namespace

int posy_filter_same_geometry(const posy_filter* a, const posy_filter* b) {
    return a && b ? a->body.geometry() == b->body.geometry() : -1;
}

int posy_filter_equal(const posy_filter* a, const posy_filter* b) { return a && b ? a->body == b->body : -1; }

posy_status posy_filter_unite(posy_filter* into, const posy_filter* from, posy_error* error) {
    return call(error, [&] { *posy::unite(given(into, "into").body, given(from, "from").body); });
}

posy_status posy_filter_intersect(posy_filter* into, const posy_filter* from, posy_error* error) {
    return call(error, [&] { *posy::intersect(given(into, "into").body, given(from, "from").body); });
}

posy_status posy_filter_fold(const posy_filter* filter, uint64_t divisor, posy_filter** folded,
                             posy_error* error) {
    return call(error, [&] {
        posy_filter*& made = place_for(folded, "folded");
        made = new posy_filter(*posy::fold(given(filter, "filter").body, divisor));
    });
}

posy_status posy_filter_estimate_items(const posy_filter* filter, double level, posy_estimate* items,
                                       posy_error* error) {
    return call(error, [&] {
        const auto& of = given(filter, "filter").body;
        given(items, "items") = in_c(posy::estimate_items(of, level_given(level)));
    });
}

posy_status posy_filter_compare(const posy_filter* a, const posy_filter* b, double level,
                                posy_comparison* result, posy_error* error) {
    return call(error, [&] {
        const auto found = *posy::compare(given(a, "a").body, given(b, "b").body, level_given(level));
        write(result, "result",
              {.struct_size = 0,
               .a = in_c(found.a),
               .b = in_c(found.b),
               .intersection = in_c(found.intersection),
               .united = in_c(found.united),
               .jaccard = in_c(found.jaccard)});
    });
}

double posy_filter_false_positive_rate(const posy_filter* filter) {
    return filter ? filter->body.false_positive_rate() : -1;
}

posy_status posy_filter_info_of(const posy_filter* filter, posy_filter_info* info, posy_error* error) {
    return call(error, [&] { write(info, "info", info_of(given(filter, "filter").body)); });
}

posy_status posy_filter_to_bytes(const posy_filter* filter, int coding, void** bytes, size_t* size,
                                 posy_error* error) {
    return to_bytes(filter, coding, bytes, size, error);
}

posy_status posy_filter_from_bytes(const void* bytes, size_t size, uint64_t max_memory, posy_filter** filter,
                                   posy_error* error) {
    return from_bytes(bytes, size, max_memory, filter, error);
}

posy_status posy_filter_save(const posy_filter* filter, const char* path, int coding, posy_error* error) {
    return save(filter, path, coding, error);
}

posy_status posy_filter_load(const char* path, uint64_t max_memory, posy_filter** filter, posy_error* error) {
    return load(path, max_memory, filter, error);
}

posy_status posy_delta_make(const posy_filter* from, const posy_filter* to, posy_delta** delta,
                            posy_error* error) {
    return call(error, [&] {
        posy_delta*& made = place_for(delta, "delta");
        made = new posy_delta{*posy::make_delta(given(from, "from").body, given(to, "to").body)};
    });
}

void posy_delta_free(posy_delta* delta) { delete delta; }

posy_status posy_delta_apply(posy_filter* filter, const posy_delta* delta, posy_error* error) {
    return call(error, [&] { *posy::apply(given(filter, "filter").body, given(delta, "delta").body); });
}

posy_status posy_delta_to_bytes(const posy_delta* delta, int coding, void** bytes, size_t* size,
                                posy_error* error) {
    return to_bytes(delta, coding, bytes, size, error);
}

posy_status posy_delta_from_bytes(const void* bytes, size_t size, uint64_t max_memory, posy_delta** delta,
                                  posy_error* error) {
    return from_bytes(bytes, size, max_memory, delta, error);
}

posy_status posy_delta_save(const posy_delta* delta, const char* path, int coding, posy_error* error) {
    return save(delta, path, coding, error);
}

posy_status posy_delta_load(const char* path, uint64_t max_memory, posy_delta** delta, posy_error* error) {
    return load(path, max_memory, delta, error);
}
