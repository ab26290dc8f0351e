#include "posy/gate.hpp"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <unordered_map>

#include "statistics.hpp"

namespace posy {
namespace {

using namespace std::chrono_literals;
using text_gate = gate<std::string, int>;

// A store in memory that notes how it is asked, and fails when it is told to.
struct memory_store {
    std::unordered_map<std::string, int> pairs;
    std::vector<std::size_t> queries;  // sizes
    bool fails = false, hides_its_keys = false;

    text_gate::store behind() {
        return {[this](std::span<const std::string> keys, std::span<std::optional<int>> answers) {
                    return ask(keys, answers);
                },
                [this](const store::key_visitor<std::string>& visit) { return each_key(visit); }};
    }
    result<void> ask(std::span<const std::string> keys, std::span<std::optional<int>> answers) {
        queries.push_back(keys.size());
        for (std::size_t i = 0; i < keys.size(); ++i) {
            if (fails && i == keys.size() / 2) return error::input_output("the line is dead");
            if (const auto found = pairs.find(keys[i]); found != pairs.end()) answers[i] = found->second;
        }
        return {};
    }
    result<void> each_key(const store::key_visitor<std::string>& visit) const {
        if (hides_its_keys) return error::input_output("no keys today");
        for (const auto& [key, value] : pairs) visit(key);
        return {};
    }
    void fill(int from, int to) {
        for (int i = from; i < to; ++i) pairs["key " + std::to_string(i)] = i;
    }
};

text_gate::time at(std::chrono::microseconds since) { return text_gate::time(since); }

// Random calls against the truth. An answer must be the state of the store when it is given: absent keys are
// known to be absent, and found ones have their value.
class against_truth {
  public:
    against_truth(const gate_options& options, unsigned seed)
        : random_(seed), gate_((behind_.fill(0, 300), *text_gate::open(behind_.behind(), options))) {}

    void step() {
        now_ += std::chrono::microseconds(random_() % 20);
        const std::string key = "key " + std::to_string(random_() % 1500);
        const auto what = random_() % 100;
        if (what < 80) {
            look_up(key);
        } else if (what < 88) {
            behind_.pairs[key] = static_cast<int>(random_() % 1000);
            if (!gate_.insert(key)) ++failures;
        } else if (what < 96) {
            behind_.pairs.erase(key);
        } else if (what == 96) {
            behind_.fails = !behind_.fails;
        } else if (what == 97) {
            behind_.hides_its_keys = !behind_.hides_its_keys;
        } else if (what == 98) {
            if (!gate_.flush(at(now_))) ++failures;
        } else if (random_() % 20 == 0) {
            if (!gate_.rebuild()) ++failures;
        }
    }
    void finish() {
        behind_.fails = behind_.hides_its_keys = false;
        ASSERT_TRUE(gate_.flush(at(now_)));
        const gate_counters& c = gate_.counters();
        EXPECT_EQ(answered, c.asked - c.refused);
        EXPECT_EQ(c.asked, c.absent_at_once + c.learned + c.shared + c.refused + c.found + c.false_positives);
        EXPECT_EQ(c.queries, behind_.queries.size());
        std::uint64_t in_queries = 0;
        for (const std::size_t size : behind_.queries) in_queries += size;
        EXPECT_EQ(c.keys_in_queries, in_queries);
        for (const auto& [key, value] : behind_.pairs) EXPECT_TRUE(gate_.keys().may_contain(key)) << key;
    }

    const text_gate& operator*() const { return gate_; }
    std::uint64_t answered = 0, failures = 0;

  private:
    void look_up(const std::string& key) {
        const auto done = gate_.find(key, at(now_), [this, key](const std::optional<int>& found) {
            ++answered;
            const auto truth = behind_.pairs.find(key);
            ASSERT_EQ(found.has_value(), truth != behind_.pairs.end()) << key;
            if (found) {
                EXPECT_EQ(*found, truth->second) << key;
            }
        });
        if (!done) ++failures;
    }

