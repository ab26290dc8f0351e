#include "posy/http_cache/memory_store.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <map>
#include <random>
#include <thread>

#include "heads.hpp"
#include "watcher.hpp"

namespace posy::http_cache {
namespace {

// One of several variants of a URL.
stored varied(std::uint64_t number, std::string_view language, std::string body = "body") {
    return kept(answer(200, {{"Vary", "Accept-Language"}}), get({{"Accept-Language", language}}),
                url_of(number), std::move(body));
}
request_head asking(std::string_view language) { return get({{"Accept-Language", language}}); }

TEST(memory_store, finds_what_was_put) {
    watcher heard;
    memory_store store({}, &heard);
    EXPECT_EQ(store.find(url_of(1), get()), nullptr);
    const auto one = plain(1);
    EXPECT_TRUE(store.put(one));
    EXPECT_EQ(store.find(url_of(1), get()), one);
    EXPECT_EQ(store.peek(url_of(1), get()), one);
    EXPECT_TRUE(store.has(url_of(1)));
    EXPECT_FALSE(store.has(url_of(2)));
    EXPECT_EQ(store.counts().bytes, one->size);
    EXPECT_EQ(heard.urls(), std::set{url_of(1)});
    EXPECT_TRUE(store.erase(url_of(1)));
    EXPECT_FALSE(store.erase(url_of(1)));
    EXPECT_EQ(store.find(url_of(1), get()), nullptr);
    EXPECT_EQ(store.counts().bytes, 0u);
    EXPECT_TRUE(heard.urls().empty());
}

TEST(memory_store, variants_live_under_one_url) {
    watcher heard;
    memory_store store({}, &heard);
    const auto german = varied(1, "de"), french = varied(1, "fr");
    store.put(german);
    store.put(french);
    EXPECT_EQ(store.find(url_of(1), asking("de")), german);
    EXPECT_EQ(store.find(url_of(1), asking(" fr")), french);
    EXPECT_EQ(store.find(url_of(1), asking("en")), nullptr);
    EXPECT_EQ(store.find(url_of(1), get()), nullptr);
    const auto newer = varied(1, "de", "neu");
    store.put(newer);
    EXPECT_EQ(store.find(url_of(1), asking("de")), newer);
    EXPECT_EQ(store.counts().objects, 2u);
    EXPECT_EQ(store.counts().urls, 1u);
    EXPECT_EQ(store.counts().bytes, newer->size + french->size);
    EXPECT_TRUE(store.erase(url_of(1)));
    EXPECT_EQ(store.counts().objects, 0u);
}

// RFC 9111, 4.1: of several that match, the most recent.
TEST(memory_store, the_newest_match_answers) {
    memory_store store;
    const auto body = std::make_shared<const std::string>("x");
    const auto at = [&](seconds when, field_list list) {
        return make_stored(url_of(1), asking("de"), answer(200, list), body, {when, when});
    };
    const auto newer = at(noon + 5, {{"Vary", "Accept-Language"}});
    const auto older = at(noon, {});
    store.put(newer);
    store.put(older);
    EXPECT_EQ(store.find(url_of(1), asking("de")), newer);
    EXPECT_EQ(store.find(url_of(1), asking("fr")), older);
}

TEST(memory_store, variants_of_a_url_are_limited) {
    memory_store store;
    const auto body = std::make_shared<const std::string>("x");
    for (std::size_t i = 0; i < most_variants + 3; ++i) {
        const auto when = noon + static_cast<seconds>(i);
        store.put(make_stored(url_of(1), asking(std::to_string(i)),
                              answer(200, {{"Vary", "Accept-Language"}}), body, {when, when}));
    }
    EXPECT_EQ(store.counts().objects, most_variants);
    EXPECT_EQ(store.find(url_of(1), asking("2")), nullptr);
    EXPECT_NE(store.find(url_of(1), asking("3")), nullptr);
}

TEST(memory_store, a_large_object_is_refused_and_what_it_replaces_is_gone) {
    watcher heard;
    memory_store store({.bytes = 80000, .shards = 8}, &heard);  // one shard: the budget is small
    EXPECT_TRUE(store.put(plain(1, 8000)));
    EXPECT_FALSE(store.put(plain(2, 10000)));
    EXPECT_EQ(heard.urls(), std::set{url_of(1)});
    EXPECT_FALSE(store.put(plain(1, 10000)));
    EXPECT_TRUE(heard.urls().empty());
    EXPECT_EQ(store.counts().bytes, 0u);
}

TEST(memory_store, a_find_counts_and_a_peek_does_not) {
    for (const bool counting : {true, false}) {
        memory_store store({.bytes = 100000, .shards = 1});
        store.put(plain(0));
        counting ? store.find(url_of(0), get()) : store.peek(url_of(0), get());
        for (std::uint64_t i = 1; i < 200; ++i) store.put(plain(i));
        EXPECT_EQ(store.has(url_of(0)), counting);
    }
}

// The last thing put for each variant is the model. Whatever is found is that very thing; the observer's set,
// the store's own and the table of what can be found agree after every step; bytes add up and fit.
TEST(memory_store, agrees_with_a_map_whatever_happens) {
    std::mt19937_64 random(8);
    for (const std::uint64_t budget : {20000u, 60000u, 400000u}) {
        watcher heard;
        memory_store store({.bytes = budget, .shards = 1}, &heard);
        std::map<std::pair<std::uint64_t, std::string>, stored> model;
        for (int step = 0; step < 4000; ++step) {
            const std::uint64_t number = random() % 40;
            const std::string language(1, static_cast<char>('a' + random() % 3));
            const bool held = heard.urls().contains(url_of(number));
            switch (random() % 8) {
                case 0:
                    EXPECT_EQ(store.erase(url_of(number)), held);
                    std::erase_if(model, [&](const auto& entry) { return entry.first.first == number; });
                    break;
                case 1:
                case 2: {
                    const auto response = varied(number, language, std::string(random() % (budget / 7), 'x'));
                    const bool taken = store.put(response);
                    EXPECT_EQ(taken, response->size <= budget / largest_object_divisor);
                    if (taken) {
                        model[{number, language}] = response;
                    } else {
                        model.erase({number, language});
                    }
                    break;
                }
                default:
                    store.find(url_of(number), asking(language));
            }
            std::set<std::string> findable;
            std::uint64_t bytes = 0, objects = 0;
            for (auto entry = model.begin(); entry != model.end();) {
                const auto found = store.peek(url_of(entry->first.first), asking(entry->first.second));
                if (!found) {  // evicted, which only happens for want of room
                    entry = model.erase(entry);
                    continue;
                }
                ASSERT_EQ(found, entry->second);
                findable.insert(found->url);
                bytes += found->size;
                ++objects;
                ++entry;
            }
            ASSERT_EQ(heard.urls(), findable);
            ASSERT_EQ(urls_in(store), findable);
            const auto counts = store.counts();
            ASSERT_EQ(counts.bytes, bytes);
            ASSERT_EQ(counts.objects, objects);
            ASSERT_EQ(counts.urls, findable.size());
            ASSERT_LE(counts.bytes, budget);
        }
        EXPECT_GT(store.counts().evictions, 0u);
    }
}

TEST(memory_store, shards_share_the_budget) {
    watcher heard;
    memory_store store({.bytes = 4 * least_shard, .shards = 8}, &heard);
    for (std::uint64_t i = 0; i < 3000; ++i) EXPECT_TRUE(store.put(plain(i, 5000)));
    const auto counts = store.counts();
    EXPECT_LE(counts.bytes, 4 * least_shard);
    EXPECT_GT(counts.bytes, 4 * least_shard * 95 / 100);
    EXPECT_EQ(counts.objects + counts.evictions, 3000u);
    EXPECT_EQ(heard.urls(), urls_in(store));
    EXPECT_EQ(heard.urls().size(), counts.urls);
}

// For the thread sanitizer, and for the books afterwards.
TEST(memory_store, from_many_threads) {
    watcher heard;
    memory_store store({.bytes = 2 * least_shard, .shards = 2}, &heard);
    std::atomic<int> wrong = 0;
    {
        std::vector<std::jthread> threads;
        for (unsigned thread = 0; thread < 4; ++thread) {
            threads.emplace_back([&, thread] {
                std::mt19937_64 random(thread);
                for (int step = 0; step < 1500; ++step) {
                    const auto number = random() % 300;
                    if (random() % 10 == 0) store.erase(url_of(number));
                    if (const auto found = store.find(url_of(number), get())) {
                        wrong += found->url != url_of(number) || found->body->size() < 10000;
                    } else {
                        store.put(plain(number, 10000 + random() % 1000));
                    }
                }
            });
        }
    }
    EXPECT_EQ(wrong, 0);
    EXPECT_EQ(heard.urls(), urls_in(store));
    EXPECT_LE(store.counts().bytes, 2 * least_shard);
    EXPECT_GT(store.counts().evictions, 0u);
}

}  // namespace
}  // namespace posy::http_cache
