// Sort the equations, then layer after layer: eliminate chunk by chunk, bump what does not fit, solve. Of the
// 100 ns that a key takes on a Zen 4, 25 are for sorting, 60 for elimination, 2 for solving (AVX-512; 10
// without), and the rest for fresh memory.
#include "sealed/build.hpp"

#include <algorithm>
#include <new>
#include <string>
#include <type_traits>
#include <vector>

#include "codec/packed_bits.hpp"
#include "sealed/band.hpp"
#include "sealed/each_index.hpp"
#include "sealed/shape.hpp"
#include "sealed/sorted_rows.hpp"

namespace posy::sealed {
namespace {

// After this many seeds without a solution for the remainder, the later ones with half as many unknowns
// again, the digests cannot be random.
constexpr std::uint64_t max_attempts = 512;

error not_random() {
    return error::invalid(
        "no system of equations for these digests can be solved; they are not random, hash the keys");
}

// More than any machine gains from; each costs a stack.
constexpr unsigned max_threads = 256;

// The bits of one layer, before it is known where in the payload they go.
struct solved_layer {
    layer_shape shape;
    std::vector<std::byte> thresholds;
    bit_array table;
};

template <class Row, std::size_t words>
class builder {
  public:
    builder(columns c, double extra, unsigned threads) : columns_(c), extra_(extra), threads_(threads) {
        for (unsigned j = 0; j < c.lean() + (extra > 0 ? 1 : 0); ++j)
            used_[j / 64] |= std::uint64_t{1} << j % 64;
    }

    result<built> from(sorted_rows<Row> distinct) const;

  private:
    right_side<words> right_of(const Row& r) const {
        const base::u128 bits = base::u128{r.place} << columns_.value | value_of(r);
        right_side<words> right;
        for (std::size_t w = 0; w < words; ++w) {
            right[w] = static_cast<std::uint64_t>(bits >> 64 * w) & used_[w];
        }
        return right;
    }
    result<solved_layer> solve_layer(std::span<const Row> rows, std::vector<Row>& bumped) const;
    void solve_chunk(solved_layer&, std::uint64_t chunk, std::span<const Row> rows,
                     std::vector<Row>& bumped) const;
    result<remainder_shape> solve_remainder(std::span<const Row> rows, std::vector<std::byte>& table) const;

