#include "sealed/ribbon.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "codec/packed_bits.hpp"
#include "sealed/equation.hpp"

namespace posy::sealed {
namespace {

error damaged(const std::string& what, std::uint64_t at) {
    return error::damaged(what + "; the payload is damaged or from another program", at);
}

// How many starts of a bucket are bumped.
unsigned bumped_in(const std::byte* chunk_thresholds, std::uint64_t bucket) {
    return bumped_starts[std::to_integer<unsigned>(chunk_thresholds[bucket / 4]) >> 2 * (bucket % 4) & 3];
}

}  // namespace

result<ribbon> ribbon::open(std::shared_ptr<const void> keep_alive, byte_view payload,
                            base::instruction_set set) {
    std::uint64_t at = 0;
    auto taken = header::take(payload, at);
    if (!taken) return taken.error();
    ribbon it;
    it.header_ = std::move(*taken);
    it.payload_ = payload;
    it.keep_alive_ = std::move(keep_alive);
    it.kernels_ = kernels::of(set);
    const header& h = it.header_;
    const arrangement places(h, at);
    if (places.size != payload.size()) {
        return damaged("a payload of " + std::to_string(payload.size()) +
                           " bytes where its header asks for " + std::to_string(places.size),
                       at);
    }
    const std::byte* base = payload.data();
    for (std::size_t i = 0; i < h.layers.size(); ++i) {
        const layer_shape& shape = h.layers[i];
        for (std::uint64_t chunk = 0; chunk < shape.chunks; ++chunk) {
            const std::uint64_t first = places.thresholds[i] + chunk * shape.chunk_threshold_bytes();
            if (!codec::ends_in_zeros(base + first, 2 * shape.buckets())) {
                return damaged("a threshold behind the last bucket", first + shape.buckets() / 4);
            }
        }
        it.layers_.push_back({shape, base + places.thresholds[i], base + places.tables[i]});
    }

    // The remainder is small. It is unpacked into blocks like those of a layer, followed by a block of zeros,
    // and queried like a layer.
    const remainder_shape& last = h.remainder;
    if (last.unknowns > 0) {
        const std::byte* packed = base + places.remainder;
        if (!codec::ends_in_zeros(packed, last.table_bits(h.columns))) {
            return damaged("bits behind the remainder", places.remainder + last.table_bits(h.columns) / 8);
        }
        const unsigned all = h.columns.lean() + 1;
        it.remainder_.resize(((last.unknowns + 63) / 64 + 1) * all);
        std::uint64_t bit = 0;
        for (unsigned j = 0; j < all; ++j) {
            for (std::uint64_t i = j < h.columns.lean() ? 0 : last.lean; i < last.unknowns; ++i, ++bit) {
                const auto one = std::to_integer<std::uint64_t>(packed[bit / 8]) >> bit % 8 & 1;
                it.remainder_[i / 64 * all + j] |= one << i % 64;
            }
        }
        for (std::uint64_t& word : it.remainder_) word = detail::little_endian(word);
    }
    it.rate_ = it.expected_rate();
    return it;
}

ribbon::equation ribbon::locate(digest d) const {
    const columns& c = header_.columns;
    row r = first_row(d);
    const auto equation_at = [&](const std::byte* first, unsigned block_columns, std::uint64_t start,
                                 std::uint64_t coefficients, bool extra) {
        const auto offset = static_cast<unsigned>(start % window);
        const unsigned bits = c.fingerprint + (extra ? 1 : 0);
        return equation{.first = first,
                        .second = first + std::size_t{8} * block_columns,
                        .low = coefficients << offset,
                        .high = coefficients >> 1 >> (63 - offset),
                        .fingerprint = codec::low_bits(r.place, bits),
                        .fingerprint_bits = bits};
    };
    for (const layer& l : layers_) {
        const layer_shape& shape = l.shape;
        const auto [chunk, start] = start_of(r.place, shape.chunks, shape.starts());
        if (start % bucket_starts >=
            bumped_in(l.thresholds + chunk * shape.chunk_threshold_bytes(), start / bucket_starts)) {
            const std::uint64_t block = chunk * shape.chunk_blocks() + start / window;
            return equation_at(l.table + 8 * shape.word_of(block, c), shape.columns_of(block, c), start,
                               r.pattern | 1, block >= shape.lean);
        }
        advance(r);
    }
    const remainder_shape& last = header_.remainder;
    if (last.unknowns == 0) return {};
    advance(r, last.seed);
    const std::uint64_t start = base::scale(r.place, last.starts());
    const std::uint64_t used = ~std::uint64_t{0} >> (window - last.width());
    const unsigned all = c.lean() + 1;
    return equation_at(reinterpret_cast<const std::byte*>(&remainder_[start / window * all]), all, start,
                       (r.pattern & used) | 1, start >= last.lean);
}

// Every start of a layer is equally likely; those below the threshold of their bucket go on to the next.
double ribbon::expected_rate() const {
    double reached = 1, rate = 0;
    const double lean_rate = std::ldexp(1, -static_cast<int>(header_.columns.fingerprint));
    const auto take = [&](double lean, double extra, double all) {
        rate += reached * (lean + extra / 2) / all * lean_rate;
        reached *= 1 - (lean + extra) / all;
    };
    for (const layer& l : layers_) {
        const layer_shape& shape = l.shape;
        std::uint64_t lean = 0, extra = 0;
        for (std::uint64_t chunk = 0; chunk < shape.chunks; ++chunk) {
            const std::byte* thresholds = l.thresholds + chunk * shape.chunk_threshold_bytes();
            const std::uint64_t first_block = chunk * shape.chunk_blocks();
            const std::uint64_t lean_starts =
                shape.lean > first_block ? (shape.lean - first_block) * window : 0;
            for (std::uint64_t bucket = 0; bucket < shape.buckets(); ++bucket) {
                const std::uint64_t end = std::min((bucket + 1) * bucket_starts, shape.starts());
                const std::uint64_t begin =
                    std::min(bucket * bucket_starts + bumped_in(thresholds, bucket), end);
                const std::uint64_t middle = std::clamp(lean_starts, begin, end);
                lean += middle - begin;
                extra += end - middle;
            }
        }
        take(static_cast<double>(lean), static_cast<double>(extra),
             static_cast<double>(shape.chunks * shape.starts()));
    }
    if (const remainder_shape& last = header_.remainder; last.unknowns > 0) {
        const std::uint64_t lean = std::min(last.lean, last.starts());
        take(static_cast<double>(lean), static_cast<double>(last.starts() - lean),
             static_cast<double>(last.starts()));
    }
    return rate;
}

}  // namespace posy::sealed
