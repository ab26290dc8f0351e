#include "posy/bloomier_map.hpp"

#include <algorithm>
#include <cassert>
#include <string>

#include "sealed/build.hpp"
#include "sealed/ribbon.hpp"

namespace posy {

result<bloomier_map> bloomier_map::make(hasher hash, std::span<const digest> digests,
                                        std::span<const std::uint64_t> values, bloomier_options options) {
    const unsigned bits = options.value_bits;
    if (digests.size() != values.size()) {
        return error::invalid(std::to_string(digests.size()) + " keys but " + std::to_string(values.size()) +
                              " values; give each key a value");
    }
    if (bits == 0 || bits > sealed::max_value_bits) {
        return error::invalid("values of " + std::to_string(bits) + " bits; they can have 1 to 64");
    }
    const std::uint64_t largest = ~std::uint64_t{0} >> (64 - bits);
    const auto large = std::ranges::find_if(values, [&](std::uint64_t v) { return v > largest; });
    if (large != values.end()) {
        return error::invalid("value " + std::to_string(*large) + " does not fit into " +
                              std::to_string(bits) + " bits; ask for more");
    }
    auto made = sealed::build(digests, values, bits, options.rate, options.threads);
    if (!made) return made.error();
    const byte_view payload = made->bytes();
    return open(hash, std::make_shared<const sealed::built>(std::move(*made)), payload);
}

result<bloomier_map> bloomier_map::open(hasher hash, std::shared_ptr<const void> keep_alive,
                                        byte_view payload) {
    auto opened = sealed::ribbon::open(std::move(keep_alive), payload);
    if (!opened) return opened.error();
    if (opened->value_bits() == 0)
        return error::damaged("this is a filter, without values; open it as one", 1);
    return bloomier_map(hash, std::make_shared<const sealed::ribbon>(std::move(*opened)));
}

std::uint64_t bloomier_map::items() const { return map_->items(); }
double bloomier_map::false_positive_rate() const { return map_->rate(); }
byte_view bloomier_map::bytes() const { return map_->bytes(); }
unsigned bloomier_map::value_bits() const { return map_->value_bits(); }
std::optional<std::uint64_t> bloomier_map::find(digest d) const { return map_->find(d); }

std::size_t bloomier_map::find(std::span<const digest> digests,
                               std::span<std::optional<std::uint64_t>> answers) const {
    assert(digests.size() == answers.size());
    std::size_t found = 0;
    map_->each_found(digests, [&](std::size_t i, std::optional<std::uint64_t> answer) {
        found += answer.has_value();
        answers[i] = answer;
    });
    return found;
}

}  // namespace posy
