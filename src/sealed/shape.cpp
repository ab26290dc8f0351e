#include "sealed/shape.hpp"

#include <cmath>
#include <optional>
#include <string>

#include "base/varint.hpp"
#include "codec/packed_bits.hpp"

namespace posy::sealed {
namespace {

// A layer has this many keys per unknown. Less overload leaves unknowns unused, more sends more keys to the
// next layer: at 1.04 it is 0.15 % of the unknowns and 4 % of the keys.
constexpr double overload = 1.04;
// A chunk loses some 30 unknowns at its ends, so this costs 0.05 %.
constexpr std::uint64_t chunk_keys = 65'536;
// Seeds tried before the remainder gets more unknowns. At 1.6 % more unknowns than keys a third succeed.
constexpr std::uint64_t attempts_a_size = 8;

// How many of `count` are lean when a share of at least `extra` of them must not be.
std::uint64_t lean_of(std::uint64_t count, double extra) {
    const double rich = std::ceil(extra * static_cast<double>(count));
    return count - std::min(count, static_cast<std::uint64_t>(rich));
}

}  // namespace

bool is_rate(double rate) { return rate >= std::ldexp(1, -static_cast<int>(max_fingerprint)) && rate <= 1; }

// A computed rate misses its power of two by a rounding or two, and a single rich start would halve the rate
// of a small set: that close to a power is the power, unless that is 1.
mixture mixture_for(double rate) {
    constexpr double rounding = 1e-12;
    int exponent = 0;
    const double part = std::frexp(rate, &exponent);  // rate = part · 2^exponent, 1/2 <= part < 1
    if (part <= 0.5 + rounding) return {static_cast<unsigned>(1 - exponent), 0};
    if (part >= 1 - rounding && exponent < 0) return {static_cast<unsigned>(-exponent), 0};
    return {static_cast<unsigned>(-exponent), 2 * (1 - part)};
}

layer_shape layer_for(std::uint64_t keys, double extra) {
    layer_shape shape;
    shape.chunks = (keys + chunk_keys - 1) / chunk_keys;
    const double unknowns = static_cast<double>(keys) / overload / static_cast<double>(shape.chunks);
    shape.start_blocks = static_cast<std::uint64_t>(std::max(1.0, std::round(unknowns / window - 1)));
    const std::uint64_t lean = lean_of(shape.chunks * shape.start_blocks, extra);
    shape.lean = lean / shape.start_blocks * shape.chunk_blocks() + lean % shape.start_blocks;
    return shape;
}

remainder_shape remainder_for(std::uint64_t keys, double extra, std::uint64_t attempt) {
    remainder_shape shape;
    if (keys == 0) return shape;
    const std::uint64_t slack = keys > window ? (keys - window) / 64 : 0;
    const std::uint64_t growth = attempt / attempts_a_size * (1 + keys / 256);
    shape.unknowns = std::min(keys + slack + growth, max_remainder);
    shape.seed = attempt;
    shape.lean = lean_of(shape.starts(), extra);
    if (shape.lean == shape.starts()) shape.lean = shape.unknowns;
    return shape;
}

void header::put(std::vector<std::byte>& to) const {
    to.push_back(static_cast<std::byte>(columns.fingerprint));
    to.push_back(static_cast<std::byte>(columns.value));
    base::put_varint(to, items);
    to.push_back(static_cast<std::byte>(layers.size()));
    for (const layer_shape& layer : layers) {
        for (const std::uint64_t field : {layer.chunks, layer.start_blocks, layer.lean})
            base::put_varint(to, field);
    }
    base::put_varint(to, remainder.unknowns);
    if (remainder.unknowns == 0) return;
    base::put_varint(to, remainder.lean);
    base::put_varint(to, remainder.seed);
}

result<header> header::take(byte_view payload, std::uint64_t& behind) {
    byte_view rest = payload;
    std::optional<error> wrong;
    // The next number, from `least` to `most`, or the first thing that is wrong.
    const auto number = [&](const char* name, std::uint64_t least, std::uint64_t most) {
        const std::uint64_t at = payload.size() - rest.size();
        const auto value = base::take_varint(rest);
        if (wrong) return least;
        if (!value) {
            wrong = error::damaged(std::string("the payload ends in ") + name + "; it is cut off", at);
        } else if (*value < least || *value > most) {
            wrong = error::damaged(std::string(name) + " is " + std::to_string(*value) + ", not " +
                                       std::to_string(least) + " to " + std::to_string(most) +
                                       "; the payload is damaged or from another program",
                                   at);
        }
        return wrong ? least : *value;
    };
    header h;
    h.columns.fingerprint = static_cast<unsigned>(number("the fingerprint's size", 0, max_fingerprint));
    h.columns.value = static_cast<unsigned>(number("the value's size", 0, max_value_bits));
    h.items = number("the number of items", 0, max_items);
    h.layers.resize(number("the number of layers", 0, h.items == 0 ? 0 : max_layers));
    for (layer_shape& layer : h.layers) {
        layer.chunks = number("the number of chunks", 1, max_chunks);
        layer.start_blocks = number("the size of a chunk", 1, max_chunk_blocks - 1);
        layer.lean = number("the number of lean blocks", 0, layer.blocks());
    }
    remainder_shape& last = h.remainder;
    last.unknowns = number("the size of the remainder", h.items > 0 && h.layers.empty() ? 1 : 0,
                           h.items == 0 ? 0 : max_remainder);
    if (last.unknowns > 0) {
        last.lean = number("the number of lean unknowns", 0, last.unknowns);
        last.seed = number("the seed of the remainder", 0, ~std::uint64_t{0} >> 1);
    }
    if (wrong) return *wrong;
    behind = payload.size() - rest.size();
    return h;
}

arrangement::arrangement(const header& h, std::uint64_t header_bytes) : size(header_bytes) {
    for (const layer_shape& layer : h.layers) {
        thresholds.push_back(size);
        size += layer.threshold_bytes();
    }
    remainder = size;
    size += codec::bytes_of(h.remainder.table_bits(h.columns));
    for (const layer_shape& layer : h.layers) {
        tables.push_back(size);
        size += layer.table_bytes(h.columns);
    }
}

}  // namespace posy::sealed
