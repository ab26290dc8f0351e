#include "posy/filter.hpp"

#include "typed/fast_plan.hpp"

namespace posy::typed {
namespace {

std::string type_of(layout_id layout, unsigned hashes) {
    std::string type = "posy::filter<Key";
    if (layout != layout_id::blocked || hashes != 0)
        type += ", posy::layout_id::" + std::string(name_of(layout));
    if (hashes != 0) type += ", " + std::to_string(hashes);
    return type + ">";
}

}  // namespace

result<bloom_filter> make_filter(std::uint64_t items, double rate, layout_id layout, unsigned hashes,
                                 const std::optional<hasher>& hash) {
    wishes want{.items = items, .rate = rate, .layout = layout};
    if (hash) want.hash = hash->family();
    if (hashes != 0) want.hashes = hashes;
    const auto chosen = choose_fast(want);
    if (!chosen) return chosen.error();
    auto made = bloom_filter::make(geometry_of(*chosen, hash));
    if (made) made->set_planned(chosen->promise());
    return made;
}

result<void> check_shape(const geometry& g, layout_id layout, unsigned hashes) {
    if (g.layout == layout && (hashes == 0 || g.hashes == hashes)) return {};
    return error::mismatch("a filter of layout " + std::string(name_of(g.layout)) + " with " +
                           std::to_string(g.hashes) + " hashes is no " + type_of(layout, hashes) +
                           "; its type is " + type_of(g.layout, hashes == 0 ? 0 : g.hashes));
}

}  // namespace posy::typed
