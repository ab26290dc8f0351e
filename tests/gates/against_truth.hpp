// A gate before a table of a real database, against a std::unordered_map: random lookups, writes and
// rebuilds.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <random>
#include <string>
#include <unordered_map>

#include "posy/gate.hpp"
#include "statistics.hpp"

namespace posy::gates {

// The i-th of a few keys that are awkward for some database, and many plain ones.
template <class Key>
Key key_of(unsigned i) {
    if constexpr (std::same_as<Key, std::int64_t>) {
        if (i == 0) return std::numeric_limits<std::int64_t>::min();
        return i % 2 == 0 ? static_cast<std::int64_t>(i) : -static_cast<std::int64_t>(i) * 1'000'000'007;
    } else {
        const std::string some[] = {
            "", "'; DROP TABLE users --", "\"{,}\\", "NULL", "größe 語", "A", "a", " a", "a "};
        return i < std::size(some) ? some[i] : "user " + std::to_string(i);
    }
}

template <class Key>
struct table_under_test {
    typename gate<Key, std::string>::store store;
    std::function<void(const Key&, const std::string& value)> put;
    std::function<void(const Key&)> erase;
};

template <class Key>
void expect_truth(const table_under_test<Key>& table, int steps) {
    using namespace std::chrono_literals;
    std::mt19937 random(11);
    std::unordered_map<Key, std::string> truth;
    for (unsigned i = 0; i < 300; ++i) {
        truth[key_of<Key>(i)] = "first";
        table.put(key_of<Key>(i), "first");
    }
    // Room for fewer keys than there are, and a poor rate: false positives and rebuilds are frequent.
    auto gate = *posy::gate<Key, std::string>::open(
        table.store, {.items = 200, .rate = 0.2, .batch = 37, .patience = 100us, .learned = 64});
    at_least answers(static_cast<std::uint64_t>(steps) / 2);
    typename posy::gate<Key, std::string>::time now{};
    for (int i = 0; i < steps; ++i) {
        const Key key = key_of<Key>(static_cast<unsigned>(random() % 1200));
        const auto what = random() % 100;
        if (what < 90) {
            now += 10us;
            const auto done = gate.find(key, now, [&, key](const std::optional<std::string>& found) {
                ++answers;
                const auto known = truth.find(key);
                EXPECT_EQ(found, known == truth.end() ? std::nullopt : std::optional(known->second)) << key;
            });
            ASSERT_TRUE(done) << done.error().text();
        } else if (what < 95) {
            truth[key] = std::to_string(i);
            table.put(key, truth[key]);
            ASSERT_TRUE(gate.insert(key));
        } else if (what < 99) {
            truth.erase(key);
            table.erase(key);
        } else {
            ASSERT_TRUE(gate.rebuild());
        }
    }
    ASSERT_TRUE(gate.flush(now));
    EXPECT_EQ(answers.count(), gate.counters().asked);
    EXPECT_GT(gate.counters().found, 100);
    EXPECT_GT(gate.counters().false_positives, 50);
    EXPECT_GT(gate.counters().learned, 20);
    EXPECT_LT(gate.counters().queries, gate.counters().asked / 10);
}

}  // namespace posy::gates
