// What is known of the peers: which of them mislead, and the figures of all.
#include <fmt/format.h>

#include "peers.hpp"

namespace posy::node {

void peers::was_there(peer& p) {
    ++p.hits;
    const std::lock_guard lock(p.judging);
    p.judged.hit();
}

void peers::was_not_there(peer& p, std::string_view key) {
    ++p.false_hits;
    const auto held = directory_.summary_of(p.address.name, here_.time.milliseconds());
    if (!held) return;  // it was asked for another reason
    const auto digest = hasher(hash_family::xxh3, {})(key);
    const std::lock_guard lock(p.judging);
    const auto before = p.judged.rests();
    p.judged.false_hit(digest.low, lookups_, held->false_positive_rate, here_.time.now());
    if (p.judged.rests() != before)
        how_.log->warning("peer {}: its summary misleads; it is not asked for a while", p.address.name);
}

bool peers::rests(const peer& p, bool absurd) const { return absurd || p.distrusted(here_.time.now()); }

std::vector<std::string> peers::resting() const {
    std::vector<std::string> names;
    for (const auto& p : all()) {
        const auto held = directory_.summary_of(p->address.name, here_.time.milliseconds());
        if (rests(*p, held && held->absurd())) names.push_back(p->address.name);
    }
    return names;
}

void peers::describe(metrics& m) const {
    const auto now = here_.time.milliseconds();
    for (const auto& p : all()) {
        const auto label = metrics::label("peer", p->address.name);
        m.gauge("posy_peer_up", "Whether the last question to the peer was answered", p->up, label);
        const auto count = [&](std::string_view kind, std::uint64_t value) {
            m.counter("posy_peer_answers_total", "Answers of the peer to /summary, by what they were",
                      static_cast<double>(value), label + "," + metrics::label("kind", kind));
        };
        count("whole", p->wholes);
        count("delta", p->changes);
        count("unchanged", p->unchanged);
        count("dropped", p->dropped);
        count("failed", p->failures);
        m.counter("posy_peer_hits_total", "Objects that the peer was asked for and had",
                  static_cast<double>(p->hits), label);
        m.counter("posy_peer_false_hits_total", "Objects that the peer's summary named and it did not have",
                  static_cast<double>(p->false_hits), label);
        m.gauge("posy_peer_delay_seconds", "Time to an answer, smoothed", p->delay, label);
        m.counter("posy_peer_decoding_seconds_total", "Time that the peer's messages took to decode",
                  p->decoding, label);
        m.counter("posy_peer_held_back_seconds_total",
                  "Time for which the peer was not asked because its last answers were expensive",
                  p->held_back, label);
        const auto held = directory_.summary_of(p->address.name, now);
        m.gauge("posy_peer_resting", "Whether the peer is not asked for keys because its summary misleads",
                rests(*p, held && held->absurd()), label);
        const std::lock_guard lock(p->judging);
        m.counter("posy_peer_rests_total",
                  "Times that the peer's false hits were more than its summary explains",
                  static_cast<double>(p->judged.rests()), label);
    }
    if (count_ == 0) return;
    const auto memory = directory_.memory_use();
    m.gauge("posy_peers_summary_bytes", "Memory of the summaries of all peers",
            static_cast<double>(memory.used));
    m.gauge("posy_peers_summary_limit_bytes", "The most that they may take",
            static_cast<double>(memory.budget));
    m.counter("posy_peers_evicted_total",
              "Summaries forgotten because other peers claimed their share of the memory",
              static_cast<double>(memory.evicted));
    for (const auto& s : directory_.summaries(now)) {
        const auto label = metrics::label("peer", s.peer);
        m.gauge("posy_peer_summary_age_seconds", "Since the peer last said what it holds",
                static_cast<double>(s.age) / 1000, label);
        if (s.generation)
            m.gauge("posy_peer_summary_generation", "The generation of the peer's set that we know",
                    static_cast<double>(*s.generation), label);
        m.gauge("posy_peer_summary_items", "Items that the peer's summary stands for",
                static_cast<double>(s.items.value_or(0)), label);
        m.gauge("posy_peer_summary_false_positive_rate", "Predicted from the bits of the summary",
                s.false_positive_rate, label);
        m.gauge("posy_peer_summary_bytes", "Memory of the peer's summary", static_cast<double>(s.bytes),
                label);
    }
}

}  // namespace posy::node
