#include "local_set.hpp"

#include <chrono>
#include <stdexcept>
#include <unordered_set>

#include "http/now.hpp"

namespace posy::node {

namespace {

template <class T>
T must(result<T> value) {
    if (!value) throw std::runtime_error("the summary of the local set: " + value.error().text());
    if constexpr (!std::is_void_v<T>) return std::move(*value);
}

counting_filter empty_filter(const plan& p) {
    auto filter = must(counting_filter::make(p.geometry()));
    filter.set_planned(p.promise());
    return filter;
}

}  // namespace

// Sparse arrays make small messages and large memories. Beyond 128 bits an item (one hash, a rate of 0.8 %)
// the counters would be of the size of small objects.
result<plan> shape_for(std::uint64_t items, double rate, double change, sharing how) {
    const double max_bits_per_item = how == sharing::full ? 64 : 128;
    constexpr unsigned max_hashes = 12;
    std::optional<plan> best;
    for (unsigned hashes = 1; hashes <= max_hashes; ++hashes) {
        const auto bits = smallest_bits(items, rate, hashes, layout_id::spread);
        if (!bits || static_cast<double>(*bits) > max_bits_per_item * static_cast<double>(items)) continue;
        auto p = predict(items, {*bits, hashes, layout_id::spread}, change);
        if (!p) return p;
        const auto cost = [&](const plan& each) {
            if (how == sharing::compressed) return each.message_bits;
            if (how == sharing::delta) return *each.delta_bits;
            return static_cast<double>(each.bits);
        };
        if (!best || cost(*p) < cost(*best)) best = *p;
    }
    if (!best) return error{"no shape has that rate; choose one between 0.000001 and 0.5"};
    return *best;
}

local_set::local_set(const options& how, key_source all) : how_(how), all_(std::move(all)) {
    std::uint64_t known = 0;
    all_([&](std::string_view) { ++known; });
    planned_ = std::max({how_.items, 2 * known, std::uint64_t{64}});
    auto filter = empty_filter(must(shape_for(planned_, how_.rate, how_.change, how_.sharing)));
    all_([&](std::string_view key) { filter.insert(filter.hash()(key)); });
    // The clock as the first generation: a node that restarts does not go back.
    const publishing publishing{.change = how_.change,
                                .max_age = static_cast<std::uint64_t>(how_.interval.count()),
                                .least_items = planned_,
                                .first_generation = http::milliseconds_now(),
                                .want = how_.sharing == sharing::full ? coding::raw : coding::smallest};
    publisher_ = must(publisher::make(std::move(filter), publishing, http::milliseconds_now()));
    generation_ = publisher_->generation();
}

void local_set::insert(std::string_view key) { change(key, true); }
void local_set::remove(std::string_view key) { change(key, false); }

void local_set::change(std::string_view key, bool enters) {
    std::unique_lock lock(mutex_);
    const digest d = publisher_->set().hash()(key);
    enters ? publisher_->insert(d) : void(publisher_->remove(d));
    if (growing_) meanwhile_.emplace_back(d, enters);
    changed(lock);
}

bool local_set::may_contain(std::string_view key) const {
    const std::lock_guard lock(mutex_);
    return publisher_->set().may_contain(publisher_->set().hash()(key));
}

bool local_set::tick() {
    const auto before = generation_.load();
    std::unique_lock lock(mutex_);
    if (publisher_->set().items() > 2 * planned_) {
        lock.unlock();
        grow();
        if (on_publish) on_publish();
        lock.lock();
    }
    changed(lock);
    return generation_ != before;
}

// The paper's c, or the time.
void local_set::changed(std::unique_lock<std::mutex>& lock) {
    if (!publisher_->due(http::milliseconds_now())) return;
    must(publisher_->publish(http::milliseconds_now()));
    generation_ = publisher_->generation();
    answers_.clear();
    lock.unlock();
    if (on_publish) on_publish();
}

// Whoever changes the set holds a lock on the key when it comes here, so the keys cannot be read under our
// own. They are read without it, and what happened meanwhile is done once more to what was read: entering and
// leaving a set twice is the same as once.
void local_set::grow() {
    {
        const std::lock_guard lock(mutex_);
        growing_ = true;
    }
    const hasher hash = publisher_->set().hash();
    const auto by_low = [](digest d) { return static_cast<std::size_t>(d.low); };
    std::unordered_set<digest, decltype(by_low)> keys(0, by_low);
    all_([&](std::string_view key) { keys.insert(hash(key)); });
    const std::lock_guard lock(mutex_);
    growing_ = false;
    for (const auto& [d, enters] : std::exchange(meanwhile_, {}))
        enters ? void(keys.insert(d)) : void(keys.erase(d));
    planned_ = 2 * std::max<std::uint64_t>(keys.size(), how_.items);
    auto filter = empty_filter(must(shape_for(planned_, how_.rate, how_.change, how_.sharing)));
    for (const digest d : keys) filter.insert(d);
    must(publisher_->rebase(std::move(filter), http::milliseconds_now()));
    generation_ = publisher_->generation();
    answers_.clear();
    ++rebuilt_;
}

local_set::answer local_set::summary(std::optional<std::uint64_t> have, bool deltas) {
    const std::lock_guard lock(mutex_);
    const auto generation = publisher_->generation();
    if (have == generation) return {answer::unchanged, generation, nullptr};
    const auto held = [](std::vector<std::byte> message) {
        return std::make_shared<const std::vector<std::byte>>(std::move(message));
    };
    auto& whole = answers_[std::nullopt];
    if (!whole.message) whole = {answer::whole, generation, held(must(publisher_->full()))};
    if (!deltas || !have || how_.sharing != sharing::delta) return whole;
    const auto kept = answers_.find(have);
    if (kept != answers_.end()) return kept->second;
    // Only what the publisher remembers is kept: whoever makes up generations does not fill our memory.
    auto delta = must(publisher_->delta_from(*have));
    if (!delta) return whole;
    auto& a = answers_[have] = whole;
    if (delta->size() < whole.message->size()) a = {answer::changes, generation, held(std::move(*delta))};
    return a;
}

local_set::facts local_set::describe() const {
    const std::lock_guard lock(mutex_);
    const auto& set = publisher_->set();
    return {set.items(),
            set.geometry().bits,
            publisher_->generation(),
            rebuilt_,
            set.geometry().hashes,
            set.projection().fill(),
            set.projection().false_positive_rate(),
            set.saturated()};
}

}  // namespace posy::node
