// Keys of one digest, made on purpose: what they must not do to a cache, a counting set or a reconciliation.
#include <gtest/gtest.h>

#include <chrono>
#include <set>

#include "colliding_keys.hpp"
#include "http_cache/heads.hpp"
#include "posy/bloom_filter.hpp"
#include "posy/counting_filter.hpp"
#include "posy/http_cache/disk_store.hpp"
#include "posy/http_cache/store.hpp"
#include "posy/plan.hpp"
#include "posy/publisher.hpp"
#include "posy/reconcile/session.hpp"
#include "posy/secret_hash.hpp"
#include "support.hpp"

namespace posy {
namespace {

constexpr std::uint64_t many = 10'000;

std::set<std::pair<std::uint64_t, std::uint64_t>> digests_of(const std::vector<std::string>& keys,
                                                             const hasher& hash) {
    std::set<std::pair<std::uint64_t, std::uint64_t>> all;
    for (const auto& key : keys) {
        const digest d = hash(key);
        all.emplace(d.low, d.high);
    }
    return all;
}

hasher keyed(std::uint64_t low, std::uint64_t high) { return hasher(hash_family::siphash, {low, high}); }

std::vector<std::string> random_urls(std::uint64_t count) {
    std::vector<std::string> urls;
    for (std::uint64_t i = 0; i < count; ++i) {
        std::string url = "http://h/" + std::to_string(i);
        urls.push_back(url.append(300 - url.size(), 'x'));
    }
    return urls;
}

TEST(collide, any_number_of_keys_has_one_digest_if_the_seed_is_known) {
    for (const std::uint64_t seed : {0ULL, 1ULL, 0x123456789abcdef0ULL}) {
        const auto keys = colliding_keys("http://h/", seed, seed == 0 ? 300 : 512).first(20'000);
        EXPECT_EQ(std::set(keys.begin(), keys.end()).size(), keys.size());
        EXPECT_EQ(digests_of(keys, hasher(hash_family::xxh3, {seed})).size(), 1u) << seed;
        EXPECT_EQ(digests_of(keys, keyed(1, 2)).size(), keys.size());
        EXPECT_EQ(digests_of(keys, hash::secret_hasher()).size(), keys.size());
    }
}

// What docs/security.md says of seeds: below 2^32 they leave most of the structure that the construction
// uses.
TEST(collide, a_small_seed_of_xxh3_is_no_cure) {
    const auto keys = colliding_keys("http://h/").first(20'000);
    EXPECT_LT(digests_of(keys, hasher(hash_family::xxh3, {77})).size(), 100u);
    EXPECT_EQ(digests_of(keys, hasher(hash_family::xxh3, {0x9e3779b97f4a7c15})).size(), keys.size());
}

TEST(collide, the_keyed_hash_keeps_the_rate) {
    const colliding_keys keys("http://h/");
    const geometry shape =
        choose({.items = many, .rate = 1e-9})->geometry(hash_family::siphash, {0x1234, 0x5678});
    auto filter = *bloom_filter::make(shape);
    for (const auto& key : keys.first(many)) filter.insert(filter.hash()(key));
    for (const auto& key : keys.first(many)) EXPECT_TRUE(filter.may_contain(filter.hash()(key)));
    // 20,000 at 1e-9: a false alarm in 50,000 sets, and the seed is fixed.
    for (const auto& key : keys.first(20'000, many)) EXPECT_FALSE(filter.may_contain(filter.hash()(key)));
}

// Two keys of one digest count twice, before and after a publication.
TEST(collide, a_published_set_keeps_the_other_key) {
    const colliding_keys keys("http://h/");
    auto set = *counting_filter::make(choose({.items = 100, .rate = 0.01})->geometry());
    const hasher hash = set.hash();
    auto published = *publisher::make(std::move(set));
    published.insert(hash(keys(0)));
    published.insert(hash(keys(1)));
    ASSERT_TRUE(published.publish(1));
    EXPECT_TRUE(published.remove(hash(keys(0))));
    EXPECT_TRUE(published.set().may_contain(hash(keys(1))));
    EXPECT_TRUE(published.remove(hash(keys(1))));
    EXPECT_FALSE(published.set().may_contain(hash(keys(1))));
}

namespace store_of_urls {

using namespace http_cache;

stored response_of(const std::string& url) {
    return kept(answer(200, {{"Cache-Control", "max-age=60"}}), get(), url, "of " + url);
}

// Puts, misses and finds all of them.
double seconds_for(const std::vector<std::string>& urls) {
    const auto begin = std::chrono::steady_clock::now();
    const auto opened = store::open({.memory = {.bytes = std::uint64_t{256} << 20}});
    auto& in = **opened;
    for (const auto& url : urls) {
        EXPECT_EQ(in.find(url, get()), nullptr);
        EXPECT_TRUE(in.put(response_of(url)));
    }
    for (const auto& url : urls) {
        const auto found = in.find(url, get());
        EXPECT_TRUE(found && *found->body == "of " + url);
    }
    EXPECT_EQ(in.memory_counts().urls, urls.size());
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

}  // namespace store_of_urls

// Ten times: with this many keys, a list in place of a table takes a hundred times as long.
TEST(collide, a_store_of_colliding_urls_is_as_quick_as_another) {
    using store_of_urls::seconds_for;
    const auto ordinary = random_urls(many), made = colliding_keys("http://h/").first(many);
    const double random = std::max(seconds_for(ordinary), seconds_for(ordinary));
    EXPECT_LT(std::min(seconds_for(made), seconds_for(made)), 10 * random);
}

// If two of them had one name, each would replace the other's file.
TEST(collide, files_of_colliding_urls_are_different_files) {
    using namespace http_cache;
    using store_of_urls::response_of;
    const scratch_directory temporary;
    const auto urls = colliding_keys("http://h/").first(100);
    for (const bool again : {false, true}) {
        const auto opened = disk_store::open({temporary.path(), 1 << 20});
        ASSERT_TRUE(opened) << opened.error().text();
        auto& in = **opened;
        EXPECT_EQ(in.counts().objects, again ? urls.size() : 0u);
        for (const auto& url : urls) {
            if (!again) {
                EXPECT_TRUE(in.put(*response_of(url)));
            }
        }
        for (const auto& url : urls) {
            const auto found = in.find(url, get());
            EXPECT_TRUE(found && *found->body == "of " + url);
        }
    }
}

// Only the owner reads the key, and a damaged one is not replaced: the files would have other names.
TEST(collide, the_key_of_a_cache_is_made_once_and_kept) {
    using namespace http_cache;
    using store_of_urls::response_of;
    const scratch_directory temporary;
    const auto objects = [&] { return (*disk_store::open({temporary.path(), 1 << 20}))->counts().objects; };
    ASSERT_TRUE((*disk_store::open({temporary.path(), 1 << 20}))->put(*response_of("http://h/")));
    EXPECT_EQ(objects(), 1u);
    const auto secret = file_bytes(temporary / "key");
    EXPECT_EQ(secret.size(), 16u);
    EXPECT_EQ(std::filesystem::status(temporary / "key").permissions() & std::filesystem::perms::all,
              std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
    std::filesystem::resize_file(temporary / "key", 15);
    const auto damaged = disk_store::open({temporary.path(), 1 << 20});
    ASSERT_FALSE(damaged);
    EXPECT_NE(damaged.error().message.find("the 16 bytes of a key"), std::string::npos);
    EXPECT_EQ(file_bytes(temporary / "key").size(), 15u);
}

TEST(collide, a_reconciliation_draws_its_hash) {
    using namespace reconcile;
    const hasher one = *fresh_hasher(), two = *fresh_hasher();
    EXPECT_FALSE(one == two);  // 34 bits: a false alarm in 17 billion
    const colliding_keys keys("http://h/");
    const auto set_of = [&](std::uint64_t from) {
        std::vector<digest> digests;
        for (const auto& key : keys.first(many, from)) digests.push_back(one(key));
        for (digest& d : digests) d.high = 0;
        return digest_set(one, digest_width::half, std::move(digests));
    };
    const auto here = set_of(0), there = set_of(500);
    EXPECT_EQ(here.repeated(), 0u);
    auto asks = *session::ask(here, {});
    auto answers = session::answer(there, {});
    for (bool any = true; any;) {
        any = false;
        for (auto [from, to] : {std::pair(&asks, &answers), std::pair(&answers, &asks)}) {
            while (auto message = from->send()) {
                ASSERT_TRUE(to->receive(*message));
                any = true;
            }
        }
    }
    EXPECT_EQ(asks.found().only_here.size(), 500u);
    EXPECT_EQ(asks.found().only_there.size(), 500u);
}

}  // namespace
}  // namespace posy
