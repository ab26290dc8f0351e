#include "posy/http_cache/store.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <random>
#include <thread>

#include "heads.hpp"
#include "support.hpp"
#include "watcher.hpp"

namespace posy::http_cache {
namespace {

std::unique_ptr<store> opened(const store_options& options, observer* watching = nullptr) {
    auto made = store::open(options, watching);
    EXPECT_TRUE(made) << made.error().text();
    return std::move(*made);
}
store_options two_tiers(const scratch_directory& where, std::uint64_t memory, std::uint64_t disk) {
    return {{.bytes = memory, .shards = 1}, disk_options{where.path(), disk}};
}

TEST(store, without_a_disk_is_the_memory_store) {
    watcher heard;
    const auto tiers = opened({{.bytes = 100000}, std::nullopt}, &heard);
    const auto one = plain(1);
    EXPECT_FALSE(tiers->has_disk());
    EXPECT_FALSE(tiers->disk_counts());
    EXPECT_TRUE(tiers->put(one));
    EXPECT_EQ(tiers->find(url_of(1), get()), one);
    EXPECT_EQ(tiers->find_in_memory(url_of(1), get()), one);
    EXPECT_TRUE(tiers->has(url_of(1)));
    EXPECT_FALSE(tiers->put(plain(2, 50000)));
    EXPECT_EQ(heard.urls(), urls_in(*tiers));
    EXPECT_TRUE(tiers->erase(url_of(1)));
    EXPECT_FALSE(tiers->erase(url_of(1)));
    EXPECT_TRUE(heard.urls().empty());
}

// Until a thread has come to write it, the note alone has it.
TEST(store, has_what_waits_to_be_written) {
    const scratch_directory temporary;
    watcher heard;
    const auto tiers = opened(two_tiers(temporary, 120000, 1 << 20), &heard);
    std::uint64_t noted = 0;
    while (tiers->put_soon(plain(noted, 3000)).unsettled && noted < 4) ++noted;
    for (std::uint64_t i = 0; i < 60; ++i) tiers->put_soon(plain(100 + i, 3000));  // too many to wait
    ASSERT_FALSE(tiers->find_in_memory(url_of(0), get()));
    EXPECT_TRUE(tiers->has(url_of(0)) && heard.urls().contains(url_of(0)));
    EXPECT_EQ(heard.urls(), urls_in(*tiers));
    EXPECT_TRUE(tiers->erase_soon(url_of(0)).made);
    EXPECT_FALSE(tiers->has(url_of(0)) || heard.urls().contains(url_of(0)));
    ASSERT_TRUE(tiers->settle(url_of(1)));
    EXPECT_TRUE(tiers->has(url_of(1)) && tiers->find(url_of(1), get()));
    EXPECT_EQ(heard.urls(), urls_in(*tiers));
}

TEST(store, what_memory_evicts_the_disk_still_has) {
    const scratch_directory temporary;
    watcher heard;
    const auto tiers = opened(two_tiers(temporary, 120000, 1 << 20), &heard);
    for (std::uint64_t i = 0; i < 50; ++i) EXPECT_TRUE(tiers->put(plain(i, 3000)));
    EXPECT_LT(tiers->memory_counts().objects, 20u);
    EXPECT_EQ(tiers->disk_counts()->objects, 50u);
    EXPECT_EQ(heard.urls().size(), 50u);
    EXPECT_EQ(tiers->find_in_memory(url_of(0), get()), nullptr);
    const auto found = tiers->find(url_of(0), get());
    ASSERT_TRUE(found);
    EXPECT_EQ(found->body->size(), 3000u);
    EXPECT_EQ(tiers->find_in_memory(url_of(0), get()), found);  // it came back
    EXPECT_TRUE(tiers->erase(url_of(0)));
    EXPECT_EQ(tiers->find(url_of(0), get()), nullptr);
    EXPECT_EQ(heard.urls(), urls_in(*tiers));
    EXPECT_EQ(heard.urls().size(), 49u);
}

TEST(store, what_only_one_tier_takes_is_held) {
    const scratch_directory temporary;
    watcher heard;
    const auto tiers = opened(two_tiers(temporary, 480000, 1 << 20), &heard);
    EXPECT_TRUE(tiers->put(plain(1, 50000)));  // too large for this memory
    EXPECT_EQ(tiers->memory_counts().objects, 0u);
    EXPECT_EQ(heard.urls(), std::set{url_of(1)});
    EXPECT_EQ(tiers->find(url_of(1), get())->body->size(), 50000u);
    EXPECT_FALSE(tiers->put(plain(1, 500000)));  // and now for both: the old one is outdated
    EXPECT_TRUE(heard.urls().empty());
    EXPECT_FALSE(tiers->has(url_of(1)));
}

TEST(store, opens_with_what_the_disk_has) {
    const scratch_directory temporary;
    { opened(two_tiers(temporary, 100000, 1 << 20))->put(plain(1)); }
    watcher heard;
    const auto tiers = opened(two_tiers(temporary, 100000, 1 << 20), &heard);
    EXPECT_EQ(heard.urls(), std::set{url_of(1)});
    EXPECT_TRUE(tiers->has(url_of(1)));
    EXPECT_TRUE(tiers->find(url_of(1), get()));
}

// A disk of many small files is a large index: that has its share of the memory, and what does not fit goes.
TEST(store, the_index_of_the_disk_keeps_the_memory) {
    const scratch_directory temporary;
    const auto tiers = opened(two_tiers(temporary, 100000, 1 << 30));
    for (std::uint64_t i = 0; i < 100; ++i) tiers->put(plain(i, 10));
    EXPECT_LE(tiers->disk_counts()->objects * index_overhead, 25000u);
    EXPECT_GE(tiers->disk_counts()->objects, 35u);
    EXPECT_GT(tiers->disk_counts()->evictions, 0u);
}

// What is read from the disk takes room like what comes from an origin, until its last user is gone; where
// there is none it is not found, and not lost.
TEST(store, the_disk_is_read_within_the_room) {
    const scratch_directory temporary;
    { opened(two_tiers(temporary, 480000, 1 << 20))->put(plain(1, 50000)); }
    const auto tiers = opened(two_tiers(temporary, 480000, 1 << 20));
    const auto& room = *tiers->room();
    auto found = tiers->find(url_of(1), get());
    ASSERT_TRUE(found);
    EXPECT_GE(room.used(), 50000u);
    found.reset();
    EXPECT_EQ(room.used(), 0u);
    const auto rest = room.bytes() - 50000;
    ASSERT_TRUE(tiers->room()->take(rest));
    EXPECT_EQ(tiers->find(url_of(1), get()), nullptr);
    EXPECT_TRUE(tiers->has(url_of(1)));
    tiers->room()->give_back(rest);
    EXPECT_TRUE(tiers->find(url_of(1), get()));
}

// An object that was evicted while a slow client reads it is still in memory, and still counted: the next
// object finds that much less room, and all of them together stay within it.
TEST(store, what_is_evicted_and_still_read_is_counted) {
    const auto tiers = opened({{.bytes = 200000, .shards = 1}, std::nullopt});
    const auto& room = tiers->room();
    std::vector<stored> read;  // by clients that do not finish
    int kept = 0;
    for (std::uint64_t i = 0; i < 100; ++i) {
        incoming_body body(room, 10000, 10000, 2000);
        if (!body.append(std::string(10000, 'x'))) continue;
        const auto object = make_stored(url_of(i), get(), answer(200, {{"Cache-Control", "max-age=60"}}),
                                        body.take(), {noon, noon});
        ASSERT_TRUE(tiers->put(object));
        read.push_back(object);
        ++kept;
        ASSERT_LE(room->used(), room->bytes());
    }
    EXPECT_EQ(kept, 200000 / 12000);
    EXPECT_LT(tiers->memory_counts().objects, read.size());
    read.clear();
    EXPECT_EQ(room->used(), tiers->memory_counts().objects * 12000);
    EXPECT_TRUE(incoming_body(room, 10000, 10000, 2000).open());
}

// Both tiers evict, each by its own; the observer hears of the union throughout, and a newer response is
// never followed by an older one.
TEST(store, the_observer_hears_of_the_union) {
    const scratch_directory temporary;
    watcher heard;
    const auto tiers = opened(two_tiers(temporary, 70000, 20000), &heard);
    std::mt19937_64 random(11);
    std::vector<char> last(40, 'a');
    for (int step = 0; step < 1500; ++step) {
        const auto number = random() % last.size();
        const auto choice = random() % 10;
        if (choice == 0) {
            const bool held = heard.urls().contains(url_of(number));
            EXPECT_EQ(tiers->erase(url_of(number)), held);
            EXPECT_FALSE(tiers->has(url_of(number)));
        } else if (choice < 5) {
            last[number] = last[number] == 'z' ? 'a' : static_cast<char>(last[number] + 1);
            tiers->put(plain(number, 1 + random() % 4000, last[number]));
        } else if (const auto found = tiers->find(url_of(number), get())) {
            ASSERT_EQ(found->body->front(), last[number]);
        }
        ASSERT_EQ(heard.urls(), urls_in(*tiers));
    }
    EXPECT_GT(tiers->memory_counts().evictions, 10u);
    EXPECT_GT(tiers->disk_counts()->evictions, 10u);
}

TEST(store, from_many_threads) {
    const scratch_directory temporary;
    watcher heard;
    const auto tiers = opened(two_tiers(temporary, 30000, 60000), &heard);
    std::atomic<int> wrong = 0;
    {
        std::vector<std::jthread> threads;
        for (unsigned thread = 0; thread < 4; ++thread) {
            threads.emplace_back([&, thread] {
                std::mt19937_64 random(thread);
                for (int step = 0; step < 200; ++step) {
                    const auto number = random() % 30;
                    if (random() % 8 == 0) tiers->erase(url_of(number));
                    if (const auto found = tiers->find(url_of(number), get())) {
                        wrong += found->url != url_of(number);
                    } else {
                        tiers->put(plain(number, random() % 3000));
                    }
                }
            });
        }
    }
    EXPECT_EQ(wrong, 0);
    EXPECT_EQ(heard.urls(), urls_in(*tiers));
}

}  // namespace
}  // namespace posy::http_cache
