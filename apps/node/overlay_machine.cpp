#include "overlay_machine.hpp"

#include <algorithm>
#include <stdexcept>

#include "address_book.hpp"
#include "posy/plan.hpp"

namespace posy::node {

std::unique_ptr<overlay_machine> make_machine(const options& how, node_id self, std::uint64_t now,
                                              std::uint64_t secret) {
    switch (how.overlay.kind) {
        case overlay_kind::none:
            break;
        case overlay_kind::mesh:
            return make_mesh(how, self, now, secret);
        case overlay_kind::groups:
            return make_groups(how, self, now, secret);
        case overlay_kind::tree:
            return make_tree(how, self, now, secret);
        case overlay_kind::attenuated:
            return make_attenuated(how, self, now, secret);
    }
    throw std::logic_error("no overlay is named");
}

std::vector<node_id> contacts_of(const options& how) {
    std::vector<node_id> numbers;
    for (const auto& each : how.overlay.contacts) numbers.push_back(node_at(each));
    return numbers;
}

geometry shared_geometry(const options& how, std::uint64_t items) {
    constexpr unsigned most_hashes = 16;
    // A whole filter, coded as positions, has to fit into one letter.
    constexpr std::uint64_t most_bits = std::uint64_t{1} << 25;
    std::optional<geometry> best;
    for (unsigned hashes = 1; hashes <= most_hashes; ++hashes) {
        const auto bits = smallest_bits(items, how.rate, hashes, layout_id::spread, how.hash);
        if (bits && (!best || *bits < best->bits))
            best = geometry{*bits, hashes, layout_id::spread, how.hash, how.seed};
    }
    if (!best || best->bits > most_bits)
        throw std::runtime_error(
            "--items and --fpr need a filter of more than 2^25 bits, which is too large for an overlay; give "
            "fewer items or a higher rate");
    return *best;
}

std::vector<overlay_answer> shown(const std::vector<overlay::lookup_answer>& answers) {
    std::vector<overlay_answer> all;
    for (const auto& each : answers) {
        overlay_answer one{each.id, {}, each.timed_out && !each.holder, each.hops, each.attempts, each.took};
        if (each.holder) one.holders.push_back({*each.holder, 0});
        all.push_back(std::move(one));
    }
    return all;
}

overlay::lookup_terms lookup_terms_of(const options& how) {
    constexpr unsigned attempts = 3;
    const auto time = static_cast<std::uint64_t>(how.overlay.lookup_time.count());
    return {.patience = std::max<std::uint64_t>(1, time / attempts), .attempts = attempts, .most = 10'000};
}

overlay::link_terms link_terms_of(const options& how, unsigned levels) {
    const auto beat = static_cast<std::uint64_t>(how.overlay.beat.count());
    overlay::link_terms terms;
    terms.geometry = shared_geometry(how, how.items);
    terms.levels = levels;
    terms.batch = std::clamp<std::uint64_t>(beat / 10, 10, 1000);
    terms.repeat = std::clamp<std::uint64_t>(beat, 500, 2000);
    return terms;
}

}  // namespace posy::node
