#include "posy/spectral_filter.hpp"

#include <algorithm>

#include "base/mix.hpp"
#include "base/reader.hpp"
#include "base/saturate.hpp"
#include "bits/array_memory.hpp"
#include "cell_code.hpp"
#include "cells.hpp"
#include "codec/nested.hpp"
#include "filter/key_positions.hpp"
#include "layout/all.hpp"

namespace posy {
namespace {

using sketch::with_cells;

// The second filter mixes the digest again. Scaled from the same bits, its positions would be half of the
// first one's, and keys that collide in one filter would collide in the other.
digest second_digest(digest d) { return {base::draw(d.low, 0), base::draw(d.high, 0)}; }

geometry second_geometry(geometry g) {
    g.bits = round_up_bits((g.bits + 1) / 2, g.hashes, g.layout);
    return g;
}

// A key's counters: each of them once, so that a minimum that recurs is in two counters.
key_positions cells_of(const geometry& g, digest d) {
    key_positions at(g, d);
    at.drop_repeats();
    return at;
}

template <class Cells>
bool stands_alone(const Cells& cells, const key_positions& at, std::uint64_t least) {
    return std::ranges::count_if(at, [&](std::uint64_t i) { return cells[i] == least; }) == 1;
}

bool all_set(const bit_array& bits, const key_positions& at) {
    return std::ranges::all_of(at, [&](std::uint64_t i) { return bits.test(i); });
}

void decrement(bit_array& memory, counter_width width, const key_positions& at) {
    with_cells(memory, width, [&]<class Cells>(const Cells& cells) {
        for (const std::uint64_t i : at)
            if (cells[i] != Cells::largest) cells.set(i, cells[i] - 1);
    });
}

std::uint64_t least(const bit_array& memory, counter_width width, const key_positions& at) {
    return with_cells(memory, width,
                      [&](const auto& cells) -> std::uint64_t { return cells.least(at.size, at); });
}

result<void> check(const geometry& g, spectral_method method) {
    if (!is_member(method))
        return error::unsupported("unknown spectral method " + std::to_string(static_cast<unsigned>(method)));
    if (auto valid = posy::check(g); !valid) return valid;
    if (g.bits > sketch::max_cells)
        return error::invalid("a filter of " + std::to_string(g.bits) + " counters; 1 to 2^32 are possible");
    return {};
}

}  // namespace

result<spectral_filter> spectral_filter::make(const posy::geometry& g, spectral_method method,
                                              posy::counter_width counters) {
    if (auto valid = check(g, method); !valid) return valid.error();
    auto cells = sketch::make_cells(g.bits, counters);
    if (!cells) return cells.error();
    std::optional<second_filter> second;
    if (method == spectral_method::recurring_minimum) {
        auto marks = bit_array::make(g.bits);
        if (!marks) return marks.error();
        const auto geometry = second_geometry(g);
        auto more = sketch::make_cells(geometry.bits, counters);
        if (!more) return more.error();
        second = second_filter{std::move(*marks), geometry, std::move(*more)};
    }
    return spectral_filter(g, method, counters, std::move(*cells), std::move(second));
}

void spectral_filter::insert(digest d, std::uint64_t times) {
    if (times == 0) return;
    items_ = saturating_sum(items_, times);
    const key_positions at = cells_of(geometry_, d);
    const update_rule rule =
        method_ == spectral_method::minimum_increase ? update_rule::conservative : update_rule::plain;
    with_cells(cells_, counter_width_, [&](const auto& cells) {
        const std::uint64_t least = cells.count(rule, at.size, at, times);
        if (!second_) return;
        const bool moved = all_set(second_->marks, at);
        if (!moved && !stands_alone(cells, at, least)) return;
        // When a key is moved, its previous count moves with it.
        for (const std::uint64_t i : at) second_->marks.set(i);
        const key_positions there = cells_of(second_->geometry, second_digest(d));
        std::remove_cvref_t<decltype(cells)>(second_->cells).add(there.size, there, moved ? times : least);
    });
}

result<bool> spectral_filter::remove(digest d) {
    if (method_ == spectral_method::minimum_increase)
        return error::unsupported(
            "a filter that counts by minimum increase cannot remove keys; use recurring minimum");
    const key_positions at = cells_of(geometry_, d);
    if (least(cells_, counter_width_, at) == 0) return false;
    decrement(cells_, counter_width_, at);
    if (items_ > 0) --items_;
    if (second_ && all_set(second_->marks, at)) {
        const key_positions there = cells_of(second_->geometry, second_digest(d));
        if (least(second_->cells, counter_width_, there) > 0)
            decrement(second_->cells, counter_width_, there);
    }
    return true;
}

std::uint64_t spectral_filter::counter(std::uint64_t i) const {
    return with_cells(cells_, counter_width_, [&](const auto& cells) -> std::uint64_t { return cells[i]; });
}

std::uint64_t spectral_filter::at_most(digest d) const {
    return least(cells_, counter_width_, cells_of(geometry_, d));
}

std::uint64_t spectral_filter::estimate(digest d) const {
    const key_positions at = cells_of(geometry_, d);
    const std::uint64_t first = least(cells_, counter_width_, at);
    if (!second_ || !all_set(second_->marks, at)) return first;
    const std::uint64_t second =
        least(second_->cells, counter_width_, cells_of(second_->geometry, second_digest(d)));
    return second > 0 ? std::min(first, second) : first;
}

double spectral_filter::expected_wrong(const posy::geometry& g, std::uint64_t keys) {
    if (keys < 2) return 0;
    return layouts::with_layout(g, [&]<class Layout>(const Layout&) {
        return Layout::expected_rate(static_cast<double>(keys - 1), static_cast<double>(g.bits), g.hashes);
    });
}

result<bloom_filter> spectral_filter::projection() const {
    auto bits = bit_array::make(geometry_.bits);
    if (!bits) return bits.error();
    with_cells(cells_, counter_width_, [&](const auto& cells) {
        for (std::uint64_t i = 0; i < cells.size(); ++i)
            if (cells[i] > 0) bits->set(i);
    });
    return bloom_filter::from_bits(geometry_, std::move(*bits), std::nullopt);
}

std::uint64_t spectral_filter::memory_bytes(const posy::geometry& g, spectral_method method,
                                            posy::counter_width counters) {
    const std::uint64_t first = bytes_of(counters) * g.bits;
    if (method != spectral_method::recurring_minimum) return first;
    return first + bytes_of(counters) * second_geometry(g).bits + bit_array::word_count(g.bits) * 8;
}

result<void> unite(spectral_filter& into, const spectral_filter& from) {
    if (into.geometry_ != from.geometry_) return mismatch(into.geometry_, from.geometry_);
    if (into.method_ != from.method_)
        return error::mismatch("the filters count by " + std::string(name_of(into.method_)) + " and by " +
                               std::string(name_of(from.method_)) + "; only filters of one method unite");
    if (into.second_)
        return error::unsupported(
            "filters that count by recurring minimum do not unite: a key that only one of them has "
            "moved would be counted half; use minimum selection or minimum increase");
    if (auto added = sketch::add_cells(into.cells_, into.counter_width_, from.cells_, from.counter_width_);
        !added)
        return added;
    into.items_ = saturating_sum(into.items_, from.items_);
    return {};
}

void spectral_filter::append_to(std::vector<std::byte>& out) const {
    sketch::append_kind<spectral_method>({method_, counter_width_}, out);
    out.push_back(static_cast<std::byte>(geometry_.layout));
    out.push_back(static_cast<std::byte>(geometry_.hashes));
    base::put_varint(out, geometry_.bits);
    base::put_varint(out, items_);
    sketch::append_cells(cells_, counter_width_, out);
    if (!second_) return;
    codec::append_bits(second_->marks, out);
    sketch::append_cells(second_->cells, counter_width_, out);
}

result<spectral_filter> spectral_filter::parse(hasher hash, byte_view payload, const read_limits& limits) {
    const std::uint64_t max_bytes = limits.most(payload.size());
    base::reader in(payload);
    const auto kind = sketch::take_kind<spectral_method>(in);
    const spectral_method method = kind.rule;
    posy::geometry g{.hash = hash.family(), .seed = hash.seed()};
    g.layout = static_cast<layout_id>(in.byte());
    g.hashes = in.byte();
    g.bits = in.varint();
    if (in.wrong()) return *in.wrong();
    if (auto valid = check(g, method); !valid) return in.fail_as(valid.error(), 0), *in.wrong();
    const bool twice = method == spectral_method::recurring_minimum;
    const auto table = [&](std::uint64_t cells) {
        return bits::array_memory(8 * bytes_of(kind.width) * cells);
    };
    const std::uint64_t memory =
        table(g.bits) + (twice ? table(second_geometry(g).bits) + bits::array_memory(g.bits) : 0);
    if (memory > max_bytes) return base::above_limit("a filter of", memory, max_bytes, 0);
    const std::uint64_t items = in.varint();
    auto cells = sketch::take_cells(in, g.bits, kind.width, max_bytes);
    if (!cells) return cells.error();
    std::optional<second_filter> second;
    if (twice) {
        auto marks = codec::take_bits(in, g.bits, max_bytes);
        if (!marks) return marks.error();
        const auto geometry = second_geometry(g);
        auto more = sketch::take_cells(in, geometry.bits, kind.width, max_bytes);
        if (!more) return more.error();
        second = second_filter{std::move(*marks), geometry, std::move(*more)};
    }
    if (const auto& wrong = in.finish()) return *wrong;
    spectral_filter parsed(g, method, kind.width, std::move(*cells), std::move(second));
    parsed.items_ = items;
    return parsed;
}

}  // namespace posy
