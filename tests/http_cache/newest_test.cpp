// The newest answer wins, whatever the order in which things happen: fetches that overtake each other,
// confirmations, erasures, evictions, a disk that is behind or skipped, restarts.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <mutex>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "heads.hpp"
#include "posy/http_cache/store.hpp"
#include "posy/http_cache/validation.hpp"
#include "support.hpp"

namespace posy::http_cache {
namespace {

constexpr std::size_t url_count = 12;

// An origin whose pages have numbered versions, and what its clients have seen of them.
struct origin {
    struct page {
        std::mutex lock;
        std::uint64_t version = 1;
        std::atomic<std::uint64_t> seen{0};  // the version below which nobody may be served
    };
    std::array<page, url_count> pages;

    void show(std::uint64_t number, std::uint64_t version) {
        auto& seen = pages[number].seen;
        for (auto now = seen.load(); now < version && !seen.compare_exchange_weak(now, version);) {
        }
    }
};

std::uint64_t version_of(const stored& object) { return std::stoull(*object->body); }

stored made(std::uint64_t number, std::uint64_t version, std::size_t size, exchange_times times) {
    const auto text = std::to_string(version);
    auto body = std::make_shared<const std::string>(text + std::string(size, ' '));
    return make_stored(url_of(number), get(),
                       answer(200, {{"Cache-Control", "max-age=60"}, {"ETag", '"' + text + '"'}}), body,
                       times);
}

// What is to be settled, handed out in any order.
class backlog {
  public:
    void add(std::string url) {
        const std::lock_guard guard(lock_);
        urls_.push_back(std::move(url));
    }
    std::string take(std::mt19937_64& random) {
        const std::lock_guard guard(lock_);
        if (urls_.empty()) return {};
        std::swap(urls_[random() % urls_.size()], urls_.back());
        auto url = std::move(urls_.back());
        urls_.pop_back();
        return url;
    }

  private:
    std::mutex lock_;
    std::vector<std::string> urls_;
};

class shaker {
  public:
    shaker(store& tiers, origin& from, backlog& behind, std::uint64_t seed)
        : tiers_(tiers), from_(from), behind_(behind), random_(seed) {}

    void step() {
        const auto number = random_() % url_count;
        const auto what = random_() % 20;
        if (what < 7) {
            read(number);
        } else if (what < 12) {
            fetch(number);
        } else if (what < 14) {
            confirm(number);
        } else if (what < 15) {
            change(number);
        } else {
            write();
        }
    }
    std::uint64_t served() const { return served_; }
    std::uint64_t older() const { return older_; }

  private:
    void wait() {
        for (auto times = random_() % 4; times > 0; --times) std::this_thread::yield();
    }
    void put(const stored& object, std::uint64_t number) {
        const auto change = tiers_.put_soon(object);
        if (change.made) from_.show(number, version_of(object));
        if (change.unsettled) behind_.add(object->url);
    }
    void read(std::uint64_t number) {
        const auto least = from_.pages[number].seen.load();
        const auto found = tiers_.find(url_of(number), get());
        if (!found) return;
        ++served_;
        older_ += version_of(found) < least;
        from_.show(number, version_of(found));
    }
    // Sends a request; the answer is of one moment, and may be long in coming.
    void fetch(std::uint64_t number) {
        exchange_times times{noon, noon, 0, next_moment()};
        wait();
        auto& page = from_.pages[number];
        std::uint64_t version = 0;
        {
            const std::lock_guard guard(page.lock);
            if (random_() % 2 == 0) ++page.version;
            version = page.version;
            times.answered = next_moment();
        }
        wait();
        const std::size_t size = random_() % 10 == 0 ? 8000 : 10 + random_() % 3000;
        put(made(number, version, size, times), number);
    }
    void confirm(std::uint64_t number) {
        const auto held = tiers_.find_in_memory(url_of(number), get());
        if (!held) return;
        exchange_times times{noon, noon, 0, next_moment()};
        wait();
        {
            const std::lock_guard guard(from_.pages[number].lock);
            if (from_.pages[number].version != version_of(held)) return;
            times.answered = next_moment();
        }
        wait();
        put(freshened(*held, get(), answer(304), times), number);
    }
    // By a POST: when it is answered, nothing that is older may be served any more.
    void change(std::uint64_t number) {
        std::uint64_t version = 0;
        {
            const std::lock_guard guard(from_.pages[number].lock);
            version = ++from_.pages[number].version;
        }
        wait();
        if (tiers_.erase_soon(url_of(number)).unsettled) behind_.add(url_of(number));
        from_.show(number, version);
    }
    void write() {
        const auto url = behind_.take(random_);
        if (!url.empty()) {
            EXPECT_TRUE(tiers_.settle(url));
        }
    }

