// The figures of a node, for /metrics and the page.
#include "http/elsewhere.hpp"
#include "node.hpp"

namespace posy::node {

namespace {
double number(std::uint64_t n) { return static_cast<double>(n); }
}  // namespace

// Some of them are taken under the lock of the set, which a publication holds for as long as it takes.
http::task<metrics> node::collected(http::worker& here) {
    co_return co_await http::elsewhere(here.context, telling_, [this] { return collect(); });
}

metrics node::collect() const {
    metrics m;
    m.gauge("posy_info", "What runs here", 1,
            metrics::label("name", how_.name) + "," + metrics::label("version", POSY_VERSION) + "," +
                metrics::label("sharing", name_of(how_.sharing)));
    m.gauge("posy_last_reload_ok", "Whether the last reload of the settings worked; 1 before the first",
            reloaded_ ? 1 : 0);
    m.gauge("posy_uptime_seconds", "Since the start",
            std::chrono::duration<double>(time_.now() - started_).count());
    describe(set_.describe(), m);
    describe(traffic_, m);
    describe(server_, m);
    describe_durations(m);
    peers_.describe(m);
    if (overlay_) overlay_->describe(m);
    if (check_) check_->describe(m);
    if (describe_more) describe_more(m);
    return m;
}

// A path that was not asked for has none; a summary that is waited for takes as long as that.
void node::describe_durations(metrics& m) const {
    for (const auto& [path, took] : took_) {
        const auto now = took.read();
        if (now.count() == 0) continue;
        m.histogram("posy_request_duration_seconds",
                    "From the end of a request's head to the end of the answer, for paths of the node", now,
                    metrics::label("path", path));
    }
}

void node::describe(const local_set::facts& set, metrics& m) {
    m.gauge("posy_set_items", "Keys in the local set", number(set.items));
    m.gauge("posy_set_generation", "The generation of the local set that peers are told of",
            number(set.generation));
    m.gauge("posy_set_bits", "Size of the local filter", number(set.bits));
    m.gauge("posy_set_hashes", "Hashes of the local filter", set.hashes);
    m.gauge("posy_set_fill", "Share of the filter's bits that are set", set.fill);
    m.gauge("posy_set_false_positive_rate", "Predicted from the bits of the local filter", set.rate);
    m.gauge("posy_set_saturated_counters", "Counters that have stuck", number(set.saturated));
    m.counter("posy_set_rebuilt_total", "Times that the set outgrew its filter", number(set.rebuilt));
    m.counter("posy_set_rehashed_total", "Times that the filter was built anew with another seed",
              number(set.rehashed));
}

void node::describe(const traffic& sent, metrics& m) {
    const auto bytes = [&](std::string_view kind, std::uint64_t n) {
        m.counter("posy_summary_sent_bytes_total", "Bytes sent to keep summaries up to date, by kind",
                  number(n), metrics::label("kind", kind));
    };
    bytes("whole", sent.whole);
    bytes("delta", sent.changes);
    bytes("squid", sent.squid);
    bytes("question", sent.questions);
    bytes("hint", sent.hints);
    bytes("framing", sent.framing);
}

void node::describe(const http::server& server, metrics& m) {
    const auto& edge = server.counts();
    m.gauge("posy_connections", "Open connections", number(server.open_connections()));
    m.counter("posy_connections_total", "Connections accepted", number(edge.connections));
    m.counter("posy_requests_total", "Requests, of all kinds", number(edge.requests));
    const auto refused = [&](std::string_view why, std::uint64_t n) {
        m.counter("posy_refused_total", "Connections and requests that were refused, by reason", number(n),
                  metrics::label("why", why));
    };
    refused("malformed", edge.malformed);
    refused("too_many", edge.too_many);
    refused("too_slow", edge.too_slow);
    refused("forbidden", edge.forbidden);
    refused("rule", edge.ruled);
    refused("tls", edge.tls);
    refused("made_room", edge.made_room);
    refused("failed", edge.failed);
    const auto shortage = [&](std::string_view what, std::uint64_t n) {
        m.counter("posy_out_of_descriptors_total",
                  "Connections that could not be accepted or opened for want of a descriptor", number(n),
                  metrics::label("operation", what));
    };
    shortage("accept", edge.not_accepted);
    shortage("connect", edge.not_connected);
    const auto& names = server.workers().front()->client.names();
    const auto& looked_up = names.counted();
    m.gauge("posy_names_under_way", "Names that name servers are being asked for", number(names.under_way()));
    const auto name = [&](std::string_view result, std::uint64_t n) {
        m.counter("posy_names_total",
                  "Names of servers that were needed, by what became of them: known, asked, "
                  "failed (of those asked, no name server answered) or refused (too many under way)",
                  number(n), metrics::label("result", result));
    };
    name("known", looked_up.known);
    name("asked", looked_up.asked);
    name("failed", looked_up.failed);
    name("refused", looked_up.refused);
}

}  // namespace posy::node