    std::mt19937 random_;
    memory_store behind_;
    std::chrono::microseconds now_{0};
    text_gate gate_;
};

TEST(Gate, NeverDeniesAKeyOfTheStore) {
    at_least learned(1'000), shared(100), refused(100), rebuilds(20), failures(100);
    for (unsigned seed = 0; seed < 20; ++seed) {
        // A poor filter with little room, and few learned keys: all of it happens often.
        against_truth run({.items = 200,
                           .rate = 0.2,
                           .batch = 1 + seed,
                           .patience = 100us,
                           .most_waiting = 40,
                           .learned = seed * 8},
                          seed);
        for (int i = 0; i < 20'000; ++i) run.step();
        run.finish();
        const gate_counters& c = (*run).counters();
        learned += c.learned;
        shared += c.shared;
        refused += c.refused;
        rebuilds += c.rebuilds;
        failures += run.failures;
    }
}

struct GateOf : testing::Test {
    memory_store behind;
    std::vector<std::optional<int>> answers;
    text_gate::receiver keep = [this](const std::optional<int>& found) { answers.push_back(found); };
};

TEST_F(GateOf, AsksForABatchOrAfterADeadline) {
    behind.fill(0, 100);
    auto gate = *text_gate::open(behind.behind(), {.items = 100, .rate = 1e-6, .batch = 3, .patience = 1ms});
    EXPECT_EQ(gate.deadline(), std::nullopt);
    EXPECT_TRUE(gate.find("nobody", at(0us), keep));
    EXPECT_EQ(answers.size(), 1);
    EXPECT_EQ(answers[0], std::nullopt);
    for (int i = 0; i < 3; ++i) {
        EXPECT_EQ(answers.size(), 1);
        EXPECT_TRUE(gate.find("key " + std::to_string(i), at(10us), keep));
    }
    EXPECT_EQ(behind.queries, std::vector<std::size_t>{3});
    EXPECT_EQ(answers, (std::vector<std::optional<int>>{std::nullopt, 0, 1, 2}));

    EXPECT_TRUE(gate.find("key 7", at(20us), keep));
    EXPECT_TRUE(gate.find("key 7", at(30us), keep));
    EXPECT_EQ(gate.deadline(), at(1020us));
    EXPECT_EQ(gate.waiting(), 1);
    EXPECT_TRUE(gate.tick(at(1019us)));
    EXPECT_EQ(answers.size(), 4);
    EXPECT_TRUE(gate.find("nobody", at(1020us), keep));  // any call notices that it is late
    EXPECT_EQ(behind.queries, (std::vector<std::size_t>{3, 1}));
    EXPECT_EQ(answers, (std::vector<std::optional<int>>{std::nullopt, 0, 1, 2, std::nullopt, 7, 7}));
    const gate_counters& c = gate.counters();
    EXPECT_EQ(c.asked, 7);
    EXPECT_EQ(c.absent_at_once, 2);
    EXPECT_EQ(c.shared, 1);
    EXPECT_EQ(c.found, 4);
    EXPECT_EQ(c.false_positives, 0);
}

TEST_F(GateOf, AFailedQueryLosesNothingAndIsMadeAgain) {
    behind.fill(0, 100);
    auto gate = *text_gate::open(
        behind.behind(), {.items = 100, .rate = 1e-6, .batch = 2, .patience = 1ms, .most_waiting = 3});
    behind.fails = true;
    EXPECT_TRUE(gate.find("key 1", at(0us), keep));
    const auto failed = gate.find("key 2", at(0us), keep);
    ASSERT_FALSE(failed);
    EXPECT_EQ(failed.error().text(), "the line is dead");
    EXPECT_EQ(gate.waiting(), 2);
    EXPECT_TRUE(gate.find("key 3", at(999us), keep));  // not asked again before its time
    EXPECT_EQ(behind.queries.size(), 1);
    const auto refused = gate.find("key 4", at(1000us), keep);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().kind, error_kind::busy);
    EXPECT_EQ(behind.queries.size(), 2);
    EXPECT_TRUE(gate.find("nobody", at(1001us), keep));
    EXPECT_EQ(answers, std::vector<std::optional<int>>{std::nullopt});
    behind.fails = false;
    EXPECT_TRUE(gate.tick(at(2000us)));
    EXPECT_EQ(answers, (std::vector<std::optional<int>>{std::nullopt, 1, 2, 3}));
    EXPECT_EQ(gate.counters().failed_queries, 2);
    EXPECT_EQ(gate.counters().keys_in_queries, 2 + 2 + 2 + 1);
    EXPECT_EQ(gate.counters().refused, 1);
}

TEST_F(GateOf, ThrowingQueriesLoseNothingEither) {
    behind.fill(0, 10);
    bool throws = true;
    auto store = behind.behind();
    store.ask = [&, ask = store.ask](auto keys, auto found) {
        if (throws) throw std::runtime_error("thrown");
        return ask(keys, found);
    };
    auto gate = *text_gate::open(store, {.items = 10, .rate = 1e-6, .batch = 1});
    EXPECT_THROW((void)gate.find("key 1", at(0us), keep), std::runtime_error);
    throws = false;
    EXPECT_TRUE(gate.flush(at(0us)));
    EXPECT_EQ(answers, std::vector<std::optional<int>>{1});
}

TEST_F(GateOf, AFalsePositiveIsAskedOnceUntilItIsInserted) {
    behind.fill(0, 1000);
    auto gate = *text_gate::open(behind.behind(), {.items = 1000, .rate = 0.1, .batch = 1});
    std::vector<std::string> mistaken;
    for (int i = 0; i < 1000; ++i)
        if (const auto key = "absent " + std::to_string(i); gate.keys().may_contain(key))
            mistaken.push_back(key);
    ASSERT_GT(mistaken.size(), 20);
    for (int round = 0; round < 3; ++round)
        for (const auto& key : mistaken) EXPECT_TRUE(gate.find(key, at(0us), keep));
    EXPECT_EQ(behind.queries.size(), mistaken.size());
    EXPECT_EQ(gate.counters().learned, 2 * mistaken.size());
    EXPECT_EQ(gate.counters().false_positives, mistaken.size());

    behind.pairs[mistaken[0]] = 42;
    EXPECT_TRUE(gate.insert(mistaken[0]));
    EXPECT_TRUE(gate.find(mistaken[0], at(0us), keep));
    EXPECT_EQ(answers.back(), 42);
}

TEST_F(GateOf, AReceiverMayWriteToTheStore) {
    behind.fill(0, 1000);
    auto gate = *text_gate::open(behind.behind(), {.items = 1000, .rate = 0.1, .batch = 100});
    std::vector<std::string> mistaken;
    for (int i = 0; mistaken.size() < 2; ++i)
        if (const auto key = "absent " + std::to_string(i); gate.keys().may_contain(key))
            mistaken.push_back(key);
    // The first is told that it is absent, and then the second is written, whose answer is known already.
    EXPECT_TRUE(gate.find(mistaken[0], at(0us), [&](const std::optional<int>& found) {
        EXPECT_FALSE(found);
        behind.pairs[mistaken[1]] = 42;
        EXPECT_TRUE(gate.insert(mistaken[1]));
        EXPECT_TRUE(gate.find(mistaken[1], at(0us), keep));  // asked in the next query
    }));
    EXPECT_TRUE(gate.find(mistaken[1], at(0us), keep));
    EXPECT_TRUE(gate.flush(at(0us)));
    EXPECT_EQ(answers, (std::vector<std::optional<int>>{std::nullopt, 42}));
}

TEST_F(GateOf, IsRebuiltWhenItHoldsMoreThanPlanned) {
    behind.fill(0, 100);
    auto gate = *text_gate::open(behind.behind(), {.items = 100, .rate = 0.01});
    for (int i = 100; i < 10'000; ++i) {
        const auto key = "key " + std::to_string(i);
        behind.pairs[key] = i;
        EXPECT_TRUE(gate.insert(key));
        // Filters of a hundred keys differ by chance; one of twice the keys planned would have 8 %.
        EXPECT_LE(gate.keys().false_positive_rate(), 0.02);
    }
    EXPECT_GE(gate.counters().rebuilds, 6);  // 100 · 2^6 < 9,900: it doubles every time
    EXPECT_LE(gate.counters().rebuilds, 8);
    for (const auto& [key, value] : behind.pairs) EXPECT_TRUE(gate.keys().may_contain(key));
}

TEST_F(GateOf, IsRebuiltWhenItsRateDrifts) {
    behind.fill(0, 10'000);
    auto gate = *text_gate::open(behind.behind(), {.items = 10'000, .rate = 0.01, .learned = 0});
    std::mt19937 random(5);
    std::uint64_t asked = 0;
    const auto ask = [&](int from, int to) {
        const int i = std::uniform_int_distribution(from, to - 1)(random);
        EXPECT_TRUE(gate.find("key " + std::to_string(i), at(std::chrono::microseconds(++asked)), keep));
    };
    for (int i = 0; i < 100'000; ++i) ask(0, 1'000'000);
    EXPECT_EQ(gate.counters().rebuilds, 0);
    // Half of the keys leave; 2 % of the questions are about them. (The filter alone: 1 %.)
    for (int i = 0; i < 5'000; ++i) behind.pairs.erase("key " + std::to_string(i));
    for (int i = 0; i < 100'000; ++i) i % 50 == 0 ? ask(0, 5'000) : ask(10'000, 1'000'000);
    EXPECT_EQ(gate.counters().rebuilds, 1);
    EXPECT_LT(*gate.keys().items(), 5'001);
    behind.hides_its_keys = true;
    EXPECT_FALSE(gate.rebuild());
    EXPECT_LT(*gate.keys().items(), 5'001);
    EXPECT_EQ(gate.counters().rebuilds, 1);
}

TEST_F(GateOf, RebuildsReadAtMostOneKeyPerCall) {
    // A store that has none of its keys any more: every rebuild finds the rate too high again.
    behind.fill(0, 1000);
    std::uint64_t read = 0;
    auto store = behind.behind();
    store.ask = [](auto, auto) { return result<void>(); };
    store.each_key = [&, each = store.each_key](const auto& visit) {
        read += behind.pairs.size();
        return each(visit);
    };
    auto gate = *text_gate::open(store, {.items = 1000, .rate = 0.01, .batch = 1, .learned = 0});
    read = 0;
    for (int i = 0; i < 20'000; ++i) EXPECT_TRUE(gate.find("key " + std::to_string(i % 1000), at(0us), keep));
    EXPECT_GE(gate.counters().rebuilds, 10);
    EXPECT_LE(read, gate.counters().asked);
}

TEST_F(GateOf, RefusesImpossibleOptionsAndAStoreWithoutKeys) {
    EXPECT_FALSE(text_gate::open(behind.behind(), {.batch = 0}));
    EXPECT_FALSE(text_gate::open(behind.behind(), {.batch = 10, .most_waiting = 9}));
    EXPECT_FALSE(text_gate::open(behind.behind(), {.rate = 0.6}));
    behind.hides_its_keys = true;
    const auto opened = text_gate::open(behind.behind());
    ASSERT_FALSE(opened);
    EXPECT_EQ(opened.error().text(), "no keys today");
}

// Keys that are taken as spans, and values without keys of their own.
TEST(GateOfBytes, TakesOtherKeys) {
    using bytes = std::vector<std::byte>;
    const bytes there{std::byte{1}, std::byte{2}};
    gate<bytes, bool>::store store{[&](std::span<const bytes> keys, std::span<std::optional<bool>> answers) {
                                       for (std::size_t i = 0; i < keys.size(); ++i)
                                           if (keys[i] == there) answers[i] = true;
                                       return result<void>();
                                   },
                                   [&](const store::key_visitor<bytes>& visit) {
                                       visit(there);
                                       return result<void>();
                                   }};
    auto gate = *posy::gate<bytes, bool>::open(store, {.items = 10, .rate = 1e-6, .batch = 1});
    bool found = false;
    EXPECT_TRUE(gate.find(there, at(0us), [&](const std::optional<bool>& answer) { found = *answer; }));
    EXPECT_TRUE(found);
}

}  // namespace
}  // namespace posy
