#include "posy/geometry.hpp"

#include <algorithm>
#include <array>

#include "hash/seed_text.hpp"
#include "layout/all.hpp"

namespace posy {
namespace {

// What the layouts say of themselves, as rows.
struct entry {
    layout_id id;
    std::string_view name;
    unsigned max_hashes;
    unsigned hash_step;
    std::uint64_t (*granule)(unsigned);
};
constexpr auto entries = []<class... Layout>(std::tuple<Layout...>*) {
    return std::array{
        entry{Layout::id, Layout::name, Layout::max_hashes, Layout::hash_step, Layout::granule}...};
}(static_cast<layouts::all*>(nullptr));

const entry* find(layout_id id) {
    const auto* found = std::ranges::find(entries, id, &entry::id);
    return found == entries.end() ? nullptr : found;
}

}  // namespace

std::string_view name_of(layout_id id) {
    const entry* found = find(id);
    return found ? found->name : "unknown";
}

std::optional<layout_id> layout_named(std::string_view name) {
    const auto* found = std::ranges::find(entries, name, &entry::name);
    if (found == entries.end()) return std::nullopt;
    return found->id;
}

std::span<const layout_id> layout_ids() {
    static constexpr auto ids = [] {
        std::array<layout_id, entries.size()> list{};
        std::ranges::transform(entries, list.begin(), &entry::id);
        return list;
    }();
    return ids;
}

result<void> check(const geometry& g) {
    const entry* layout = find(g.layout);
    if (!layout) return error{"unknown layout " + std::to_string(static_cast<unsigned>(g.layout))};
    const std::string name(layout->name);
    if (g.bits == 0 || g.bits > max_bits) {
        return error{"a filter of " + std::to_string(g.bits) + " bits; 1 to 2^40 are possible"};
    }
    if (g.hashes == 0 || g.hashes > layout->max_hashes) {
        return error{std::to_string(g.hashes) + " hashes; layout " + name + " takes 1 to " +
                     std::to_string(layout->max_hashes)};
    }
    if (g.hashes % layout->hash_step != 0) {
        return error{std::to_string(g.hashes) + " hashes; layout " + name + " takes an even number"};
    }
    if (const std::uint64_t granule = layout->granule(g.hashes); g.bits % granule != 0) {
        return error{"layout " + name + " needs a multiple of " + std::to_string(granule) + " bits, not " +
                     std::to_string(g.bits) + "; " +
                     std::to_string(round_up_bits(g.bits, g.hashes, g.layout)) + " would do"};
    }
    return check(hasher(g.hash, g.seed));
}

std::uint64_t round_up_bits(std::uint64_t bits, unsigned hashes, layout_id layout) {
    const entry* found = find(layout);
    const std::uint64_t granule = found && hashes > 0 ? found->granule(hashes) : 1;
    return bits > max_bits ? bits : (std::max<std::uint64_t>(bits, 1) + granule - 1) / granule * granule;
}

std::vector<std::uint64_t> positions_of(const geometry& g, digest d) {
    std::vector<std::uint64_t> all;
    layouts::with_layout(g, [&](const auto& layout) {
        return layout.positions(d, [&](std::uint64_t position) { return all.push_back(position), true; });
    });
    return all;
}

std::string difference(const geometry& a, const geometry& b) {
    std::string all;
    const auto note = [&](std::string_view what, const auto& left, const auto& right) {
        if (left == right) return;
        if (!all.empty()) all += ", ";
        all.append(what).append(" ").append(left).append(" and ").append(right);
    };
    note("bits", std::to_string(a.bits), std::to_string(b.bits));
    note("hashes", std::to_string(a.hashes), std::to_string(b.hashes));
    note("layout", std::string(name_of(a.layout)), std::string(name_of(b.layout)));
    note("hash", std::string(name_of(a.hash)), std::string(name_of(b.hash)));
    note("seed", hash::text_of(a.seed), hash::text_of(b.seed));
    return all;
}

error mismatch(const geometry& a, const geometry& b) {
    return {"the filters differ in " + difference(a, b) + "; only filters of one geometry go together"};
}

}  // namespace posy