    columns columns_;
    double extra_;
    unsigned threads_;
    right_side<words> used_{};  // columns that any key has
    kernels kernels_ = kernels::of(base::best_instruction_set());
};

// Buckets first to last, and in a bucket the rows that start last come first. So the rows that find no place
// are those that start first, where the bucket before has left the least room, and one number per bucket says
// which they are.
template <class Row, std::size_t words>
void builder<Row, words>::solve_chunk(solved_layer& layer, std::uint64_t chunk, std::span<const Row> rows,
                                      std::vector<Row>& bumped) const {
    const layer_shape& shape = layer.shape;
    band<words> equations;
    equations.reset(shape.chunk_blocks());
    std::byte* thresholds = layer.thresholds.data() + chunk * shape.chunk_threshold_bytes();
    std::vector<std::uint32_t> starts, slots;
    std::size_t first = 0;
    for (std::uint64_t bucket = 0; bucket < shape.buckets(); ++bucket) {
        const std::uint64_t begin = bucket * bucket_starts;
        starts.clear();
        slots.clear();
        std::size_t end = first;
        for (; end < rows.size(); ++end) {
            const std::uint64_t start = start_of(rows[end].place, shape.chunks, shape.starts()).start;
            if (start >= begin + bucket_starts) break;
            starts.push_back(static_cast<std::uint32_t>(start));
        }
        std::size_t next = end;
        for (; next > first; --next) {
            const Row& r = rows[next - 1];
            const std::uint32_t slot = equations.insert(starts[next - 1 - first], r.pattern | 1, right_of(r));
            if (slot == equations.contradiction) break;
            slots.push_back(slot);
        }
        if (next > first) {
            unsigned level = 1;
            while (starts[next - 1 - first] >= begin + bumped_starts[level]) ++level;
            const std::uint64_t threshold = begin + bumped_starts[level];
            std::size_t kept = first;
            for (; kept < end && starts[kept - first] < threshold; ++kept) {
                if (kept >= next) equations.remove(slots[end - 1 - kept]);
                bumped.push_back(rows[kept]);
            }
            thresholds[bucket / 4] |= static_cast<std::byte>(level << 2 * (bucket % 4));
        }
        first = end;
    }
    const std::uint64_t first_block = chunk * shape.chunk_blocks();
    equations.solve(
        kernels_, [&](std::uint64_t b) { return shape.columns_of(first_block + b, columns_); },
        [&](std::uint64_t b, const std::uint64_t* states) {
            auto* to = &layer.table.words()[shape.word_of(first_block + b, columns_)];
            for (unsigned j = 0; j < shape.columns_of(first_block + b, columns_); ++j) {
                to[j] = detail::little_endian(states[j]);
            }
        });
}

template <class Row, std::size_t words>
result<solved_layer> builder<Row, words>::solve_layer(std::span<const Row> rows,
                                                      std::vector<Row>& bumped) const {
    const layer_shape shape = layer_for(rows.size(), extra_);
    auto table = bit_array::make(8 * shape.table_bytes(columns_));
    if (!table) return table.error();
    solved_layer layer{shape, std::vector<std::byte>(shape.threshold_bytes()), std::move(*table)};
    std::vector<std::vector<Row>> bumped_of(shape.chunks);
    each_index(shape.chunks, threads_, [&](std::size_t chunk) {
        const auto from_chunk = [&](std::uint64_t number) {
            return std::ranges::partition_point(rows, [&](const Row& r) {
                return start_of(r.place, shape.chunks, shape.starts()).chunk < number;
            });
        };
        solve_chunk(layer, chunk, {from_chunk(chunk), from_chunk(chunk + 1)}, bumped_of[chunk]);
    });
    bumped.clear();
    for (const auto& some : bumped_of) bumped.insert(bumped.end(), some.begin(), some.end());
    return layer;
}

// The bits of the columns, column by column, the extra one from its first unknown on.
template <std::size_t words>
void put_table(const band<words>& equations, const kernels& k, const remainder_shape& shape, const columns& c,
               std::vector<std::byte>& to) {
    const unsigned all = c.lean() + 1;
    const std::uint64_t blocks = (shape.unknowns + 63) / 64;
    std::vector<std::uint64_t> solution(blocks * all);
    equations.solve(
        k, [&](std::uint64_t) { return all; },
        [&](std::uint64_t b, const std::uint64_t* states) { std::copy_n(states, all, &solution[b * all]); });
    codec::bit_writer out(to);
    for (unsigned j = 0; j < all; ++j) {
        for (std::uint64_t i = j < c.lean() ? 0 : shape.lean; i < shape.unknowns; ++i) {
            out.put(solution[i / 64 * all + j] >> i % 64 & 1, 1);
        }
    }
    out.finish();
}

template <class Row, std::size_t words>
result<remainder_shape> builder<Row, words>::solve_remainder(std::span<const Row> rows,
                                                             std::vector<std::byte>& table) const {
    band<words> equations;
    for (std::uint64_t attempt = 0; attempt < max_attempts; ++attempt) {
        const remainder_shape shape = remainder_for(rows.size(), extra_, attempt);
        if (shape.unknowns == 0) return shape;
        equations.reset((shape.unknowns + 63) / 64);
        const std::uint64_t used = ~std::uint64_t{0} >> (window - shape.width());
        const auto fits = [&](Row r) {
            advance(r, shape.seed);
            const std::uint64_t start = base::scale(r.place, shape.starts());
            return equations.insert(static_cast<std::uint32_t>(start), (r.pattern & used) | 1, right_of(r)) !=
                   equations.contradiction;
        };
        if (!std::ranges::all_of(rows, fits)) continue;
        put_table(equations, kernels_, shape, columns_, table);
        return shape;
    }
    return not_random();
}

template <class Row, std::size_t words>
result<built> builder<Row, words>::from(sorted_rows<Row> distinct) const {
    header h{columns_, distinct.rows().size(), {}, {}};
    std::vector<solved_layer> layers;
    while (distinct.rows().size() > small_set) {
        if (layers.size() == max_layers) return not_random();
        std::vector<Row> bumped;
        auto layer = solve_layer(distinct.rows(), bumped);
        if (!layer) return layer.error();
        h.layers.push_back(layer->shape);
        layers.push_back(std::move(*layer));
        distinct = sorted_rows<Row>(
            bumped.size(),
            [&](std::size_t i) {
                Row r = bumped[i];
                advance(r);
                return r;
            },
            threads_);
    }
    std::vector<std::byte> last;
    const auto remainder = solve_remainder(distinct.rows(), last);
    if (!remainder) return remainder.error();
    h.remainder = *remainder;

    std::vector<std::byte> front;
    h.put(front);
    const arrangement places(h, front.size());
    auto memory = bit_array::make(8 * places.size);
    if (!memory) return memory.error();
    const auto put = [&](std::uint64_t at, byte_view bytes) {
        std::ranges::copy(bytes, std::as_writable_bytes(memory->words()).subspan(at).begin());
    };
    put(0, front);
    put(places.remainder, last);
    for (std::size_t i = 0; i < layers.size(); ++i) {
        put(places.thresholds[i], layers[i].thresholds);
        put(places.tables[i], std::as_bytes(layers[i].table.words()));
    }
    return built{std::move(*memory), places.size};
}

template <class Row, class RowAt>
result<built> build_rows(std::size_t count, const RowAt& row_at, columns c, double extra, unsigned threads) {
    sorted_rows<Row> distinct(count, row_at, threads);
    if constexpr (std::is_same_v<Row, valued_row>) {
        const auto rows = distinct.rows();
        const auto same_key = [](const row& a, const row& b) { return a == b; };
        if (const auto two = std::ranges::adjacent_find(rows, same_key); two != rows.end()) {
            return error::invalid("one key has two values, " + std::to_string(two[0].value) + " and " +
                                  std::to_string(two[1].value) + "; give each key one value");
        }
    }
    if (c.lean() + 1 <= 64) return builder<Row, 1>(c, extra, threads).from(std::move(distinct));
    return builder<Row, 2>(c, extra, threads).from(std::move(distinct));
}

}  // namespace

result<built> build(std::span<const digest> digests, std::span<const std::uint64_t> values,
                    unsigned value_bits, double rate, unsigned threads) {
    if (!is_rate(rate)) {
        return error::invalid("a rate of " + std::to_string(rate) + " cannot be had; ask for 2^-32 to 1");
    }
    if (digests.size() > max_items) return error::too_large("more than 2^40 keys; split the set");
    const auto [fingerprint, extra] = mixture_for(rate);
    const columns c{value_bits, fingerprint};
    threads = std::clamp(threads, 1u, max_threads);
    try {
        if (value_bits == 0) {
            return build_rows<row>(
                digests.size(), [&](std::size_t i) { return first_row(digests[i]); }, c, extra, threads);
        }
        return build_rows<valued_row>(
            digests.size(),
            [&](std::size_t i) {
                return valued_row{first_row(digests[i]), values[i]};
            },
            c, extra, threads);
    } catch (const std::bad_alloc&) {
        return error::too_large("no memory to seal " + std::to_string(digests.size()) +
                                " keys; split the set");
    }
}

}  // namespace posy::sealed
