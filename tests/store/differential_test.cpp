#include "posy/store/differential.hpp"

#include <gtest/gtest.h>

#include <random>
#include <unordered_map>

#include "memory_pairs.hpp"
#include "statistics.hpp"

namespace posy::store {
namespace {

std::string name(std::uint64_t i) { return "key " + std::to_string(i); }

// Everything that was put and not erased, and nothing else.
void expect_all(differential& file, const std::unordered_map<std::string, std::string>& truth,
                unsigned keys) {
    at_least checked(keys);
    for (unsigned i = 0; i < keys; ++i, ++checked) {
        const auto known = truth.find(name(i));
        const auto read = file.get(name(i));
        ASSERT_TRUE(read);
        ASSERT_EQ(*read, known == truth.end() ? std::nullopt : std::optional(known->second)) << name(i);
    }
}

TEST(Differential, IsTheTruthWhateverFailsAndWheneverItIsOpened) {
    at_least merged(20, "finished merges"), failed(50, "failed writes"), opened(50, "openings");
    for (unsigned seed = 0; seed < 10; ++seed) {
        std::mt19937 random(seed);
        memory_pairs base, changes;
        std::unordered_map<std::string, std::string> truth;
        // A poor filter with little room, and small steps.
        const differential_options options{.changes = 20, .rate = 0.2, .batch = 7};
        auto file = *differential::open(base, changes, options);
        for (int i = 0; i < 5'000; ++i) {
            const std::string key = name(random() % 200), value = std::to_string(i);
            const auto what = random() % 100;
            if (what < 50) {
                if (file.put(key, value)) truth[key] = value;
            } else if (what < 70) {
                if (file.erase(key)) truth.erase(key);
            } else if (what < 90) {
                if (const auto more = file.merge_step(); more && !*more) ++merged;
            } else if (what < 93) {  // as a kill does: what was written is there, and nothing else
                file = *differential::open(base, changes, options);
                ++opened;
            } else if (what < 96) {
                (random() % 2 == 0 ? base : changes).writes_until_failure = static_cast<int>(random() % 3);
            } else {
                failed += (base.writes_until_failure == 0) + (changes.writes_until_failure == 0);
                base.writes_until_failure = changes.writes_until_failure = -1;
            }
            if (i % 50 == 0) expect_all(file, truth, 200);
        }
        base.writes_until_failure = changes.writes_until_failure = -1;
        ASSERT_TRUE(file.merge());
        ASSERT_TRUE(file.merge());  // what was changed behind the last step of the first
        EXPECT_TRUE(changes.held.empty());
        expect_all(file, truth, 200);
        EXPECT_EQ(base.held.size(), truth.size());
    }
}

TEST(Differential, ReadsOneStoreIfAtAllPossible) {
    memory_pairs base, changes;
    for (unsigned i = 0; i < 100'000; ++i) base.held[name(i)] = "old";
    auto file = *differential::open(base, changes, {.changes = 1'000, .rate = 0.01});
    for (unsigned i = 0; i < 1'000; ++i) ASSERT_TRUE(file.put(name(100 * i), "new"));
    for (unsigned i = 0; i < 100'000; ++i) ASSERT_EQ(*file.get(name(i)), i % 100 == 0 ? "new" : "old");
    const differential_counters& c = file.counters();
    EXPECT_EQ(c.reads, 100'000);
    EXPECT_EQ(c.base_reads, base.gets);
    EXPECT_EQ(c.change_reads, changes.gets);
    EXPECT_EQ(c.base_reads, 99'000);  // each key that is not changed
    EXPECT_EQ(c.change_reads, 1'000 + c.false_positives);
    bernoulli mistaken(99'000);
    mistaken.add(c.false_positives, 99'000, file.changed().false_positive_rate());
    mistaken.expect(5);  // 1 in 1.7 million
    EXPECT_LE(c.base_reads + c.change_reads, 102'000);
}

TEST(Differential, MarksErasedKeysUntilTheyAreMerged) {
    memory_pairs base, changes;
    base.held["a"] = "1";
    auto file = *differential::open(base, changes);
    ASSERT_TRUE(file.erase("a"));
    EXPECT_EQ(*file.get("a"), std::nullopt);
    EXPECT_EQ(base.held.size(), 1);
    ASSERT_TRUE(file.merge());
    EXPECT_EQ(*file.get("a"), std::nullopt);
    EXPECT_TRUE(base.held.empty());
    EXPECT_TRUE(changes.held.empty());
    EXPECT_EQ(*file.changed().items(), 0);
}

TEST(Differential, AMergeInStepsLeavesWhatIsWrittenBehindIt) {
    memory_pairs base, changes;
    auto file = *differential::open(base, changes, {.batch = 2});
    for (const auto* key : {"a", "b", "c", "d"}) ASSERT_TRUE(file.put(key, "1"));
    ASSERT_TRUE(*file.merge_step());  // a and b
    ASSERT_TRUE(file.put("a", "2"));
    ASSERT_TRUE(file.put("d", "2"));
    ASSERT_TRUE(file.merge());
    EXPECT_EQ(base.held, (std::map<std::string, std::string, std::less<>>{
                             {"a", "1"}, {"b", "1"}, {"c", "1"}, {"d", "2"}}));
    EXPECT_EQ(changes.held.size(), 1);
    EXPECT_EQ(*file.get("a"), "2");
    ASSERT_TRUE(file.merge());
    EXPECT_EQ(*file.get("a"), "2");
    EXPECT_TRUE(changes.held.empty());
}

TEST(Differential, ItsFilterGrowsWithTheChanges) {
    memory_pairs base, changes;
    auto file = *differential::open(base, changes, {.changes = 10, .rate = 0.01});
    for (unsigned i = 0; i < 5'000; ++i) ASSERT_TRUE(file.put(name(i), "x"));
    EXPECT_LE(file.changed().false_positive_rate(), 0.011);
    const auto again = *differential::open(base, changes, {.changes = 10, .rate = 0.01});
    EXPECT_LE(again.changed().false_positive_rate(), 0.011);
}

TEST(Differential, RefusesEntriesThatItDidNotWrite) {
    memory_pairs base, changes;
    auto file = *differential::open(base, changes);
    ASSERT_TRUE(file.put("b", "1"));
    for (const auto* entry : {"", "x", "-value"}) {
        changes.held["b"] = entry;
        const auto read = file.get("b");
        ASSERT_FALSE(read);
        EXPECT_EQ(read.error().kind, error_kind::damaged);
        EXPECT_FALSE(file.merge());
    }
    EXPECT_TRUE(base.held.empty());
    EXPECT_FALSE(differential::open(base, changes, {.batch = 0}));
}

}  // namespace
}  // namespace posy::store
