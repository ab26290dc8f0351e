#include "posy/http_cache/memory_store.hpp"

#include <algorithm>
#include <mutex>

#include "shelf.hpp"

namespace posy::http_cache {

struct memory_store::shard {
    shard(std::uint64_t budget, observer* watching) : responses(budget, watching) {}

    mutable std::mutex lock;
    shelf<stored_response> responses;
};

namespace {
constexpr auto no_one_else = [](const label&) {};
}

store_counts& store_counts::operator+=(const store_counts& other) {
    bytes += other.bytes, objects += other.objects, urls += other.urls, evictions += other.evictions;
    return *this;
}

memory_store::memory_store(memory_options options, observer* watching) {
    const auto shard_bytes = std::max(least_shard, options.largest * largest_object_divisor);
    const auto most = std::max<std::uint64_t>(1, options.bytes / shard_bytes);
    const auto count = std::clamp<std::uint64_t>(options.shards, 1, most);
    for (std::uint64_t i = 0; i < count; ++i) {
        shards_.push_back(std::make_unique<shard>(options.bytes / count, watching));
    }
}

memory_store::~memory_store() = default;

// By the high half of the hash: the tables inside use the low one.
memory_store::shard& memory_store::shard_of(const hash::digested& url) const {
    return *shards_[url.digest.high % shards_.size()];
}
memory_store::shard& memory_store::shard_of(std::string_view url) const {
    return shard_of(hash::digested(url));
}

stored memory_store::find(std::string_view url, const request_head& request) {
    const hash::digested name(url);
    shard& in = shard_of(name);
    const std::lock_guard guard(in.lock);
    return in.responses.find(name, request.fields);
}

stored memory_store::peek(std::string_view url, const request_head& request) const {
    const hash::digested name(url);
    const shard& in = shard_of(name);
    const std::lock_guard guard(in.lock);
    return in.responses.peek(name, request.fields);
}

bool memory_store::has(std::string_view url) const {
    const shard& in = shard_of(url);
    const std::lock_guard guard(in.lock);
    return in.responses.has(url);
}

stored memory_store::same(const label& of) const {
    const shard& in = shard_of(of.url);
    const std::lock_guard guard(in.lock);
    return in.responses.same(of);
}

void memory_store::drop(const stored& object) {
    shard& in = shard_of(object->url);
    const std::lock_guard guard(in.lock);
    in.responses.erase(object, no_one_else);
}

bool memory_store::put(stored response) {
    shard& in = shard_of(response->url);
    const std::lock_guard guard(in.lock);
    return in.responses.put(std::move(response), no_one_else);
}

std::uint64_t memory_store::largest() const { return shards_.front()->responses.largest(); }

bool memory_store::erase(std::string_view url) {
    shard& in = shard_of(url);
    const std::lock_guard guard(in.lock);
    return in.responses.erase(url, no_one_else);
}

void memory_store::for_each_url(const std::function<void(std::string_view)>& visit) const {
    for (const auto& in : shards_) {
        const std::lock_guard guard(in->lock);
        in->responses.for_each_url(visit);
    }
}

void memory_store::for_each(const std::function<void(const stored_response&)>& visit) const {
    for (const auto& in : shards_) {
        const std::lock_guard guard(in->lock);
        in->responses.for_each(visit);
    }
}

store_counts memory_store::counts() const {
    store_counts all;
    for (const auto& in : shards_) {
        const std::lock_guard guard(in->lock);
        all += in->responses.counts();
    }
    return all;
}

}  // namespace posy::http_cache
