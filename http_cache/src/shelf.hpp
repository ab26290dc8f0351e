// What the two stores have in common: objects by URL and variant, in the order of the eviction queues, and
// the news of URLs that enter and leave. An object has a label: a whole response, or a label alone.
//
// Invariant: the table and the queues hold the same objects; no URL is in the table without one.
// Cost: one table lookup a call, and a comparison per variant. Thread safety: the owner's lock.
#pragma once

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "posy/http_cache/memory_store.hpp"
#include "posy/http_cache/observer.hpp"
#include "posy/http_cache/s3_fifo.hpp"
#include "posy/http_cache/stored_response.hpp"
#include "posy/secret_hash.hpp"

namespace posy::http_cache {

// Clients choose the URLs: keyed, so that they cannot make a table slow.
template <class Value>
using url_table = std::unordered_map<std::string, Value, hash::by_secret, std::equal_to<>>;

template <class Labelled>
class shelf {
  public:
    using item = std::shared_ptr<const Labelled>;

    shelf(std::uint64_t budget, observer* watching) : budget_(budget), watching_(watching), queues_(budget) {}

    std::uint64_t largest() const { return budget_ / largest_object_divisor; }
    bool fits(std::uint64_t bytes) const { return bytes <= largest(); }
    bool has(std::string_view url) const { return table_.find(url) != table_.end(); }

    // The newest variant that matches, or null.
    item find(const hash::digested& url, const fields& request) {
        const handle* found = select(url, request);
        if (!found) return nullptr;
        queues_.use(*found);
        return (*found)->value;
    }
    item peek(const hash::digested& url, const fields& request) const {
        const handle* found = select(url, request);
        return found ? (*found)->value : nullptr;
    }

    // The one that put() would replace, or null.
    item same(const label& of) const {
        const handle* found = same_variant(of);
        return found ? (*found)->value : nullptr;
    }

    // dropped(object) is called for each object that leaves without another in its place. False: it does not
    // fit, and what it should have replaced is gone.
    template <class Dropped>
    bool put(item object, const Dropped& dropped) {
        const auto evicted = evicting(dropped);
        if (!fits(object->size)) {
            erase_variant(*object, dropped);
            return false;
        }
        if (const handle* same = same_variant(*object)) {
            const auto at = *same;  // evicted() may move the table's own
            const std::uint64_t bytes = object->size;
            queues_.replace(at, bytes, std::move(object), evicted);
            return true;
        }
        if (const auto found = table_.find(object->url);
            found != table_.end() && found->second.size() >= most_variants) {
            remove(*std::ranges::min_element(found->second, {}, received), dropped);
        }
        const std::string& url = object->url;
        const auto at = queues_.insert(http_cache::name_of(*object, hash::secret_hasher()).low, object->size,
                                       object, evicted);
        auto& variants = table_[url];
        variants.push_back(at);
        if (watching_ && variants.size() == 1) watching_->entered(url);
        return true;
    }

    // Evicts the next object in turn, although there is room for it. False: there is none.
    template <class Dropped>
    bool evict_one(const Dropped& dropped) {
        return queues_.evict_one(evicting(dropped));
    }

    // All variants.
    template <class Dropped>
    bool erase(std::string_view url, const Dropped& dropped) {
        const auto found = table_.find(url);
        if (found == table_.end()) return false;
        for (const auto variants = found->second; const auto at : variants) remove(at, dropped);
        return true;
    }
    template <class Dropped>
    void erase_variant(const label& of, const Dropped& dropped) {
        if (const handle* same = same_variant(of)) remove(*same, dropped);
    }
    // This very object, if it is still here.
    template <class Dropped>
    void erase(const item& object, const Dropped& dropped) {
        const handle* same = same_variant(*object);
        if (same && (*same)->value == object) remove(*same, dropped);
    }

    template <class Visit>
    void for_each_url(const Visit& visit) const {
        for (const auto& [url, variants] : table_) visit(url);
    }
    template <class Visit>
    void for_each(const Visit& visit) const {
        for (const auto& [url, variants] : table_) {
            for (const handle& at : variants) visit(*at->value);
        }
    }
    store_counts counts() const { return {queues_.bytes(), queues_.size(), table_.size(), evictions_}; }

  private:
    using queues = s3_fifo<item>;
    using handle = typename queues::handle;

    static seconds received(const handle& at) { return at->value->received; }

    const handle* select(const hash::digested& url, const fields& request) const {
        const auto found = table_.find(url);
        if (found == table_.end()) return nullptr;
        const handle* newest = nullptr;
        for (const handle& at : found->second) {
            if ((!newest || received(at) >= received(*newest)) && at->value->variant.matches(request))
                newest = &at;
        }
        return newest;
    }

    const handle* same_variant(const label& of) const {
        const auto found = table_.find(of.url);
        if (found == table_.end()) return nullptr;
        const auto same = std::ranges::find_if(
            found->second, [&](const handle& at) { return at->value->variant == of.variant; });
        return same == found->second.end() ? nullptr : &*same;
    }

    template <class Dropped>
    auto evicting(const Dropped& dropped) {
        return [this, &dropped](handle at) {
            ++evictions_;
            forget(at, dropped);
        };
    }
    // Out of the table, and the news of it.
    template <class Dropped>
    void forget(handle at, const Dropped& dropped) {
        const auto found = table_.find(at->value->url);
        std::erase(found->second, at);
        if (found->second.empty()) {
            table_.erase(found);
            if (watching_) watching_->left(at->value->url);
        }
        dropped(*at->value);
    }
    template <class Dropped>
    void remove(handle at, const Dropped& dropped) {
        forget(at, dropped);
        queues_.erase(at);
    }

    std::uint64_t budget_;
    observer* watching_;
    queues queues_;
    url_table<std::vector<handle>> table_;
    std::uint64_t evictions_ = 0;
};

}  // namespace posy::http_cache
