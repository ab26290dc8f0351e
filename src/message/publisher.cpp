#include "posy/publisher.hpp"

#include <algorithm>

#include "posy/theory.hpp"

namespace posy {

result<publisher> publisher::make(counting_filter set, const publishing& how, std::uint64_t now) {
    publisher p(std::move(set), how);
    if (auto marked = p.set_.mark(); !marked) return marked.error();
    p.was_published(now);
    return p;
}

// The present state, marked, is what subscribers receive.
void publisher::was_published(std::uint64_t now) {
    checksum_ = bits_checksum(set_.projection().bits());
    published_items_ = set_.items();
    whole_.reset();
    deltas_.clear();
    inserted_ = removed_ = misled_ = 0;
    urgent_ = false;
    last_ = now;
}

void publisher::insert(digest d) {
    set_.insert(d);
    ++inserted_;
}

bool publisher::remove(digest d) {
    const bool done = set_.remove(d);
    removed_ += done;
    return done;
}

bool publisher::asked(digest d) {
    const bool misled = set_.may_contain(d) != set_.contained_at_mark(d);
    misled_ += misled;
    return misled;
}

bool publisher::due(std::uint64_t now) const {
    if (inserted_ + removed_ == 0) return false;
    if (urgent_) return true;
    if (now > last_ && now - last_ >= how_.max_age) return true;
    if (how_.misled) return misled_ >= *how_.misled;
    if (how_.change_bits)
        return set_.flipped_count() > 0 && static_cast<double>(set_.flipped_count()) >=
                                               *how_.change_bits * static_cast<double>(set_.geometry().bits);
    // The paper's c: this share of the n items has left, and as many have come.
    const auto changed = static_cast<double>(std::max(inserted_, removed_));
    return changed >= how_.change * static_cast<double>(std::max(published_items_, how_.least_items));
}

result<void> publisher::publish(std::uint64_t now) {
    if (inserted_ + removed_ == 0) return {};
    step s{generation_, checksum_, set_.flipped()};
    if (auto marked = set_.mark(); !marked) return marked;
    history_.push_back(std::move(s));
    if (history_.size() > how_.history) history_.pop_front();
    ++generation_;
    was_published(now);
    return {};
}

std::optional<std::uint32_t> publisher::checksum_of(std::uint64_t generation) const {
    if (generation == generation_) return checksum_;
    const auto known = std::ranges::find(history_, generation, &step::from);
    return known == history_.end() ? std::nullopt : std::optional(known->checksum);
}

// The set has changed since; its flips undo that.
result<bloom_filter> publisher::published() const {
    auto filter = set_.projection().clone();
    if (!filter) return filter;
    for (const std::uint64_t position : set_.flipped()) filter->bits().flip(position);
    filter->set_items(published_items_);
    return filter;
}

result<std::vector<std::byte>> publisher::full() const {
    const auto filter = published();
    if (!filter) return filter.error();
    return to_bytes(*filter, {.want = how_.want, .generation = generation_});
}

result<std::optional<std::vector<std::byte>>> publisher::delta_from(std::uint64_t base) const {
    const auto first = std::ranges::find(history_, base, &step::from);
    if (first == history_.end()) return std::optional<std::vector<std::byte>>();
    auto flips = bit_array::make(set_.geometry().bits);
    if (!flips) return flips.error();
    for (auto s = first; s != history_.end(); ++s) {
        for (const std::uint64_t position : s->flips) flips->flip(position);
    }
    const filter_delta delta{set_.geometry(), published_items_, base, first->checksum, std::move(*flips)};
    return std::optional(to_bytes(delta, {.want = how_.want, .generation = generation_}));
}

namespace {

// Is it certain that no coding of the array is as short as `bytes`? Entropy is what a good one takes; half of
// it leaves room for arrays that are not random.
bool whole_is_longer(const bloom_filter& filter, std::size_t bytes) {
    const double bits = theory::binary_entropy(filter.fill()) * static_cast<double>(filter.geometry().bits);
    return static_cast<double>(bytes) < bits / 16;
}

}  // namespace

result<publisher::reply> publisher::answer(std::optional<posy::edition> have, bool deltas) {
    const auto keep = [this](reply::kind what, std::vector<std::byte> message) {
        return reply{what, edition(), std::make_shared<const std::vector<std::byte>>(std::move(message))};
    };
    if (have == edition()) return reply{reply::kind::unchanged, edition(), nullptr};
    // The number alone may be that of another publisher. Only generations of the history get an entry: an
    // asker that makes up generations does not fill our memory.
    const bool by_delta = deltas && have && checksum_of(have->generation) == have->checksum;
    if (by_delta) {
        if (const auto kept = deltas_.find(have->generation); kept != deltas_.end()) return kept->second;
    }
    auto delta = by_delta ? delta_from(have->generation) : std::optional<std::vector<std::byte>>();
    if (!delta) return delta.error();
    if (*delta && whole_is_longer(set_.projection(), (*delta)->size()))
        return deltas_[have->generation] = keep(reply::kind::delta, std::move(**delta));
    if (!whole_) {
        auto made = full();
        if (!made) return made.error();
        whole_ = keep(reply::kind::whole, std::move(*made));
    }
    if (!by_delta) return *whole_;
    const bool smaller = *delta && (*delta)->size() < whole_->message->size();
    return deltas_[have->generation] = smaller ? keep(reply::kind::delta, std::move(**delta)) : *whole_;
}

result<void> publisher::rebase(counting_filter set, std::uint64_t now) {
    if (auto marked = set.mark(); !marked) return marked;
    set_ = std::move(set);
    history_.clear();
    ++generation_;
    was_published(now);
    return {};
}

void publisher::renumber(std::uint64_t generation) {
    generation_ = generation;
    history_.clear();
    whole_.reset();
    deltas_.clear();
}

}  // namespace posy
