#include "posy/http_cache/room.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <random>
#include <thread>
#include <vector>

namespace posy::http_cache {
namespace {

constexpr std::uint64_t any = 1 << 30;

TEST(room, is_never_exceeded) {
    room of(100);
    EXPECT_TRUE(of.take(60));
    EXPECT_FALSE(of.take(41));
    EXPECT_TRUE(of.take(40));
    EXPECT_FALSE(of.take(1));
    EXPECT_FALSE(of.take(~std::uint64_t{0}));
    EXPECT_EQ(of.used(), 100u);
    EXPECT_EQ(of.refusals(), 3u);
    of.give_back(100);
    EXPECT_TRUE(of.take(100));
}

TEST(room, a_body_of_known_length_takes_it_at_once) {
    const auto of = std::make_shared<room>(1000);
    incoming_body first(of, any, 700, 100);
    EXPECT_TRUE(first.open());
    EXPECT_EQ(of->used(), 800u);
    EXPECT_FALSE(incoming_body(of, any, 101, 100).open());  // 200 are left
    EXPECT_EQ(of->used(), 800u);
    EXPECT_TRUE(incoming_body(of, any, 100, 100).open());
    EXPECT_TRUE(first.append(std::string(300, 'a')) && first.append(std::string(400, 'b')));
    EXPECT_EQ(of->used(), 800u);
    EXPECT_EQ(first.take()->size(), 700u);
    EXPECT_FALSE(first.open());
    EXPECT_EQ(of->used(), 0u);
}

TEST(room, a_body_is_counted_until_its_last_user_is_gone) {
    const auto of = std::make_shared<room>(100000);
    std::shared_ptr<const std::string> stored, sent;
    {
        incoming_body body(of, any, std::nullopt, 50);
        for (int i = 0; i < 100; ++i) ASSERT_TRUE(body.append(std::string(100, 'x')));
        EXPECT_GE(of->used(), 10050u);
        sent = stored = body.take();
    }
    EXPECT_EQ(*stored, std::string(10000, 'x'));
    EXPECT_GE(of->used(), 10050u);
    EXPECT_LE(of->used(), 10250u);  // what it grew by too much was given back
    stored.reset();
    EXPECT_GE(of->used(), 10050u);
    sent.reset();
    EXPECT_EQ(of->used(), 0u);
}

TEST(room, what_has_no_room_is_given_up_for_good) {
    const auto of = std::make_shared<room>(5000);
    incoming_body body(of, any, std::nullopt, 10);
    std::string piece(500, 'x');
    int taken = 0;
    while (body.append(piece)) ++taken;
    EXPECT_GE(taken, 3);
    EXPECT_LT(taken, 10);
    EXPECT_FALSE(body.open());
    EXPECT_EQ(of->used(), 0u);
    EXPECT_FALSE(body.append("x"));
    incoming_body small(of, 1000, std::nullopt, 10);
    EXPECT_TRUE(small.append(piece) && small.append(piece));
    EXPECT_FALSE(small.append("x"));
    EXPECT_EQ(of->used(), 0u);
    EXPECT_FALSE(incoming_body(of, 1000, 1001, 0).open());
    EXPECT_EQ(incoming_body(of, 1000, 0, 0).take()->size(), 0u);
    EXPECT_FALSE(incoming_body().open());
}

// Bodies come, grow, are stored, sent and dropped on four threads: the room is kept, and empty at the end.
TEST(room, from_many_threads) {
    const auto of = std::make_shared<room>(200000);
    std::atomic<int> stored_bodies = 0;
    {
        std::vector<std::jthread> threads;
        for (unsigned t = 0; t < 4; ++t) {
            threads.emplace_back([&, t] {
                std::mt19937_64 random(t);
                std::vector<std::shared_ptr<const std::string>> kept(20);
                for (int i = 0; i < 2000; ++i) {
                    const auto size = random() % 30000;
                    incoming_body body(of, 25000, random() % 2 ? std::optional(size) : std::nullopt, 100);
                    for (std::uint64_t at = 0; at < size && body.open(); at += 1000)
                        body.append(std::string(std::min<std::uint64_t>(1000, size - at), 'x'));
                    ASSERT_LE(of->used(), of->bytes());
                    if (!body.open()) continue;
                    kept[random() % kept.size()] = body.take();
                    ++stored_bodies;
                }
            });
        }
    }
    EXPECT_GT(stored_bodies, 100);
    EXPECT_GT(of->refusals(), 0u);
    EXPECT_EQ(of->used(), 0u);
}

}  // namespace
}  // namespace posy::http_cache
