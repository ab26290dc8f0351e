#include "reconcile/coded_symbols.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "derive.hpp"
#include "payload.hpp"

namespace posy::reconcile {
symbol_places::symbol_places(const digest& element) : random_(derive(element, purpose::places) | 1) {}

// An element of symbol i is in none of i + 1 … j with probability Π n / (n + 2) over n = i + 1 … j, which is
// (i+1)(i+2) / (j+1)(j+2). So the next index is the first j at which that falls below u, u uniform in (0, 1].
// With k = j + 1: the least k with k (k + 1) > (i+1)(i+2) / u, which is the root of the right side, rounded
// down, or one more.
//
// Every machine must come to the same j: division and square root are exactly rounded wherever arithmetic is
// IEEE 754's, and nothing here is a product plus a sum, which a compiler might fuse.
void symbol_places::advance() {
    random_ *= 0xd1342543de82ef95;
    const auto i = static_cast<std::int64_t>(index_);
    const auto u = static_cast<double>(static_cast<std::int64_t>(random_ >> 32) + 1);
    const double bound = static_cast<double>(i + 1) * static_cast<double>(i + 2) * 0x1p32 / u;
    const auto root = static_cast<std::int64_t>(std::sqrt(bound));
    const auto k = static_cast<double>(root);
    const std::int64_t j = k * (k + 1) > bound ? root - 1 : root;
    index_ = std::min(static_cast<std::uint64_t>(std::max(j, i + 1)), max_symbols);
}

symbol_encoder::symbol_encoder(const digest_set& set) : set_(&set) {
    places_.reserve(set.size());
    for (const digest& element : set.elements()) places_.emplace_back(element);
}

// One step of every element that still has symbols in the run, then the next step of those: the steps of one
// element wait for each other (a division and a root, 40 cycles), those of different elements do not. Taking
// each element through all of its steps was three times slower.
symbol_run symbol_encoder::next(std::size_t number) {
    symbol_run run{set_->hash(), set_->width(), set_->size(), position_, {}};
    run.symbols.resize(number);
    position_ += number;
    const auto elements = set_->elements();
    constexpr std::size_t batch = 512;
    std::array<std::uint32_t, batch> checks;
    std::array<std::uint16_t, batch> active;
    for (std::size_t start = 0; start < elements.size(); start += batch) {
        const std::size_t size = std::min(batch, elements.size() - start);
        std::size_t left = 0;
        for (std::size_t e = 0; e < size; ++e) {
            active[left] = static_cast<std::uint16_t>(e);
            left += places_[start + e].index() < position_;
        }
        for (std::size_t a = 0; a < left; ++a)
            checks[active[a]] =
                static_cast<std::uint32_t>(derive(elements[start + active[a]], purpose::check));
        while (left > 0) {
            std::size_t kept = 0;
            for (std::size_t a = 0; a < left; ++a) {
                const std::uint16_t e = active[a];
                symbol_places& places = places_[start + e];
                coded_symbol& symbol = run.symbols[places.index() - run.first];
                symbol.sum.low ^= elements[start + e].low;
                symbol.sum.high ^= elements[start + e].high;
                symbol.check ^= checks[e];
                ++symbol.count;
                places.advance();
                active[kept] = e;
                kept += places.index() < position_;
            }
            left = kept;
        }
    }
    return run;
}

void symbol_run::append_to(std::vector<std::byte>& out) const {
    out.push_back(static_cast<std::byte>(width));
    base::put_varint(out, items);
    base::put_varint(out, first);
    base::put_varint(out, symbols.size());
    out.reserve(out.size() + symbols.size() * symbol_bytes(width));
    for (const coded_symbol& symbol : symbols) {
        put_digest(out, symbol.sum, width);
        base::put_little(out, symbol.check);
        base::put_little(out, symbol.count);
    }
}

result<symbol_run> symbol_run::parse(const hasher& hash, byte_view bytes, const read_limits& limits) {
    payload_reader in(bytes);
    symbol_run run{hash, in.width(), 0, 0, {}};
    run.items = in.items();
    run.first = in.varint();
    if (run.first > max_symbols) in.fail("a symbol beyond the last one");
    const std::uint64_t number = in.count(symbol_bytes(run.width), sizeof(coded_symbol), limits);
    if (number > max_symbols - run.first) in.fail("symbols beyond the last one");
    run.symbols.resize(!in.wrong() ? number : 0);
    for (coded_symbol& symbol : run.symbols) {
        symbol.sum = in.element(run.width);
        symbol.check = in.number<std::uint32_t>();
        symbol.count = in.byte();
    }
    if (auto wrong = in.finish()) return *wrong;
    return run;
}

}  // namespace posy::reconcile
