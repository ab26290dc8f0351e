#include "local_set.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <stdexcept>
#include <unordered_map>

#include "posy/secret_hash.hpp"
#include "posy/theory.hpp"

namespace posy::node {

namespace {

template <class T>
T must(result<T> value) {
    if (!value) throw std::runtime_error("the summary of the local set: " + value.error().text());
    if constexpr (!std::is_void_v<T>) return std::move(*value);
}

counting_filter empty_filter(std::uint64_t items, const hasher& hash, const options& how) {
    const plan p = must(shape_for(items, how));
    auto filter = must(counting_filter::make(p.geometry(hash.family(), hash.seed())));
    filter.set_planned(p.promise());
    return filter;
}

// The share of the items whose replacement changes the share `bits` of the array: 2p(1 − p^c) solved for c,
// where p is the share of zeros (Mitzenmacher 2002, IV). Above 1 where not even a whole new set would do.
double items_changed(double bits, double fill) {
    const double left = 1 - bits / (2 * (1 - fill));
    return left > 0 ? std::log(left) / std::log1p(-fill) : std::numeric_limits<double>::infinity();
}

}  // namespace

hasher hash_at(std::uint64_t now, const options& how) {
    if (how.rehash.count() == 0) return hasher(how.hash, how.seed);
    // Keyed, so that the next seed cannot be told from those that were published.
    const digest d =
        hasher(hash_family::siphash, how.seed)(now / static_cast<std::uint64_t>(how.rehash.count()));
    return hasher(how.hash, {d.low, how.hash == hash_family::siphash ? d.high : 0});
}

// Sparse arrays make small messages and large memories. Beyond 128 bits per item (one hash, a rate of 0.8 %)
// the counters would be of the size of small objects.
// Updates of different shapes come at different times when a share of the bits decides: what counts of a
// delta is its size for each item that changed.
result<plan> shape_for(std::uint64_t items, const options& how) {
    const double max_bits_per_item = how.sharing == sharing::full ? 64 : 128;
    constexpr unsigned max_hashes = 12;
    std::optional<plan> best;
    double best_cost = 0;
    std::optional<double> most_bits;  // that can change, in any shape
    for (unsigned hashes = 1; hashes <= max_hashes; ++hashes) {
        const auto bits = smallest_bits(items, how.rate, hashes, layout_id::spread);
        if (!bits || static_cast<double>(*bits) > max_bits_per_item * static_cast<double>(items)) continue;
        const geometry g{*bits, hashes, layout_id::spread};
        auto p = predict(items, g, how.change);
        if (!p) return p;
        double change = how.change;
        if (how.change_bits) {
            most_bits = std::max(most_bits.value_or(0), theory::delta_density(1 - p->fill, 1));
            change = items_changed(*how.change_bits, p->fill);
            if (change > 1) continue;
            p = predict(items, g, change);
            if (!p) return p;
        }
        const double cost = how.sharing == sharing::compressed ? p->message_bits
                            : how.sharing == sharing::delta    ? *p->delta_bits / change
                                                               : static_cast<double>(p->bits);
        if (!best || cost < best_cost) {
            best = *p;
            best_cost = cost;
        }
    }
    if (!best && most_bits)
        return error::invalid(
            fmt::format("if all items were replaced, a share of {:.2g} of its bits would change; "
                        "choose --change-bits below that, not {:g}",
                        *most_bits, *how.change_bits));
    if (!best) return error::invalid("no shape has that rate; choose one between 0.000001 and 0.5");
    return *best;
}

local_set::local_set(const options& how, key_source all, clock now)
    : how_(how), all_(std::move(all)), now_(std::move(now)), hash_(hash_at(now_(), how_)) {
    std::uint64_t known = 0;
    all_([&](std::string_view) { ++known; });
    planned_ = std::max({how_.items, 2 * known, std::uint64_t{64}});
    auto filter = empty_filter(planned_, hash_, how_);
    all_([&](std::string_view key) { filter.insert(filter.hash()(key)); });
    // The clock as the first generation: a node that restarts does not go back.
    const publishing publishing{.change = how_.change,
                                .max_age = static_cast<std::uint64_t>(how_.interval.count()),
                                .change_bits = how_.change_bits,
                                .misled = how_.misled,
                                .least_items = planned_,
                                .first_generation = now_(),
                                .want = how_.sharing == sharing::full ? coding::raw : coding::smallest};
    publisher_ = must(publisher::make(std::move(filter), publishing, now_()));
    generation_ = publisher_->generation();
}

void local_set::insert(std::string_view key) { change(key, true); }
void local_set::remove(std::string_view key) { change(key, false); }

void local_set::change(std::string_view key, bool enters) {
    std::unique_lock lock(mutex_);
    const digest d = publisher_->set().hash()(key);
    enters ? publisher_->insert(d) : void(publisher_->remove(d));
    if (rebuilding_) meanwhile_.push_back({{hash::secret_hasher()(key), (*rebuilding_)(key)}, enters});
    changed(lock);
}

bool local_set::may_contain(std::string_view key) const {
    const std::lock_guard lock(mutex_);
    return publisher_->set().may_contain(publisher_->set().hash()(key));
}

void local_set::asked(std::string_view key) {
    if (!how_.misled) return;
    std::unique_lock lock(mutex_);
    if (publisher_->asked(publisher_->set().hash()(key))) changed(lock);
}

bool local_set::tick() {
    const auto before = generation_.load();
    std::unique_lock lock(mutex_);
    const hasher hash = hash_at(now_(), how_);
    if (publisher_->set().items() > 2 * planned_ || hash != hash_) {
        hash_ = hash;  // also if this fails: it is tried again with the next
        lock.unlock();
        rebuild();
        if (on_publish) on_publish();
        lock.lock();
    }
    changed(lock);
    return generation_ != before;
}

// The paper's c, or the time.
void local_set::changed(std::unique_lock<std::mutex>& lock) {
    if (!publisher_->due(now_())) return;
    must(publisher_->publish(now_()));
    generation_ = publisher_->generation();
    lock.unlock();
    if (on_publish) on_publish();
}

// A caller that changes the set holds a lock on the key, so the keys cannot be read under our own lock.
// They are read without it, and what happened meanwhile is done once more to what was read: entering and
// leaving a set twice is the same as once. So is the filter made, and nobody waits for it. The filter counts
// keys, not digests: of two keys with one digest, one may leave, and the other is still found.
void local_set::rebuild() {
    const hasher hash = hash_;
    {
        const std::lock_guard lock(mutex_);
        rebuilding_ = hash;
        meanwhile_.clear();
    }
    const auto by_low = [](digest d) { return static_cast<std::size_t>(d.low); };
    std::unordered_map<digest, digest, decltype(by_low)> keys(0, by_low);  // secret → in the filter
    all_([&](std::string_view key) { keys.emplace(hash::secret_hasher()(key), hash(key)); });
    const bool outgrown = keys.size() > 2 * planned_;
    const auto planned = outgrown ? 2 * std::max<std::uint64_t>(keys.size(), how_.items) : planned_;
    auto filter = empty_filter(planned, hash, how_);
    for (const auto& [secret, in_filter] : keys) filter.insert(in_filter);
    const std::lock_guard lock(mutex_);
    rebuilding_.reset();
    for (const auto& [key, enters] : std::exchange(meanwhile_, {})) {
        if (enters && keys.emplace(key.secret, key.in_filter).second) filter.insert(key.in_filter);
        if (!enters && keys.erase(key.secret) > 0) filter.remove(key.in_filter);
    }
    const bool rehashed = publisher_->set().hash() != hash;
    planned_ = planned;
    must(publisher_->rebase(std::move(filter), now_()));
    generation_ = publisher_->generation();
    rebuilt_ += outgrown;
    rehashed_ += rehashed;
}

publisher::reply local_set::summary(const question& asked) {
    const auto known = held_of(asked.tag);
    const std::lock_guard lock(mutex_);
    std::optional<edition> have;
    if (known) {
        const auto checksum = known->checksum ? known->checksum : publisher_->checksum_of(known->generation);
        if (checksum) have = edition{known->generation, *checksum};
    }
    return must(publisher_->answer(have, asked.deltas && how_.sharing == sharing::delta));
}

local_set::facts local_set::describe() const {
    const std::lock_guard lock(mutex_);
    const auto& set = publisher_->set();
    return {set.items(),
            set.geometry().bits,
            publisher_->generation(),
            rebuilt_,
            rehashed_,
            set.geometry().hashes,
            set.projection().fill(),
            set.projection().false_positive_rate(),
            set.saturated()};
}

}  // namespace posy::node
