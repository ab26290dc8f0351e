// Peeling: a symbol with one element left gives it away, and taking that out of its other symbols leaves
// others with one.
#include <algorithm>
#include <cmath>

#include "derive.hpp"
#include "reconcile/coded_symbols.hpp"

namespace posy::reconcile {
namespace {

constexpr coded_symbol nothing{};
constexpr std::uint8_t there = 1, here = 255;  // the count of one element of theirs, or of ours

error contradiction(const std::string& what) {
    return error::damaged("the coded symbols contradict " + what +
                          "; they are damaged, or the peer is not honest");
}

}  // namespace

symbol_decoder::symbol_decoder(const digest_set& mine) : set_(&mine), mine_(mine) {}

// Symbols of several elements count ±1, too; the checksum tells them from single ones but for one in 2^32.
bool symbol_decoder::single(const coded_symbol& s) const {
    return (s.count == there || s.count == here) &&
           s.check == static_cast<std::uint32_t>(derive(s.sum, purpose::check));
}

void symbol_decoder::take_out(found_element& found) {
    const auto check = static_cast<std::uint32_t>(derive(found.element, purpose::check));
    for (; found.places.index() < symbols_.size(); found.places.advance()) {
        const std::uint64_t i = found.places.index();
        coded_symbol& s = symbols_[i];
        const bool was_nothing = s == nothing;
        s.sum.low ^= found.element.low;
        s.sum.high ^= found.element.high;
        s.check ^= check;
        s.count = static_cast<std::uint8_t>(s.count - (found.here ? here : there));
        const bool is_nothing = s == nothing;
        unexplained_ = unexplained_ + was_nothing - is_nothing;
        if (single(s)) singles_.push_back(i);
    }
}

// How far a count is from its mean, squared, as a multiple of its variance for one element.
double symbol_decoder::squared_miss(std::uint64_t index, std::uint8_t count) const {
    const double share = 2 / static_cast<double>(index + 2);
    const double mean = share * static_cast<double>(balance_);
    const double whole = std::nearbyint(mean);
    const auto miss = static_cast<std::int8_t>(static_cast<std::uint8_t>(
        count - static_cast<std::uint8_t>(static_cast<std::int64_t>(whole) & 0xff)));
    const double off = miss + (whole - mean);
    return off * off / (share * (1 - share));
}

result<void> symbol_decoder::receive(const symbol_run& run) {
    if (auto kin = check_kin(*set_, run.hash, run.width); !kin) return kin;
    if (run.first != position()) {
        return error::mismatch("coded symbols from " + std::to_string(run.first) + " on where " +
                               std::to_string(position()) + " is the next; a message was lost or came twice");
    }
    if (run.first == 0)
        balance_ = static_cast<std::int64_t>(run.items) - static_cast<std::int64_t>(set_->size());
    const symbol_run ours = mine_.next(run.symbols.size());
    const std::size_t start = symbols_.size();
    for (std::size_t i = 0; i < run.symbols.size(); ++i) {
        coded_symbol s = run.symbols[i];
        s.sum.low ^= ours.symbols[i].sum.low;
        s.sum.high ^= ours.symbols[i].sum.high;
        s.check ^= ours.symbols[i].check;
        s.count = static_cast<std::uint8_t>(s.count - ours.symbols[i].count);
        symbols_.push_back(s);
        unexplained_ += s != nothing;
        if (start + i > 0) spread_ += squared_miss(start + i, s.count);
    }
    // What was found earlier is in some of these, too.
    for (std::size_t f = 0; f < found_.size(); ++f) take_out(found_[f]);
    for (std::size_t i = start; i < symbols_.size(); ++i) {
        if (single(symbols_[i])) singles_.push_back(i);
    }
    return peel();
}

result<void> symbol_decoder::peel() {
    while (!singles_.empty()) {
        const coded_symbol s = symbols_[singles_.back()];
        singles_.pop_back();
        if (!single(s)) continue;  // something was taken out of it since
        const bool ours = s.count == here;
        if (set_->contains(s.sum) != ours) return contradiction("this side's own set");
        // In an honest sequence an element is found once and empties a symbol for good, so there are no more
        // elements than symbols. A forged sequence may make the decoder remove and add an element forever.
        if (found_.size() == symbols_.size()) return contradiction("each other");
        found_.push_back({s.sum, symbol_places(s.sum), ours});
        (ours ? only_here_ : only_there_).push_back(s.sum);
        take_out(found_.back());
    }
    return {};
}

estimate symbol_decoder::estimate_difference() const {
    const double floor = std::abs(static_cast<double>(balance_));
    if (symbols_.size() < 2) return {floor, floor, INFINITY};
    const auto freedom = static_cast<double>(symbols_.size() - 1);
    const double value = spread_ / freedom;
    // χ² is nearly normal in the cube root (Wilson and Hilferty 1931).
    const auto quantile = [&](double z) {
        const double v = 2 / (9 * freedom);
        return std::pow(std::max(1 - v + z * std::sqrt(v), 0.0), 3);
    };
    const auto at_least = [&](double x) { return std::max(x, floor); };
    return {at_least(value), at_least(value / quantile(1.96)), at_least(value / quantile(-1.96))};
}

}  // namespace posy::reconcile
