#include "posy/http_cache/store.hpp"

#include <algorithm>
#include <array>
#include <mutex>
#include <utility>

#include "shelf.hpp"

namespace posy::http_cache {

namespace {

// In how many tiers a URL is; the observer hears of the first and of none.
class tally : public observer {
  public:
    explicit tally(observer* watching) : watching_(watching) {}

    void entered(std::string_view url) override {
        const std::lock_guard guard(lock_);
        if (++tiers_[std::string(url)] == 1 && watching_) watching_->entered(url);
    }
    void left(std::string_view url) override {
        const std::lock_guard guard(lock_);
        const auto found = tiers_.find(url);
        if (--found->second > 0) return;
        tiers_.erase(found);
        if (watching_) watching_->left(url);
    }
    bool has(std::string_view url) const {
        const std::lock_guard guard(lock_);
        return tiers_.find(url) != tiers_.end();
    }
    void for_each_url(const std::function<void(std::string_view)>& visit) const {
        const std::lock_guard guard(lock_);
        for (const auto& [url, count] : tiers_) visit(url);
    }

  private:
    mutable std::mutex lock_;
    observer* watching_;
    url_table<unsigned> tiers_;
};

}  // namespace

struct store::tiers {
    tiers(const store_options& options, observer* watching)
        : index_bytes(options.disk ? options.memory.bytes / 4 : 0),
          on_the_way(options.memory.bytes / 8),
          bodies(std::make_shared<http_cache::room>(options.memory.bytes - index_bytes)),
          both(watching),
          memory({bodies->bytes() - on_the_way, options.memory.shards}, options.disk ? &both : watching) {}

    // Held while one URL changes in both tiers; others may share it.
    std::mutex& lock_of(std::string_view url) { return locks[hash::by_secret{}(url) % locks.size()]; }

    const std::uint64_t index_bytes, on_the_way;  // shares of the memory
    const std::shared_ptr<http_cache::room> bodies;
    tally both;
    memory_store memory;
    std::unique_ptr<disk_store> disk;  // may be null
    std::array<std::mutex, 64> locks;
};

store::store(std::unique_ptr<tiers> made) : tiers_(std::move(made)) {}
store::~store() = default;

result<std::unique_ptr<store>> store::open(const store_options& options, observer* watching) {
    auto made = std::make_unique<tiers>(options, watching);
    if (options.disk) {
        auto how = *options.disk;
        how.index_bytes = made->index_bytes;
        how.largest = made->on_the_way;
        auto disk = disk_store::open(how, &made->both);
        if (!disk) return disk.error();
        made->disk = std::move(*disk);
    }
    return std::unique_ptr<store>(new store(std::move(made)));
}

memory_store& store::memory() { return tiers_->memory; }
bool store::has_disk() const { return tiers_->disk != nullptr; }
const std::shared_ptr<room>& store::room() const { return tiers_->bodies; }

std::uint64_t store::largest() const {
    return std::max(tiers_->memory.largest(), tiers_->disk ? tiers_->disk->largest() : 0);
}

stored store::find(std::string_view url, const request_head& request) {
    auto found = tiers_->memory.find(url, request);
    if (found || !tiers_->disk) return found;
    const std::lock_guard guard(tiers_->lock_of(url));
    found = tiers_->disk->find(url, request, tiers_->bodies);
    if (found) tiers_->memory.put(found);
    return found;
}

bool store::has(std::string_view url) const {
    return tiers_->disk ? tiers_->both.has(url) : tiers_->memory.has(url);
}

bool store::put(const stored& response) {
    if (!tiers_->disk) return tiers_->memory.put(response);
    const std::lock_guard guard(tiers_->lock_of(response->url));
    const bool in_memory = tiers_->memory.put(response);
    const auto on_disk = tiers_->disk->put(*response);
    return in_memory || (on_disk && *on_disk);
}

bool store::erase(std::string_view url) {
    if (!tiers_->disk) return tiers_->memory.erase(url);
    const std::lock_guard guard(tiers_->lock_of(url));
    const bool in_memory = tiers_->memory.erase(url);
    return tiers_->disk->erase(url) || in_memory;
}

void store::for_each_url(const std::function<void(std::string_view)>& visit) const {
    tiers_->disk ? tiers_->both.for_each_url(visit) : tiers_->memory.for_each_url(visit);
}

store_counts store::memory_counts() const { return tiers_->memory.counts(); }

std::optional<store_counts> store::disk_counts() const {
    if (!tiers_->disk) return std::nullopt;
    return tiers_->disk->counts();
}

}  // namespace posy::http_cache
