#include "posy/packet/multistage_filter.hpp"

#include "sketch/cells.hpp"
#include "sketch/row_hash.hpp"

namespace posy::packets {

using sketch::row_hash;

result<multistage_filter> multistage_filter::make(std::uint64_t width, unsigned stages, hash_seed seed) {
    if (stages == 0 || stages > max_stages)
        return error::invalid("a multistage filter has 1 to " + std::to_string(max_stages) + " stages");
    if (width == 0 || width > sketch::max_cells / stages)
        return error::invalid("a stage has at least one counter, and all stages at most 2^32");
    auto cells = sketch::make_cells(width * stages);
    if (!cells) return cells.error();
    return multistage_filter(width, stages, seed, std::move(*cells));
}

multistage_filter::multistage_filter(std::uint64_t width, unsigned stages, hash_seed seed, bit_array cells)
    : width_(width), stages_(stages), cells_(std::move(cells)) {
    for (unsigned stage = 0; stage < stages; ++stage) {
        const auto drawn = row_hash::draw(seed, stage);
        draws_.insert(draws_.end(), drawn.begin(), drawn.end());
    }
}

multistage_filter::places multistage_filter::of(digest d) const {
    places at;
    const std::span draws(draws_);
    for (unsigned stage = 0; stage < stages_; ++stage) {
        const row_hash hash(draws.subspan(stage * row_hash::draws).first<row_hash::draws>());
        at[stage] = static_cast<std::uint32_t>(stage * width_ + hash(d, width_));
    }
    return at;
}

std::uint32_t multistage_filter::least(const places& at) const {
    return sketch::const_cells(cells_).least(stages_, [&](unsigned stage) { return at[stage]; });
}

void multistage_filter::raise(const places& at, std::uint32_t to) {
    const sketch::cells cells(cells_);
    for (unsigned stage = 0; stage < stages_; ++stage)
        if (cells[at[stage]] < to) cells.set(at[stage], to);
}

void multistage_filter::clear() { cells_.clear(); }

}  // namespace posy::packets