    store& tiers_;
    origin& from_;
    backlog& behind_;
    std::mt19937_64 random_;
    std::uint64_t served_ = 0, older_ = 0;
};

// Returns how often something was served.
std::uint64_t shake(const store_options& how, std::uint64_t seed, int restarts, int steps) {
    origin from;
    std::atomic<std::uint64_t> served = 0, older = 0;
    for (int round = 0; round < restarts; ++round) {
        auto opened = store::open(how);
        EXPECT_TRUE(opened);
        backlog behind;
        std::vector<std::jthread> threads;
        for (std::uint64_t thread = 0; thread < 4; ++thread) {
            threads.emplace_back([&, thread, round] {
                shaker one(**opened, from, behind, seed * 1000 + static_cast<unsigned>(round) * 10 + thread);
                for (int i = 0; i < steps; ++i) one.step();
                served += one.served(), older += one.older();
            });
        }
        threads.clear();
    }
    EXPECT_EQ(older, 0u) << "seed " << seed;
    return served;
}

TEST(newest, is_served_in_any_order_with_a_disk) {
    std::uint64_t served = 0;
    for (std::uint64_t seed = 1; seed <= 6; ++seed) {
        const scratch_directory temporary;
        // Small, so that both tiers evict, and writes are skipped because too much waits.
        served += shake({{.bytes = 70000, .shards = 1}, disk_options{temporary.path(), 60000}}, seed, 6, 600);
    }
    EXPECT_GT(served, 5000u);
}

TEST(newest, is_served_in_any_order_in_memory) {
    std::uint64_t served = 0;
    for (std::uint64_t seed = 1; seed <= 6; ++seed) {
        served += shake({{.bytes = 40000, .shards = 1}, std::nullopt}, seed, 1, 4000);
    }
    EXPECT_GT(served, 5000u);
}

// The rules one by one.

std::unique_ptr<store> with_disk(const scratch_directory& where, std::uint64_t memory = 1 << 20) {
    auto opened = store::open({{.bytes = memory, .shards = 1}, disk_options{where.path(), 1 << 20}});
    EXPECT_TRUE(opened);
    return std::move(*opened);
}
exchange_times now() { return {noon, noon, 0, next_moment(), next_moment()}; }

TEST(newest, an_answer_that_was_overtaken_is_refused) {
    const scratch_directory temporary;
    const auto tiers = with_disk(temporary);
    const auto early = now(), late = now();
    EXPECT_TRUE(tiers->put_soon(made(1, 2, 10, late)).made);
    EXPECT_FALSE(tiers->put_soon(made(1, 1, 10, early)).made);
    EXPECT_EQ(version_of(tiers->find(url_of(1), get())), 2u);
    EXPECT_TRUE(tiers->settle(url_of(1)));
    EXPECT_EQ(tiers->disk_counts()->objects, 1u);
}

TEST(newest, an_erasure_beats_an_answer_that_was_asked_for_before) {
    const scratch_directory temporary;
    const auto tiers = with_disk(temporary);
    const auto before = now();
    tiers->erase(url_of(1));
    EXPECT_FALSE(tiers->put(made(1, 1, 10, before)));
    EXPECT_FALSE(tiers->has(url_of(1)));
    EXPECT_TRUE(tiers->put(made(2, 1, 10, before)));  // another URL
    EXPECT_TRUE(tiers->put(made(1, 2, 10, now())));
}

TEST(newest, an_erasure_forgotten_for_others_is_still_obeyed) {
    const scratch_directory temporary;
    const auto tiers = with_disk(temporary);
    const auto before = now();
    tiers->erase(url_of(1));
    for (std::uint64_t other = 2; other < 40000; ++other) tiers->erase_soon(url_of(other));
    EXPECT_FALSE(tiers->put(made(1, 1, 10, before)));
    EXPECT_TRUE(tiers->put(made(1, 2, 10, now())));
}

TEST(newest, a_confirmation_does_not_beat_an_answer_that_came_meanwhile) {
    const scratch_directory temporary;
    const auto tiers = with_disk(temporary);
    const auto old = made(1, 1, 10, now());
    EXPECT_TRUE(tiers->put(old));
    exchange_times confirming{noon, noon, 0, next_moment()};
    EXPECT_TRUE(tiers->put(made(1, 2, 10, now())));
    confirming.answered = next_moment();
    EXPECT_FALSE(tiers->put(freshened(*old, get(), answer(304), confirming)));
    EXPECT_EQ(version_of(tiers->find(url_of(1), get())), 2u);
}

// Of answers whose exchanges overlap, Date tells the newer one.
TEST(newest, dates_decide_between_overlapping_exchanges) {
    const scratch_directory temporary;
    const auto tiers = with_disk(temporary);
    const auto asked = next_moment();
    const auto dated = [&](std::string_view date, const std::string& body) {
        return make_stored(url_of(1), get(), answer(200, {{"Cache-Control", "max-age=60"}, {"Date", date}}),
                           std::make_shared<const std::string>(body), {noon, noon, 0, asked, next_moment()});
    };
    EXPECT_TRUE(tiers->put(dated("Mon, 01 Jan 2024 12:00:00 GMT", "2")));
    EXPECT_FALSE(tiers->put(dated("Mon, 01 Jan 2024 11:59:59 GMT", "1")));
    EXPECT_EQ(version_of(tiers->find(url_of(1), get())), 2u);
}

TEST(newest, where_nobody_can_tell_neither_is_kept) {
    const scratch_directory temporary;
    const auto tiers = with_disk(temporary);
    const auto asked = next_moment();
    const auto overlapping = [&] { return exchange_times{noon, noon, 0, asked, next_moment()}; };
    EXPECT_TRUE(tiers->put(made(1, 7, 10, overlapping())));
    EXPECT_TRUE(tiers->put(made(1, 7, 10, overlapping())));  // the same
    EXPECT_FALSE(tiers->put(made(1, 8, 10, overlapping())));
    EXPECT_FALSE(tiers->has(url_of(1)));
    EXPECT_FALSE(tiers->put(made(1, 7, 10, overlapping())));
    EXPECT_TRUE(tiers->put(made(1, 9, 10, now())));
}

// Too much waits for the disk: the new answer is not written, and the old file goes nevertheless.
TEST(newest, a_skipped_write_removes_the_old_file) {
    const scratch_directory temporary;
    {
        const auto tiers = with_disk(temporary, 200000);
        EXPECT_TRUE(tiers->put(made(1, 1, 10, now())));
        for (std::uint64_t other = 2; other < 8; ++other) tiers->put_soon(made(other, 1, 8000, now()));
        EXPECT_TRUE(tiers->put_soon(made(1, 2, 10, now())).made);
        EXPECT_EQ(version_of(tiers->find(url_of(1), get())), 2u);
    }
    const auto again = with_disk(temporary, 200000);
    EXPECT_TRUE(again->has(url_of(2)));
    EXPECT_FALSE(again->has(url_of(1)));
}

TEST(newest, what_waits_for_the_disk_is_found_and_survives_the_end) {
    const scratch_directory temporary;
    {
        const auto tiers = with_disk(temporary, 480000);
        EXPECT_TRUE(tiers->put_soon(made(1, 1, 50000, now())).made);  // too large for this memory
        EXPECT_EQ(tiers->memory_counts().objects, 0u);
        EXPECT_TRUE(tiers->has(url_of(1)));
        EXPECT_EQ(version_of(tiers->find(url_of(1), get())), 1u);
        EXPECT_EQ(tiers->disk_counts()->objects, 0u);
    }
    EXPECT_TRUE(with_disk(temporary, 480000)->has(url_of(1)));
}

}  // namespace
}  // namespace posy::http_cache
