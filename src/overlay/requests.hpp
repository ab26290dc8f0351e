// Requests that travel from node to node, and their answers, which go straight to the node that asked.
#pragma once

#include "base/mix.hpp"
#include "posy/overlay/lookup_table.hpp"
#include "wire.hpp"

namespace posy::overlay {

inline void put(std::vector<std::byte>& to, const lookup_request& r) {
    base::put_little(to, r.id);
    base::put_little(to, r.hops);
    base::put_little(to, r.origin);
    put(to, r.key);
}
inline lookup_request take_lookup(base::reader& from) {
    lookup_request r;
    r.id = from.number<std::uint32_t>();
    r.hops = from.number<std::uint16_t>();
    r.origin = from.number<node_id>();
    r.key = take_digest(from);
    return r;
}

// The order in which neighbours are tried: another for each object, so that none bears the others' errors.
inline std::uint64_t rank(const digest& key, node_id neighbour) {
    return base::mix(key.high ^ base::mix(neighbour));
}

// This node has the object, or nobody has; `own` are its own lookups.
template <class Kind>
void answer(const lookup_request& r, bool found, node_id me, lookup_table& own, std::uint64_t now,
            outbox& out) {
    if (r.origin == me) {
        own.answer(r.id, r.key, found ? std::optional(me) : std::nullopt, r.hops, now);
        return;
    }
    auto message = begin_message(found ? Kind::found : Kind::absent);
    base::put_little(message, r.id);
    base::put_little(message, r.hops);
    put(message, r.key);
    out.push_back({r.origin, std::move(message)});
}

template <class Counters>
void take_answer(node_id from, byte_view body, bool found, lookup_table& own, std::uint64_t now,
                 Counters& counted) {
    base::reader read(body);
    const auto id = read.number<std::uint32_t>();
    const auto hops = read.number<std::uint16_t>();
    const digest key = take_digest(read);
    if (read.finish()) return void(++counted.damaged);
    if (!own.answer(id, key, found ? std::optional(from) : std::nullopt, hops, now)) ++counted.strangers;
}

}  // namespace posy::overlay
