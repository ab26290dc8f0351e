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
    unsigned max_hashes;
    unsigned hash_step;
    std::uint64_t (*granule)(unsigned);
};
constexpr auto entries = []<class... Layout>(std::tuple<Layout...>*) {
    return std::array{entry{Layout::id, Layout::max_hashes, Layout::hash_step, Layout::granule}...};
}(static_cast<layouts::all*>(nullptr));

const entry* find(layout_id id) {
    const auto* found = std::ranges::find(entries, id, &entry::id);
    return found == entries.end() ? nullptr : found;
}

}  // namespace

result<void> check(const geometry& g) {
    const entry* layout = find(g.layout);
    if (!layout)
        return error::unsupported("unknown layout " + std::to_string(static_cast<unsigned>(g.layout)));
    const std::string name(name_of(g.layout));
    if (g.bits == 0 || g.bits > max_bits) {
        return error::invalid("a filter of " + std::to_string(g.bits) + " bits; 1 to 2^40 are possible");
    }
    if (g.hashes == 0 || g.hashes > layout->max_hashes) {
        return error::invalid(std::to_string(g.hashes) + " hashes; layout " + name + " takes 1 to " +
                              std::to_string(layout->max_hashes));
    }
    if (g.hashes % layout->hash_step != 0) {
        return error::invalid(std::to_string(g.hashes) + " hashes; layout " + name + " takes an even number");
    }
    if (const std::uint64_t granule = layout->granule(g.hashes); g.bits % granule != 0) {
        return error::invalid("layout " + name + " needs a multiple of " + std::to_string(granule) +
                              " bits, not " + std::to_string(g.bits) + "; " +
                              std::to_string(round_up_bits(g.bits, g.hashes, g.layout)) + " would do");
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
    const auto secret = [](const geometry& g) { return g.hash == hash_family::siphash; };
    if (!secret(a) && !secret(b))
        note("seed", hash::text_of(a.seed), hash::text_of(b.seed));
    else if (a.seed != b.seed)  // an error is read by others than those who may read the filters
        all += std::string(all.empty() ? "" : ", ") + "seed (that of siphash is a secret, and not shown)";
    return all;
}

error mismatch(const geometry& a, const geometry& b) {
    return error::mismatch("the filters differ in " + difference(a, b) +
                           "; only filters of one geometry go together: build them with the same options");
}

}  // namespace posy
