// Stores of keys with values, and differential files on them.
#include <gtest/gtest.h>
#include <sqlite3.h>

#include <map>
#include <random>

#include "posy/gates/leveldb_pairs.hpp"
#include "posy/gates/sqlite_pairs.hpp"
#include "posy/store/differential.hpp"
#include "statistics.hpp"
#include "support.hpp"

namespace posy::gates {
namespace {

using held = std::map<std::string, std::string>;

held all_of(const store::pairs& from, std::string_view first = {}) {
    held found;
    std::string last;
    EXPECT_TRUE(from.each(first, [&](std::string_view key, std::string_view value) {
        EXPECT_TRUE(found.empty() || last < key);
        last = key;
        found.emplace(key, value);
        return true;
    }));
    return found;
}

template <class Pairs>
struct PairsOf : testing::Test {
    scratch_directory folder;

    std::unique_ptr<Pairs> open(const char* name = "store") {
        return std::move(*Pairs::open(folder / name, false));  // nobody cuts the power
    }
};
using kinds = testing::Types<sqlite_pairs, leveldb_pairs>;
TYPED_TEST_SUITE(PairsOf, kinds);

TYPED_TEST(PairsOf, HoldAnyBytesInOrderAndKeepThem) {
    const std::string odd("\xff\0'\"\n", 5);
    const held truth{{"", "empty"}, {"a", ""}, {std::string("a\0", 2), odd}, {odd, "x"}, {"zebra", "y"}};
    {
        auto store = this->open();
        std::vector<store::change> changes;
        for (const auto& [key, value] : truth) changes.push_back({key, value});
        ASSERT_TRUE(store->write(changes));
    }
    const auto store = this->open();
    EXPECT_EQ(all_of(*store), truth);
    EXPECT_EQ(all_of(*store, std::string("a\0", 2)), held(truth.find(std::string("a\0", 2)), truth.end()));
    EXPECT_EQ(*store->get(odd), "x");
    EXPECT_EQ(*store->get("a"), "");
    EXPECT_EQ(*store->get("b"), std::nullopt);
    int seen = 0;
    ASSERT_TRUE(store->each("a", [&](auto, auto) { return ++seen < 2; }));
    EXPECT_EQ(seen, 2);
}

TYPED_TEST(PairsOf, ChangesOfOneWriteComeInOrder) {
    const auto store = this->open();
    ASSERT_TRUE(
        store->write(std::vector<store::change>{{"a", "1"}, {"b", "1"}, {"a", {}}, {"b", "2"}, {"c", {}}}));
    EXPECT_EQ(all_of(*store), (held{{"b", "2"}}));
}

TYPED_TEST(PairsOf, AFileThatCannotBeIsAnError) {
    const auto opened = TypeParam::open(this->folder / "no such folder" / "store");
    EXPECT_FALSE(opened);
}

TYPED_TEST(PairsOf, AreADifferentialFile) {
    std::mt19937 random(6);
    held truth;
    at_least merges(5), openings(5);
    auto base = this->open("base"), changes = this->open("changes");
    auto file = *store::differential::open(*base, *changes, {.changes = 50, .rate = 0.1, .batch = 20});
    for (int i = 0; i < 1'000; ++i) {
        const std::string key = "key " + std::to_string(random() % 300);
        const auto what = random() % 100;
        if (what < 60) {
            truth[key] = std::to_string(i);
            ASSERT_TRUE(file.put(key, truth[key]));
        } else if (what < 80) {
            truth.erase(key);
            ASSERT_TRUE(file.erase(key));
        } else if (what < 96) {
            const auto more = file.merge_step();
            ASSERT_TRUE(more);
            merges += *more ? 0 : 1;
        } else {
            base.reset();
            changes.reset();
            base = this->open("base");
            changes = this->open("changes");
            file = *store::differential::open(*base, *changes, {.changes = 50, .rate = 0.1, .batch = 20});
            ++openings;
        }
        const std::string other = "key " + std::to_string(random() % 300);
        const auto known = truth.find(other);
        ASSERT_EQ(*file.get(other), known == truth.end() ? std::nullopt : std::optional(known->second));
    }
    ASSERT_TRUE(file.merge());
    ASSERT_TRUE(file.merge());
    EXPECT_EQ(all_of(*base), truth);
    EXPECT_TRUE(all_of(*changes).empty());
}

TEST(SqlitePairs, ABusyDatabaseIsNotChanged) {
    scratch_directory folder;
    const auto one = std::move(*sqlite_pairs::open(folder / "store"));
    sqlite3* other = nullptr;
    ASSERT_EQ(sqlite3_open((folder / "store").c_str(), &other), SQLITE_OK);
    ASSERT_EQ(sqlite3_exec(other, "BEGIN IMMEDIATE", nullptr, nullptr, nullptr), SQLITE_OK);
    const std::vector<store::change> changes{{"a", "1"}};
    const auto refused = one->write(changes);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().kind, error_kind::busy);
    EXPECT_EQ(*one->get("a"), std::nullopt);
    sqlite3_close(other);
    EXPECT_TRUE(one->write(changes));
    EXPECT_EQ(*one->get("a"), "1");
}

TEST(LeveldbPairs, AnOpenFolderIsRefused) {
    scratch_directory folder;
    const auto one = std::move(*leveldb_pairs::open(folder / "store"));
    EXPECT_FALSE(leveldb_pairs::open(folder / "store"));
}

}  // namespace
}  // namespace posy::gates
