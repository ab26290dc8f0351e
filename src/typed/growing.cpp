#include "posy/typed/growing.hpp"

namespace posy::typed {

blank<growing_filter> blank<growing_filter>::of(const growing_filter& f) {
    const geometry& first = f.arrays().front().geometry();
    growing_filter::options like{
        .rate = f.promised_rate(), .layout = first.layout, .hashes = first.hashes, .hash = f.hash()};
    if (!f.shrunk()) like.first_bytes = first.bits / 8;
    return {like};
}

result<growing_filter> make_growing(double rate, const std::optional<hasher>& hash) {
    const auto chosen = hasher_for(hash, many_keys, rate);
    if (!chosen) return chosen.error();
    return growing_filter::make({.rate = rate, .hash = *chosen});
}

}  // namespace posy::typed
