#include "posy/http_cache/s3_fifo.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <random>
#include <vector>

namespace posy::http_cache {
namespace {

// The queues with an index by value, as a store has one; sizes are 1 unless said.
class cache_of_numbers {
  public:
    explicit cache_of_numbers(std::uint64_t budget) : budget_(budget), queues_(budget) {}

    // True: it was there.
    bool ask(int number, std::uint64_t bytes = 1) {
        if (const auto found = index_.find(number); found != index_.end()) {
            queues_.use(found->second);
            return true;
        }
        index_[number] = queues_.insert(static_cast<std::uint64_t>(number), bytes, number, evict());
        check();
        return false;
    }
    void replace(int number, std::uint64_t bytes) {
        queues_.replace(index_.at(number), bytes, number, evict());
        check();
    }
    void erase(int number) {
        queues_.erase(index_.at(number));
        index_.erase(number);
        check();
    }
    bool has(int number) const { return index_.contains(number); }
    std::size_t size() const { return queues_.size(); }
    std::vector<int> evicted;

  private:
    std::function<void(s3_fifo<int>::handle)> evict() {
        return [this](s3_fifo<int>::handle at) {
            EXPECT_EQ(index_.erase(at->value), 1u);
            evicted.push_back(at->value);
        };
    }
    void check() const {
        ASSERT_LE(queues_.bytes(), budget_);
        ASSERT_EQ(queues_.size(), index_.size());
        std::uint64_t sum = 0;
        for (const auto& [number, at] : index_) {
            ASSERT_EQ(at->value, number);
            sum += at->bytes;
        }
        ASSERT_EQ(queues_.bytes(), sum);
    }

    std::uint64_t budget_;
    s3_fifo<int> queues_;
    std::map<int, s3_fifo<int>::handle> index_;
};

using numbers = std::vector<int>;

TEST(s3_fifo, entries_never_asked_for_leave_in_order) {
    cache_of_numbers cache(10);
    for (int i = 0; i < 15; ++i) cache.ask(i);
    EXPECT_EQ(cache.evicted, (numbers{0, 1, 2, 3, 4}));
}

TEST(s3_fifo, what_was_asked_for_survives_a_scan) {
    cache_of_numbers cache(10);
    for (int i = 0; i < 10; ++i) cache.ask(i);
    for (int i = 0; i < 3; ++i) EXPECT_TRUE(cache.ask(i));
    for (int i = 100; i < 200; ++i) cache.ask(i);
    for (int i = 0; i < 3; ++i) EXPECT_TRUE(cache.has(i)) << i;
    EXPECT_FALSE(cache.has(3));
    EXPECT_EQ(cache.size(), 10u);
}

TEST(s3_fifo, a_ghost_comes_back_into_the_main_queue) {
    cache_of_numbers cache(10);
    for (int i = 0; i <= 10; ++i) cache.ask(i);
    EXPECT_EQ(cache.evicted, numbers{0});
    cache.ask(0);  // evicts 1; 0 is remembered
    for (int i = 100; i < 150; ++i) cache.ask(i);
    EXPECT_TRUE(cache.has(0));
    EXPECT_FALSE(cache.has(10));
}

// Nine tenths of the budget are remembered, no more.
TEST(s3_fifo, old_ghosts_are_forgotten) {
    cache_of_numbers cache(10);
    for (int i = 0; i < 20; ++i) cache.ask(i);  // the ghosts are 1 to 9
    cache.ask(0);
    for (int i = 100; i < 150; ++i) cache.ask(i);
    EXPECT_FALSE(cache.has(0));
}

TEST(s3_fifo, uses_are_up_to_three_rounds) {
    cache_of_numbers cache(10);
    for (int i = 0; i < 10; ++i) cache.ask(i);
    for (int use = 0; use < 100; ++use) cache.ask(0);
    for (int i = 1; i < 10; ++i) cache.ask(i), cache.ask(i), cache.ask(i);
    // All have three uses, and all are in the small queue: it empties into the main one, which turns until
    // the oldest has none left.
    cache.ask(10);
    EXPECT_EQ(cache.evicted, numbers{0});
}

TEST(s3_fifo, one_large_entry_takes_the_place_of_many) {
    cache_of_numbers cache(10);
    for (int i = 0; i < 10; ++i) cache.ask(i);
    cache.ask(99, 8);
    EXPECT_EQ(cache.evicted.size(), 8u);
    EXPECT_TRUE(cache.has(99));
    cache.ask(98, 10);
    EXPECT_EQ(cache.size(), 1u);
}

TEST(s3_fifo, a_replaced_entry_keeps_its_place) {
    cache_of_numbers cache(10);
    for (int i = 0; i < 5; ++i) cache.ask(i);
    cache.replace(3, 6);
    EXPECT_TRUE(cache.evicted.empty());
    cache.replace(3, 8);
    EXPECT_EQ(cache.evicted, (numbers{0, 1}));
    cache.replace(3, 1);
    for (int i = 10; i < 18; ++i) cache.ask(i);
    EXPECT_EQ(cache.evicted, (numbers{0, 1, 2}));
}

TEST(s3_fifo, erased_is_not_evicted) {
    cache_of_numbers cache(10);
    for (int i = 0; i < 10; ++i) cache.ask(i);
    cache.erase(4);
    cache.ask(10);
    EXPECT_TRUE(cache.evicted.empty());
    EXPECT_FALSE(cache.has(4));
}

// Random requests of random sizes: check() after every one of them.
TEST(s3_fifo, books_balance) {
    std::mt19937_64 random(6);
    for (const std::uint64_t budget : {1u, 5u, 9u, 100u, 1000u}) {
        cache_of_numbers cache(budget);
        for (int step = 0; step < 3000; ++step) {
            const int number = static_cast<int>(random() % 60);
            const std::uint64_t bytes = 1 + random() % std::max<std::uint64_t>(1, budget / 8);
            if (random() % 8 == 0 && cache.has(number)) {
                random() % 2 == 0 ? cache.erase(number) : cache.replace(number, bytes);
            } else {
                cache.ask(number, bytes);
                ASSERT_TRUE(cache.has(number));
            }
        }
    }
}

// Zipf-like requests, 300 of 3,000 objects held. A cache of the 300 most popular would hit H(300)/H(3000) =
// 73.2 %; a FIFO queue hits 58.0 % here, LRU 63.0 %, and this 69.6 %. The standard error of 40,000 requests
// is 0.23 %: the bound is ten of them below, and far above LRU.
TEST(s3_fifo, keeps_the_popular_ones) {
    cache_of_numbers cache(300);
    std::vector<double> weights;
    for (int rank = 0; rank < 3000; ++rank) weights.push_back(1.0 / (rank + 1));
    std::discrete_distribution<int> object(weights.begin(), weights.end());
    std::mt19937_64 random(7);
    int hits = 0;
    for (int i = 0; i < 40000; ++i) hits += cache.ask(object(random));
    EXPECT_GT(hits / 40000.0, 0.672);
}

}  // namespace
}  // namespace posy::http_cache
