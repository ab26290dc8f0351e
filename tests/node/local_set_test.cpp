// A node's set on a clock of our own, and followed through the very heads that node and follower exchange.
#include "node/local_set.hpp"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>

#include "posy/overlay/mesh_directory.hpp"

namespace posy::node {
namespace {

using namespace std::chrono_literals;

constexpr std::uint64_t start = 1'700'000'000'000;

// The keys, the set of them, and what was true of each generation.
struct world {
    explicit world(const options& how) : set(how, source(), [this] { return now; }) {
        set.on_publish = [this] { published[set.generation()] = keys; };
        set.on_publish();
    }
    void add(const std::string& key) {
        if (keys.insert(key).second) set.insert(key);
    }
    void remove(const std::string& key) {
        if (keys.erase(key)) set.remove(key);
    }
    local_set::key_source source() {
        return [this](const local_set::visit& visit) {
            for (const auto& key : keys) visit(key);
        };
    }

    std::uint64_t now = start;
    std::set<std::string> keys;
    std::map<std::uint64_t, std::set<std::string>> published;
    local_set set;
};

options small() {
    options how;
    how.items = 200;
    how.change = 0.05;
    how.interval = 60s;
    return how;
}

TEST(local_set, the_interval_counts_from_the_last_publication) {
    world w(small());
    const auto first = w.set.generation();
    EXPECT_EQ(first, start);  // a node that restarts does not go back
    w.now = start + 59'999;
    w.add("a");
    EXPECT_FALSE(w.set.tick());
    EXPECT_EQ(w.set.generation(), first);
    w.now = start + 60'000;
    EXPECT_TRUE(w.set.tick());
    EXPECT_EQ(w.set.generation(), first + 1);
    // Nothing changes: nothing is published, however long it takes.
    w.now += 600'000;
    EXPECT_FALSE(w.set.tick());
    // The interval is over already: the first change is published with it.
    w.add("b");
    EXPECT_EQ(w.set.generation(), first + 2);
    w.add("c");
    EXPECT_EQ(w.set.generation(), first + 2);
}

TEST(local_set, a_share_of_the_planned_items_publishes) {
    world w(small());
    const auto first = w.set.generation();
    for (int i = 0; i < 9; ++i) w.add(std::to_string(i));
    EXPECT_EQ(w.set.generation(), first);
    w.add("the tenth of 200");
    EXPECT_EQ(w.set.generation(), first + 1);
}

TEST(local_set, grows_to_twice_the_set) {
    world w(small());
    const auto bits = w.set.describe().bits;
    for (int i = 0; i < 401; ++i) w.add(std::to_string(i));
    EXPECT_TRUE(w.set.tick());
    EXPECT_EQ(w.set.describe().rebuilt, 1U);
    EXPECT_GT(w.set.describe().bits, 3 * bits);
    for (int i = 0; i < 401; ++i) EXPECT_TRUE(w.set.may_contain(std::to_string(i)));
    for (int i = 0; i < 401; ++i) w.remove(std::to_string(i));
    EXPECT_EQ(w.set.describe().items, 0U);
    EXPECT_EQ(w.set.describe().fill, 0);
}

TEST(local_set, hashes_anew_when_a_period_begins) {
    auto how = small();
    how.rehash = 1h;
    world w(how);
    w.add("a");
    constexpr std::uint64_t hour = 3'600'000;
    const auto seed_at = [&](std::uint64_t time) { return hash_at(time, how); };
    EXPECT_EQ(seed_at(start - start % hour), seed_at(start));
    EXPECT_NE(seed_at(start), seed_at(start + hour));
    w.now = start - start % hour + hour - 1;
    w.set.tick();
    EXPECT_EQ(w.set.describe().rehashed, 0U);
    ++w.now;
    EXPECT_TRUE(w.set.tick());
    EXPECT_EQ(w.set.describe().rehashed, 1U);
    EXPECT_TRUE(w.set.may_contain("a"));
}

// What a peer asks for, and what it makes of the answer: peers::ask() without the network.
struct peer_simulation {
    overlay::mesh_directory directory;
    std::map<unsigned, int> statuses;

    // `arrives`: the answer does.
    void ask(world& w, bool arrives) {
        http_cache::fields asked;
        const auto have = directory.edition_of("w");
        add_to(asked, {have ? tag_of(*have) : "", true, 60s});
        const auto reply = w.set.summary(question_of(asked));
        const auto head = head_of(reply, 0);
        if (!arrives) return;
        ++statuses[head.status];
        const auto tag = held_of(head.fields.find("ETag").value());
        ASSERT_TRUE(tag);
        EXPECT_EQ(tag->generation, w.set.generation());
        if (head.status == 304) {
            EXPECT_EQ(reply.message, nullptr);
            directory.confirm("w", w.now);
        } else {
            EXPECT_EQ(head.fields.has("IM"), head.status == 226);
            const auto order = head.status == 200 ? sequence::any : sequence::ascending;
            const auto became = directory.receive("w", *reply.message, w.now, order);
            EXPECT_EQ(became, head.status == 200 ? reception::replaced : reception::updated);
        }
        EXPECT_EQ(directory.edition_of("w"), (edition{tag->generation, *tag->checksum}));
    }
};

// Hours of changes, seeds and losses: a peer finds every key of the generation it holds, and one answer
// brings it up to date.
TEST(local_set, is_followed_over_a_bad_link) {
    auto how = small();
    how.rehash = 20min;
    world w(how);
    peer_simulation peer;
    std::mt19937_64 random(1);
    for (int step = 0; step < 20'000; ++step) {
        w.now += random() % 2000;
        const auto key = std::to_string(random() % 1000);
        random() % 2 ? w.add(key) : w.remove(key);
        if (random() % 4 == 0) w.set.tick();
        if (random() % 3) continue;
        ASSERT_NO_FATAL_FAILURE(peer.ask(w, random() % 5 != 0));
        const auto held = peer.directory.edition_of("w");
        if (!held) continue;
        for (const auto& each : w.published.at(held->generation))
            ASSERT_EQ(peer.directory.who(each, w.now).size(), 1U) << step << " " << each;
        w.published.erase(w.published.begin(), w.published.find(held->generation));
    }
    ASSERT_NO_FATAL_FAILURE(peer.ask(w, true));
    EXPECT_EQ(peer.directory.edition_of("w")->generation, w.set.generation());
    // Each kind of answer has had its part.
    for (const unsigned status : {200U, 226U, 304U}) EXPECT_GT(peer.statuses[status], 10) << status;
}

TEST(local_set, shares_deltas_only_when_told_to) {
    for (const auto way : {sharing::full, sharing::compressed, sharing::delta}) {
        auto how = small();
        how.sharing = way;
        world w(how);
        for (int i = 0; i < 100; ++i) w.add("old " + std::to_string(i));
        const auto before = w.set.summary({}).which;
        for (int i = 0; i < 10; ++i) w.add(std::to_string(i));
        const auto kind = w.set.summary({tag_of(before), true, 0s}).what;
        EXPECT_EQ(kind,
                  way == sharing::delta ? publisher::reply::kind::delta : publisher::reply::kind::whole);
    }
}

}  // namespace
}  // namespace posy::node
