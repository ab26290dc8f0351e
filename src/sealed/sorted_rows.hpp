// Rows in the order of their places, each key once.
//
// One pass deals them to up to 4096 partitions by the leading bits of their place, about as many as the
// second TLB has room for; each then fits into a core's cache, where a second pass, to about one row per bin,
// nearly finishes the sort. The order is that of the rows themselves, so the result depends neither on the
// order of the input nor on the number of threads. Time: O(n) for random rows, O(n log n) for any. Memory:
// the rows once, and a partition per thread.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "sealed/each_index.hpp"
#include "sealed/equation.hpp"

namespace posy::sealed {

template <class Row>
class sorted_rows {
  public:
    // The rows row_at(0) … row_at(count − 1).
    template <class Source>
    sorted_rows(std::size_t count, const Source& row_at, unsigned threads);

    std::span<const Row> rows() const { return {rows_.get(), size_}; }

  private:
    static constexpr std::size_t partition_rows = 8192;
    static constexpr unsigned max_partition_bits = 12;
    static constexpr unsigned max_bin_bits = 18;  // a partition of one key repeated needs no more bins

    static std::size_t leading(std::uint64_t place, unsigned bits) {
        return bits == 0 ? 0 : static_cast<std::size_t>(place >> (64 - bits));
    }
    static std::size_t sort_distinct(std::span<Row> rows, unsigned known_bits);

    std::unique_ptr<Row[]> rows_;
    std::size_t size_ = 0;
};

// Sorts and drops repeated rows; returns how many are left. `known_bits` leading bits of the places are
// equal.
template <class Row>
std::size_t sorted_rows<Row>::sort_distinct(std::span<Row> rows, unsigned known_bits) {
    if (rows.empty()) return 0;
    const auto bin_bits = std::min(max_bin_bits, static_cast<unsigned>(std::bit_width(rows.size() - 1)));
    const auto bin_of = [&](const Row& r) { return leading(r.place << known_bits, bin_bits); };
    std::vector<std::size_t> ends((std::size_t{1} << bin_bits) + 1);
    for (const Row& r : rows) ++ends[bin_of(r) + 1];
    for (std::size_t bin = 1; bin < ends.size(); ++bin) ends[bin] += ends[bin - 1];
    const auto scratch = std::make_unique_for_overwrite<Row[]>(rows.size());
    for (const Row& r : rows) scratch[ends[bin_of(r)]++] = r;  // ends[bin] was its start, becomes its end
    std::size_t first = 0, kept = 0;
    for (std::size_t bin = 0; first < rows.size(); ++bin) {
        const std::size_t last = ends[bin];
        if (last - first > 1) std::sort(scratch.get() + first, scratch.get() + last);
        for (; first < last; ++first) {
            if (kept == 0 || rows[kept - 1] != scratch[first]) rows[kept++] = scratch[first];
        }
    }
    return kept;
}

template <class Row>
template <class Source>
sorted_rows<Row>::sorted_rows(std::size_t count, const Source& row_at, unsigned threads)
    : rows_(std::make_unique_for_overwrite<Row[]>(count)) {
    const auto partition_bits =
        std::min(max_partition_bits, static_cast<unsigned>(std::bit_width(count / partition_rows)));
    const std::size_t partitions = std::size_t{1} << partition_bits;
    // Each thread deals a slice of the input; ends[slice][partition] is where its next row there goes.
    const std::size_t slices = std::max<std::size_t>(1, std::min<std::size_t>(threads, count / 4096));
    std::vector<std::vector<std::size_t>> ends(slices, std::vector<std::size_t>(partitions));
    const auto each_row = [&](std::size_t slice, auto use) {
        const std::size_t from = count / slices * slice;
        const std::size_t to = slice + 1 == slices ? count : count / slices * (slice + 1);
        for (std::size_t i = from; i < to; ++i) use(row_at(i));
    };
    each_index(slices, threads, [&](std::size_t slice) {
        each_row(slice, [&](const Row& r) { ++ends[slice][leading(r.place, partition_bits)]; });
    });
    std::vector<std::size_t> starts(partitions + 1);
    std::size_t next = 0;
    for (std::size_t p = 0; p < partitions; ++p) {
        starts[p] = next;
        for (auto& slice : ends) next += std::exchange(slice[p], next);
    }
    starts[partitions] = next;
    each_index(slices, threads, [&](std::size_t slice) {
        each_row(slice, [&](const Row& r) { rows_[ends[slice][leading(r.place, partition_bits)]++] = r; });
    });

    std::vector<std::size_t> kept(partitions);
    each_index(partitions, threads, [&](std::size_t p) {
        kept[p] = sort_distinct({rows_.get() + starts[p], starts[p + 1] - starts[p]}, partition_bits);
    });
    for (std::size_t p = 0; p < partitions; ++p) {
        if (size_ != starts[p]) std::copy_n(rows_.get() + starts[p], kept[p], rows_.get() + size_);
        size_ += kept[p];
    }
}

}  // namespace posy::sealed
