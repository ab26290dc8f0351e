#include "posy/subscriber.hpp"

#include <deque>
#include <map>
#include <memory>
#include <random>
#include <set>

#include "posy/publisher.hpp"
#include "support.hpp"

namespace posy {
namespace {

constexpr posy::geometry shape{4096, 3, layout_id::spread};

publisher empty_publisher(std::size_t history = 8) {
    return *publisher::make(*counting_filter::make(shape, 8),
                            {.change = 0.05, .max_age = 50, .history = history});
}

void step(publisher& p, int key) {
    p.insert(p.set().hash()(key));
    ASSERT_TRUE(p.publish(0));
}

TEST(subscriber, says_what_became_of_a_message) {
    auto p = empty_publisher();
    subscriber s;
    EXPECT_EQ(s.filter(), nullptr);
    EXPECT_TRUE(s.wants());
    EXPECT_EQ(s.have(), std::nullopt);
    const auto first = *p.full();
    EXPECT_EQ(s.receive(first, 1), reception::replaced);
    EXPECT_FALSE(s.wants());
    EXPECT_EQ(s.receive(first, 2), reception::duplicate);
    step(p, 1);
    const auto one_to_two = **p.delta_from(1);
    step(p, 2);
    const auto two_to_three = **p.delta_from(2);
    EXPECT_EQ(s.receive(two_to_three, 3), reception::gap);
    EXPECT_TRUE(s.wants());
    EXPECT_EQ(s.have(), 1u);
    EXPECT_EQ(s.receive(one_to_two, 4), reception::updated);
    EXPECT_EQ(s.receive(one_to_two, 5), reception::duplicate);
    EXPECT_EQ(s.receive(two_to_three, 6), reception::updated);
    EXPECT_EQ(s.receive(first, 7), reception::outdated);
    EXPECT_EQ(s.receive(one_to_two, 7), reception::outdated);
    EXPECT_EQ(*s.filter(), p.set().projection());
    EXPECT_EQ(s.updated_at(), 6u);
    auto broken = one_to_two;
    broken.back() ^= std::byte{1};
    EXPECT_EQ(s.receive(broken, 8), reception::damaged);
    EXPECT_TRUE(s.wants());
    s.confirm(9);
    EXPECT_FALSE(s.wants());
    EXPECT_EQ(s.receive(to_bytes(p.set()), 10), reception::damaged);  // counters are not for subscribers
}

// Two publishers that use one generation number for different sets: the checksum of the base tells.
TEST(subscriber, a_wrong_base_asks_for_the_whole) {
    auto p = empty_publisher(), impostor = empty_publisher();
    step(p, 1);
    step(impostor, 2);
    subscriber s;
    s.receive(*impostor.full(), 0);
    step(p, 3);
    EXPECT_EQ(s.receive(**p.delta_from(2), 1), reception::wrong_base);
    EXPECT_EQ(*s.filter(), impostor.set().projection());
    EXPECT_TRUE(s.wants());
    EXPECT_EQ(s.have(), std::nullopt);
    EXPECT_EQ(s.receive(**p.answer(s.have()), 2), reception::replaced);
    EXPECT_EQ(*s.filter(), p.set().projection());
}

// A link that loses, duplicates, delays and damages. The model remembers the keys of every generation:
// whatever happens, the subscriber finds every key of the generation it claims to hold, and one question and
// one answer over a healed link bring it up to date.
void run_link(int steps, std::uint64_t seed) {
    std::mt19937_64 random(seed);
    const auto chance = [&](double p) { return static_cast<double>(random() >> 11) * 0x1p-53 < p; };
    auto p = empty_publisher(4);
    subscriber s;
    std::multiset<int> keys;
    std::map<std::uint64_t, std::shared_ptr<std::vector<int>>> claimed;
    const auto remember = [&] {
        claimed[p.generation()] = std::make_shared<std::vector<int>>(keys.begin(), keys.end());
    };
    remember();
    std::deque<std::vector<std::byte>> air;
    for (int now = 0; now < steps; ++now) {
        const int key = static_cast<int>(random() % 300);
        if (keys.size() < 150 && chance(0.5)) {
            p.insert(p.set().hash()(key));
            keys.insert(key);
        } else if (const auto found = keys.find(key); found != keys.end()) {
            ASSERT_TRUE(p.remove(p.set().hash()(key)));
            keys.erase(found);
        }
        if (p.due(static_cast<std::uint64_t>(now))) {
            ASSERT_TRUE(p.publish(static_cast<std::uint64_t>(now)));
            remember();
            auto news = chance(0.9) ? *p.delta_from(p.generation() - 1) : std::optional(*p.full());
            ASSERT_TRUE(news);
            air.push_back(std::move(*news));
            if (chance(0.1)) air.push_back(air.back());
        }
        if (s.wants() && chance(0.2)) {
            if (auto reply = *p.answer(s.have())) {
                air.push_back(std::move(*reply));
            } else {
                s.confirm(static_cast<std::uint64_t>(now));
            }
        }
        if (air.empty() || chance(0.3)) continue;
        const std::size_t which = chance(0.8) ? 0 : random() % air.size();
        auto message = std::move(air[which]);
        air.erase(air.begin() + static_cast<std::ptrdiff_t>(which));
        if (chance(0.15)) continue;  // lost
        if (chance(0.1)) message[random() % message.size()] ^= static_cast<std::byte>(1 << random() % 8);
        if (chance(0.02)) message.resize(random() % message.size());
        s.receive(message, static_cast<std::uint64_t>(now));
        if (const auto generation = s.generation()) {
            const auto known = claimed.find(*generation);
            ASSERT_NE(known, claimed.end());
            for (const int each : *known->second)
                ASSERT_TRUE(s.filter()->may_contain(s.filter()->hash()(each))) << now;
            claimed.erase(claimed.begin(), known);  // it never goes back
        }
    }
    // The link heals: one question, one answer.
    if (auto reply = *p.answer(s.have())) s.receive(*reply, 0);
    ASSERT_EQ(s.generation(), p.generation());
    for (const int each : *claimed[p.generation()])
        ASSERT_TRUE(s.filter()->may_contain(s.filter()->hash()(each)));
}

TEST(subscriber, survives_a_bad_link) {
    for (std::uint64_t seed = 1; seed <= 10; ++seed) run_link(5000, seed);
}

TEST(subscriber, long_form) {
    if (!std::getenv("POSY_LONG_TESTS")) GTEST_SKIP() << "set POSY_LONG_TESTS=1 to run a million steps";
    for (std::uint64_t seed = 1; seed <= 10; ++seed) run_link(100'000, 100 + seed);
}

}  // namespace
}  // namespace posy
