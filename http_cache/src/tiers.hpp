// The inside of the store: its two tiers, what is still to be done on disk, and the locks.
//
// store.hpp says what it means. Thread safety: as the comments at its members say.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "latest_changes.hpp"
#include "posy/http_cache/partial.hpp"
#include "posy/http_cache/store.hpp"
#include "shelf.hpp"

namespace posy::http_cache {

inline label parts_label(const label& whole) {
    label of = whole;
    of.url = parts_key(whole.url);
    return of;
}

// In which tiers a URL is; the observer hears of the first and of none. What waits to be written is in one
// of its own. In shards, so that whoever looks at all URLs holds up few.
class tally {
  public:
    enum tier : unsigned { memory = 1, disk = 2, noted = 4 };

    // What one of the tiers tells.
    class ear : public observer {
      public:
        ear(tally& all, tier which) : all_(all), which_(which) {}
        void entered(std::string_view url) override { all_.entered(url, which_); }
        void left(std::string_view url) override { all_.left(url, which_); }
        void damaged(std::string_view file) override {
            if (all_.watching_) all_.watching_->damaged(file);
        }

      private:
        tally& all_;
        tier which_;
    };

    explicit tally(observer* watching) : watching_(watching) {}

    bool has(std::string_view url, unsigned tiers = memory | disk | noted) const {
        const auto& s = shard_of(url);
        const std::lock_guard guard(s.lock);
        const auto found = s.tiers.find(url);
        return found != s.tiers.end() && (found->second & tiers) != 0;
    }
    void for_each_url(const std::function<void(std::string_view)>& visit) const {
        for (const auto& s : shards_) {
            const std::lock_guard guard(s.lock);
            for (const auto& [url, tiers] : s.tiers) visit(url);
        }
    }
    // Both may be told of what is known.
    void entered(std::string_view url, tier which) {
        auto& s = shard_of(url);
        const std::lock_guard guard(s.lock);
        unsigned& tiers = s.tiers[std::string(url)];
        if (std::exchange(tiers, tiers | which) == 0 && watching_) watching_->entered(url);
    }
    void left(std::string_view url, tier which) {
        auto& s = shard_of(url);
        const std::lock_guard guard(s.lock);
        const auto found = s.tiers.find(url);
        if (found == s.tiers.end() || (found->second &= ~static_cast<unsigned>(which)) != 0) return;
        s.tiers.erase(found);
        if (watching_) watching_->left(url);
    }

  private:
    struct shard {
        mutable std::mutex lock;
        url_table<unsigned> tiers;
    };
    const shard& shard_of(std::string_view url) const {
        return shards_[hash::by_secret{}(url) % shards_.size()];
    }
    shard& shard_of(std::string_view url) { return shards_[hash::by_secret{}(url) % shards_.size()]; }

    observer* watching_;
    std::array<shard, 64> shards_;
};

// Passes on news of whole objects.
class of_wholes : public observer {
  public:
    explicit of_wholes(observer* to) : to_(to) {}
    void entered(std::string_view url) override {
        if (to_ && !is_parts_key(url)) to_->entered(url);
    }
    void left(std::string_view url) override {
        if (to_ && !is_parts_key(url)) to_->left(url);
    }

  private:
    observer* to_;
};

// What is still to be done on disk about one URL: first the erasure, then the variants.
struct note {
    struct planned {
        label of;
        stored object;  // to be written; null: its file is to be removed
    };
    bool erase = false;
    std::vector<planned> variants;
    std::uint64_t version = 0;  // counts the changes of this note

    planned* same(const label& of) {
        const auto found =
            std::ranges::find_if(variants, [&](const planned& p) { return p.of.variant == of.variant; });
        return found == variants.end() ? nullptr : &*found;
    }
};

// The URLs of one stripe share its locks.
struct stripe {
    std::mutex files;  // held while a file of such a URL is read or changed; taken first
    std::mutex quick;  // held while memory and notes change together; never during input or output
    url_table<note> notes;
    latest_changes latest;
};

struct store::tiers {
    tiers(const store_options&, observer* watching);

    stripe& stripe_of(std::string_view url) { return stripes[hash::by_secret{}(url) % stripes.size()]; }

    // All with quick held.
    enum class arrival { newest, outdated, doubtful };
    arrival judge(stripe&, const stored&) const;
    void plan(stripe&, const label&, stored);
    void count_note(stripe&, std::string_view url);
    stored within_limits(stored all, const stored& newest) const;
    void unplan(note::planned&);

    // With files held.
    stored noted(stripe&, std::string_view url, const request_head&);
    result<void> settle(stripe&, std::string_view url);
    void write(const note&, std::string_view url, result<void>& outcome);

    const std::uint64_t index_bytes, on_the_way;  // shares of the memory
    const std::shared_ptr<http_cache::room> bodies;
    tally both;
    tally::ear of_memory{both, tally::memory}, of_disk{both, tally::disk};
    of_wholes in_memory;
    memory_store memory;
    std::unique_ptr<disk_store> disk;       // may be null
    std::atomic<std::uint64_t> waiting{0};  // bytes of objects in notes
    std::array<stripe, 64> stripes;
};

}  // namespace posy::http_cache
