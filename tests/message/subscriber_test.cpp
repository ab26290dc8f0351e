#include "posy/subscriber.hpp"

#include <deque>
#include <map>
#include <memory>
#include <random>
#include <set>

#include "message/frame.hpp"
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
    EXPECT_EQ(s.receive(*p.answer(s.edition())->message, 2), reception::replaced);
    EXPECT_EQ(*s.filter(), p.set().projection());
}

// The payload of a message with its checksum made to fit: what reads it cannot decode it.
std::vector<std::byte> undecodable(std::vector<std::byte> bytes) {
    const auto header = std::to_integer<std::size_t>(bytes[7]);
    for (std::size_t i = header; i < bytes.size() - 4; ++i) bytes[i] = std::byte{0xff};
    frame::checksum sum;
    sum.add(byte_view(bytes).first(bytes.size() - 4));
    store_little(&bytes[bytes.size() - 4], sum.value());
    return bytes;
}

// What the header says is of no use is not decoded: that it could not be decoded does not show.
TEST(subscriber, drops_by_the_header) {
    auto p = empty_publisher();
    for (int key = 0; key < 50; ++key) p.insert(p.set().hash()(key));
    step(p, 50);
    const auto old = *p.full();
    step(p, 51);
    const auto old_delta = **p.delta_from(2), held = *p.full();
    subscriber s;
    ASSERT_EQ(s.receive(undecodable(held), 1), reception::damaged);
    ASSERT_EQ(s.receive(held, 1), reception::replaced);
    EXPECT_EQ(s.receive(undecodable(held), 2), reception::duplicate);
    EXPECT_EQ(s.receive(undecodable(old), 2), reception::outdated);
    EXPECT_EQ(s.receive(undecodable(old_delta), 2), reception::duplicate);
    step(p, 52);
    step(p, 53);
    EXPECT_EQ(s.receive(undecodable(**p.delta_from(4)), 3), reception::gap);
    auto impostor = empty_publisher();
    for (int i = 0; i < 3; ++i) step(impostor, 100 + i);
    EXPECT_EQ(s.receive(undecodable(**impostor.delta_from(3)), 3), reception::wrong_base);
    EXPECT_EQ(s.receive(**p.delta_from(3), 4), reception::updated);
    EXPECT_EQ(*s.filter(), p.set().projection());
    subscriber narrow({.max_bytes = 511});
    EXPECT_EQ(narrow.receive(undecodable(held), 1), reception::too_large);
    EXPECT_NE(narrow.complaint().find("512 bytes, above the limit of 511"), std::string::npos);
}

// Generations as a liar or a publisher that was set up anew has them: of an answer to a question, whatever
// differs from what is held is taken, once.
TEST(subscriber, follows_generations_that_go_anywhere) {
    const auto whole = [](int key, std::uint64_t generation) {
        auto set = *counting_filter::make(shape, 8);
        set.insert(set.hash()(key));
        return *publisher::make(std::move(set), {.first_generation = generation})->full();
    };
    subscriber s;
    const std::uint64_t last = ~std::uint64_t{0};
    for (const std::uint64_t generation :
         {std::uint64_t{7}, last, std::uint64_t{0}, std::uint64_t{1} << 63}) {
        EXPECT_EQ(s.receive(whole(1, generation), 1, sequence::any), reception::replaced) << generation;
        EXPECT_EQ(s.receive(whole(2, generation), 1, sequence::any), reception::duplicate) << generation;
        EXPECT_EQ(s.have(), generation);
    }
    EXPECT_EQ(s.receive(whole(1, 9), 1), reception::outdated);
    // One number, other bits: nothing until somebody says so.
    const auto before = s.edition();
    ASSERT_TRUE(before);
    s.doubt();
    EXPECT_EQ(s.edition(), std::nullopt);
    EXPECT_TRUE(s.filter()->may_contain(s.filter()->hash()(1)));
    EXPECT_EQ(s.receive(whole(2, before->generation), 2, sequence::any), reception::replaced);
    EXPECT_TRUE(s.filter()->may_contain(s.filter()->hash()(2)));
    EXPECT_EQ(s.edition()->generation, before->generation);
    EXPECT_NE(s.edition()->checksum, before->checksum);
}

// A copy shares the filter, and what the original receives does not change it.
TEST(subscriber, a_copy_stays_as_it_was) {
    auto p = empty_publisher();
    step(p, 1);
    subscriber s;
    s.receive(*p.full(), 1);
    const subscriber copy = s;
    EXPECT_EQ(copy.filter(), s.filter());
    const auto before = *copy.filter()->clone();
    step(p, 2);
    ASSERT_EQ(s.receive(**p.delta_from(2), 2), reception::updated);
    EXPECT_EQ(*copy.filter(), before);
    EXPECT_EQ(*s.filter(), p.set().projection());
    EXPECT_EQ(s.edition()->checksum, p.checksum_of(3));
    EXPECT_EQ(copy.edition()->checksum, p.checksum_of(2));
    EXPECT_EQ(p.checksum_of(9), std::nullopt);
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
            if (const auto reply = p.answer(s.edition())->message) {
                air.push_back(*reply);
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
    if (const auto reply = p.answer(s.edition())->message) s.receive(*reply, 0);
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
