#include "posy/count_min.hpp"

#include <array>
#include <cassert>
#include <cmath>

#include "base/reader.hpp"
#include "base/saturate.hpp"
#include "cell_code.hpp"
#include "cells.hpp"
#include "posy/theory.hpp"
#include "row_positions.hpp"

namespace posy {
namespace {

using sketch::block_keys;
using sketch::row_hash;

result<void> check(const hasher& hash, std::uint64_t width, unsigned depth, update_rule rule) {
    if (auto valid = check(hash); !valid) return valid;
    if (!is_member(rule))
        return error::unsupported("unknown update rule " + std::to_string(static_cast<unsigned>(rule)));
    if (depth == 0 || depth > count_min::max_depth)
        return error::invalid(std::to_string(depth) + " rows; 1 to 32 are possible");
    if (width == 0 || width > count_min::max_counters / depth)
        return error::invalid("rows of " + std::to_string(width) +
                              " counters; 1 to 2^32 / depth are possible");
    return {};
}

}  // namespace

count_min::count_min(hasher hash, std::uint64_t width, unsigned depth, update_rule rule,
                     posy::counter_width counters, bit_array cells)
    : hash_(hash),
      width_(width),
      depth_(depth),
      rule_(rule),
      counter_width_(counters),
      cells_(std::move(cells)) {
    for (unsigned row = 0; row < depth; ++row) {
        const auto drawn = row_hash::draw(hash.seed(), row);
        rows_.insert(rows_.end(), drawn.begin(), drawn.end());
    }
}

struct count_min::row_list {
    std::array<std::uint64_t, max_depth> position;
    std::uint64_t operator()(unsigned row) const { return position[row]; }
};

count_min::row_list count_min::positions(digest d) const {
    const std::span rows(rows_);
    row_list at;
    for (unsigned row = 0; row < depth_; ++row) {
        const row_hash in_row(rows.subspan(row * row_hash::draws).first<row_hash::draws>());
        at.position[row] = row * width_ + in_row(d, width_);
    }
    return at;
}

void count_min::count(std::uint64_t weight) { total_ = saturating_sum(total_, weight); }

std::uint64_t count_min::counter(std::uint64_t i) const {
    return sketch::with_cells(cells_, counter_width_,
                              [&](const auto& cells) -> std::uint64_t { return cells[i]; });
}

std::uint64_t count_min::add(digest d, std::uint64_t weight) {
    count(weight);
    return sketch::with_cells(cells_, counter_width_, [&](const auto& cells) -> std::uint64_t {
        return cells.count(rule_, depth_, positions(d), weight);
    });
}

std::uint64_t count_min::estimate(digest d) const {
    return sketch::with_cells(cells_, counter_width_, [&](const auto& cells) -> std::uint64_t {
        return cells.least(depth_, positions(d));
    });
}

result<count_min> count_min::make(hasher hash, std::uint64_t width, unsigned depth, update_rule rule,
                                  posy::counter_width counters) {
    if (auto valid = check(hash, width, depth, rule); !valid) return valid.error();
    auto cells = sketch::make_cells(width * depth, counters);
    if (!cells) return cells.error();
    return count_min(hash, width, depth, rule, counters, std::move(*cells));
}

result<count_min> count_min::with_guarantee(hasher hash, double epsilon, double delta, update_rule rule,
                                            posy::counter_width counters) {
    if (!(epsilon > 0 && epsilon < 1 && delta > 0 && delta < 1))
        return error::invalid("epsilon and delta must lie between 0 and 1");
    const double width = theory::count_min_width(epsilon), depth = theory::count_min_depth(delta);
    if (width * depth > static_cast<double>(count_min::max_counters) || depth > max_depth)
        return error::invalid("no table keeps an epsilon of " + std::to_string(epsilon) + " and a delta of " +
                              std::to_string(delta) +
                              "; a table has at most 2^32 counters in at most 32 rows");
    return make(hash, static_cast<std::uint64_t>(width), static_cast<unsigned>(depth), rule, counters);
}

result<count_min> count_min::with_bytes(hasher hash, std::uint64_t bytes, unsigned depth, update_rule rule,
                                        posy::counter_width counters) {
    return make(hash, depth == 0 ? 0 : bytes / bytes_of(counters) / depth, depth, rule, counters);
}

// Calls use(i, at) for every key i in order, at(row) its counters. The counters of a block are all computed
// before the first is used: then the accesses of different keys do not wait for each other. (To fetch memory
// a block ahead was measured, too: it gains nothing over this, in tables of 1 MiB, 64 MiB and 1 GiB.)
template <class Digests, class Use>
void count_min::in_blocks(std::size_t keys, Digests digests, Use use) const {
    static const auto row_positions = sketch::row_positions_for(base::best_instruction_set());
    std::array<std::uint32_t, block_keys * max_depth> positions;
    for (std::size_t from = 0; from < keys; from += block_keys) {
        const std::span<const digest> some = digests(from, std::min(block_keys, keys - from));
        row_positions(rows_, width_, some, positions);
        for (std::size_t i = 0; i < some.size(); ++i)
            use(from + i, [at = &positions[i]](unsigned row) { return at[row * block_keys]; });
    }
}

template <class Digests>
void count_min::add_blocks(std::size_t keys, Digests digests, std::span<std::uint64_t> estimates) {
    assert(estimates.empty() || estimates.size() == keys);
    const unsigned rows = depth_;
    const update_rule rule = rule_;
    sketch::with_cells(cells_, counter_width_, [&](const auto cells) {
        in_blocks(keys, digests, [=](std::size_t i, auto at) {
            const std::uint64_t now = cells.count(rule, rows, at, 1);
            if (!estimates.empty()) estimates[i] = now;
        });
    });
    count(keys);
}

void count_min::add(std::span<const digest> digests, std::span<std::uint64_t> estimates) {
    add_blocks(
        digests.size(), [&](std::size_t from, std::size_t some) { return digests.subspan(from, some); },
        estimates);
}

void count_min::add(std::span<const std::uint64_t> keys, std::span<std::uint64_t> estimates) {
    std::array<digest, block_keys> hashed;
    add_blocks(
        keys.size(),
        [&](std::size_t from, std::size_t some) {
            hash_(keys.subspan(from, some), std::span(hashed).first(some));
            return std::span<const digest>(hashed).first(some);
        },
        estimates);
}

void count_min::estimate(std::span<const digest> digests, std::span<std::uint64_t> estimates) const {
    assert(estimates.size() == digests.size());
    sketch::with_cells(cells_, counter_width_, [&](const auto cells) {
        in_blocks(
            digests.size(), [&](std::size_t from, std::size_t some) { return digests.subspan(from, some); },
            [&](std::size_t i, auto at) { estimates[i] = cells.least(depth_, at); });
    });
}

double count_min::epsilon() const { return theory::count_min_epsilon(static_cast<double>(width_)); }
double count_min::delta() const { return theory::count_min_delta(depth()); }

result<void> unite(count_min& into, const count_min& from) {
    if (into.hash_ != from.hash_)
        return error::mismatch("the sketches differ in hash family or seed; only equals unite");
    if (!into.same_shape(from)) {
        const auto shape = [](const count_min& s) {
            return std::to_string(s.depth()) + " rows of " + std::to_string(s.width_) + ", " +
                   std::string(name_of(s.rule_));
        };
        return error::mismatch("the sketches differ: " + shape(into) + ", and " + shape(from) +
                               "; only sketches of one shape and rule unite");
    }
    if (auto added = sketch::add_cells(into.cells_, into.counter_width_, from.cells_, from.counter_width_);
        !added)
        return added;
    into.count(from.total_);
    return {};
}

void count_min::clear() {
    cells_.clear();
    total_ = 0;
}

result<count_min> count_min::clone() const {
    auto cells = cells_.clone();
    if (!cells) return cells.error();
    count_min copy(hash_, width_, depth(), rule_, counter_width_, std::move(*cells));
    copy.total_ = total_;
    return copy;
}

void count_min::append_to(std::vector<std::byte>& out) const {
    sketch::append_kind<update_rule>({rule_, counter_width_}, out);
    out.push_back(static_cast<std::byte>(depth()));
    base::put_varint(out, width_);
    base::put_varint(out, total_);
    sketch::append_cells(cells_, counter_width_, out);
}

result<count_min> count_min::parse(hasher hash, byte_view payload, const read_limits& limits) {
    const std::uint64_t max_bytes = limits.most(payload.size());
    base::reader in(payload);
    const auto [rule, counters] = sketch::take_kind<update_rule>(in);
    const unsigned depth = in.byte();
    const std::uint64_t width = in.varint();
    if (in.wrong()) return *in.wrong();
    if (auto valid = check(hash, width, depth, rule); !valid)
        return in.fail_as(valid.error(), 0), *in.wrong();
    const std::uint64_t total = in.varint();
    struct row_sum {
        std::uint64_t sum = 0;
        bool stuck = false;
    };
    std::vector<row_sum> rows(depth);
    const std::uint64_t largest = largest_of(counters);
    const auto seen = [&](std::uint64_t at, std::uint64_t value) {
        row_sum& row = rows[at / width];
        row.sum = saturating_sum(row.sum, value);
        row.stuck = row.stuck || value == largest;
    };
    auto cells = sketch::take_cells(in, width * depth, counters, max_bytes, seen);
    if (!cells) return cells.error();
    if (const auto& wrong = in.finish()) return *wrong;

    // Every weight went to one counter of each row: all of it, or conservatively at most that. A counter that
    // stuck at 32 bits and was widened since is above all that was counted.
    for (unsigned row = 0; row < depth; ++row) {
        const auto [sum, stuck] = rows[row];
        if (stuck && counters == counter_width::bits_64) continue;
        const bool exact = rule == update_rule::plain && !stuck && total != ~std::uint64_t{0};
        if (sum > total || (exact && sum < total)) {
            return error::damaged("row " + std::to_string(row) + " holds " + std::to_string(sum) + " where " +
                                      std::to_string(total) + " were counted; the bytes are damaged",
                                  in.offset());
        }
    }
    count_min parsed(hash, width, depth, rule, counters, std::move(*cells));
    parsed.total_ = total;
    return parsed;
}

}  // namespace posy
