// How requests were answered, and the figures of a proxy for /metrics and the page.
#include "proxy.hpp"

namespace posy::proxy {

std::string_view name_of(outcome o) {
    static constexpr auto names = std::to_array<std::string_view>(
        {"hit", "stale", "revalidated", "sibling", "origin", "refused", "failed", "passed", "tunnel"});
    static_assert(names.size() == static_cast<std::size_t>(outcome::count_));
    return names[static_cast<std::size_t>(o)];
}

void proxy::describe(node::metrics& m) const {
    const auto number = [](std::uint64_t n) { return static_cast<double>(n); };
    for (std::size_t i = 0; i < outcomes_.size(); ++i) {
        m.counter("posy_proxy_requests_total", "Requests of clients, by how they were answered",
                  number(outcomes_[i]), node::metrics::label("result", name_of(static_cast<outcome>(i))));
    }
    const auto false_hit = [&](std::string_view cause, std::uint64_t n) {
        m.counter("posy_proxy_false_hits_total",
                  "Questions to siblings that did not have the object, by cause", number(n),
                  node::metrics::label("cause", cause));
    };
    false_hit("filter", false_by_filter_);
    false_hit("age", false_by_age_);
    m.counter("posy_proxy_sibling_failures_total", "Siblings that did not answer", number(sibling_failures_));
    m.counter("posy_proxy_collapsed_total", "Requests that waited for the fetch of another",
              number(collapsed_));
    m.counter("posy_proxy_sent_body_bytes_total", "Bytes of bodies sent to clients", number(body_bytes_));
    m.gauge("posy_cache_objects_bytes", "Bytes of objects: stored, on their way, or still being sent",
            number(store_->room()->used()));
    m.gauge("posy_cache_limit_bytes", "What these bytes cannot exceed", number(store_->room()->bytes()));
    m.counter("posy_proxy_unkept_total",
              "Answers that could be stored and were not: no memory was left, or they were too large",
              number(unkept_));
    const auto tier = [&](std::string_view name, const http_cache::store_counts& c) {
        const auto label = node::metrics::label("tier", name);
        m.gauge("posy_cache_bytes", "Bytes in the store", number(c.bytes), label);
        m.gauge("posy_cache_objects", "Responses in the store", number(c.objects), label);
        m.counter("posy_cache_evictions_total", "Responses dropped to make room", number(c.evictions), label);
    };
    tier("memory", store_->memory_counts());
    if (const auto disk = store_->disk_counts()) tier("disk", *disk);
}

}  // namespace posy::proxy
