// How requests were answered, and the figures of a proxy for /metrics and the page.
#include "proxy.hpp"

namespace posy::proxy {

std::string_view name_of(outcome o) {
    static constexpr auto names =
        std::to_array<std::string_view>({"hit", "stale", "revalidated", "sibling", "origin", "refused",
                                         "failed", "denied", "passed", "tunnel"});
    static_assert(names.size() == static_cast<std::size_t>(outcome::count_));
    return names[static_cast<std::size_t>(o)];
}

namespace {

// Where an answer came from; empty: that has no end to be timed (tunnels), or comes from elsewhere.
std::string_view source_of(outcome o, bool disk) {
    switch (o) {
        case outcome::hit:
        case outcome::stale:
            return disk ? "disk" : "memory";
        case outcome::sibling:
            return disk ? "" : "sibling";
        case outcome::revalidated:
        case outcome::origin:
        case outcome::passed:
            return disk ? "" : "origin";
        case outcome::refused:
        case outcome::failed:
        case outcome::denied:
            return disk ? "" : "none";
        case outcome::tunnel:
        case outcome::count_:
            break;
    }
    return "";
}

}  // namespace

void proxy::describe_durations(node::metrics& m) const {
    for (std::size_t i = 0; i < took_.size(); ++i) {
        const auto o = static_cast<outcome>(i / 2);
        const auto source = source_of(o, i % 2 == 1);
        if (source.empty() || (source == "disk" && !store_->has_disk())) continue;
        m.histogram(
            "posy_proxy_request_duration_seconds",
            "From the end of a request's head to the end of the answer, by how it was answered and "
            "where the answer came from",
            took_[i].read(),
            node::metrics::label("result", name_of(o)) + "," + node::metrics::label("source", source));
    }
}

void proxy::describe_rules(node::metrics& m) const {
    const auto book = terms_.get()->doors.book();
    if (!book) return;
    for (std::size_t place = 0; place <= book->rules().size(); ++place) {
        const auto rule = node::metrics::label("rule", place ? std::to_string(place) : "none");
        for (const auto each : members<ruling>) {
            if (place == 0 && each != ruling::deny) continue;
            m.counter(
                "posy_proxy_rule_total",
                "Requests by the rule that decided, from 1 in the order of --rule, and what became of them",
                static_cast<double>(book->counted(place, each)),
                rule + "," + node::metrics::label("decision", name_of(each)));
        }
    }
    const auto passwords = [&](std::string_view result, std::uint64_t n) {
        m.counter(
            "posy_proxy_passwords_total",
            "Passwords that were hashed to be checked, those of them that were wrong, and those refused "
            "because too many were under way",
            static_cast<double>(n), node::metrics::label("result", result));
    };
    passwords("checked", passwords_->checked());
    passwords("wrong", passwords_->found_wrong());
    passwords("refused", passwords_->refused());
}

void proxy::describe(node::metrics& m) const {
    describe_durations(m);
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
    describe_rules(m);
    m.counter("posy_proxy_sibling_failures_total", "Siblings that did not answer", number(sibling_failures_));
    m.counter("posy_proxy_collapsed_total", "Requests that waited for the fetch of another",
              number(collapsed_));
    m.counter("posy_proxy_access_log_lost_total", "Lines of the access log that could not be written",
              number(log_.lost()));
    for (std::size_t i = 0; i < outcome_bytes_.size(); ++i) {
        m.counter("posy_proxy_answer_bytes_total",
                  "Bytes of bodies sent to clients, by how they were answered", number(outcome_bytes_[i]),
                  node::metrics::label("result", name_of(static_cast<outcome>(i))));
    }
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
    const auto disk = store_->disk_counts();
    if (!disk) return;
    tier("disk", *disk);
    m.gauge("posy_cache_index_bytes", "Memory that the index of the disk takes", number(disk->entries));
    m.gauge("posy_cache_index_limit_bytes", "What it cannot exceed", number(store_->index_limit()));
    m.counter("posy_proxy_disk_full_evictions_total",
              "Responses dropped from the disk because its file system was full", number(disk->for_space));
    const auto failed = [&](std::string_view what, std::uint64_t n) {
        m.counter(
            "posy_proxy_disk_errors_total",
            "Responses that could not be written to the disk, or opened there for want of a descriptor, "
            "and files that were damaged",
            number(n), node::metrics::label("operation", what));
    };
    failed("write", disk->unwritten);
    failed("open", disk->unread);
    failed("read", disk_news_.damages());
}

}  // namespace posy::proxy
