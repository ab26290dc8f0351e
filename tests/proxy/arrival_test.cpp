#include "proxy/arrival.hpp"

#include <gtest/gtest.h>

#include <thread>

namespace posy::proxy {
namespace {

std::shared_ptr<arrival> coming(std::uint64_t most = 1 << 20, std::uint64_t memory = 1 << 20) {
    const auto room = std::make_shared<http_cache::room>(memory);
    return std::make_shared<arrival>(arrival::opening{},
                                     http_cache::incoming_body(room, most, std::nullopt, 0));
}

// All that is there, up to the end or a break.
std::string read(arrival::place& from) {
    std::string all;
    for (;;) {
        const auto part = from.next();
        if (part.broken) return all + "|";
        all += part.bytes;
        if (part.last || part.nothing()) return all + (part.last ? "." : "");
    }
}

TEST(arrival, each_reads_at_its_own_pace) {
    const auto a = coming();
    auto first = *a->join();
    EXPECT_EQ(read(first), "");
    EXPECT_TRUE(a->append("one "));
    EXPECT_EQ(read(first), "one ");
    EXPECT_TRUE(a->append("two"));
    auto second = *a->join();
    EXPECT_EQ(read(second), "one two");
    const auto whole = a->take();
    EXPECT_EQ(*whole, "one two");
    EXPECT_EQ(read(first), "two");  // not its end: it is not in the store
    a->end(true);
    EXPECT_EQ(read(first), ".");
    auto third = *a->join();
    const auto all = third.next();
    EXPECT_TRUE(all.last && all.stored);
    EXPECT_EQ(all.bytes.data(), whole->data());  // without a copy
    EXPECT_EQ(a->readers(), 3u);
}

TEST(arrival, what_breaks_off_is_never_whole) {
    const auto a = coming();
    auto first = *a->join();
    a->append("half");
    a->break_off();
    EXPECT_TRUE(first.next().broken);
    EXPECT_FALSE(a->join());
}

TEST(arrival, what_does_not_fit_goes_on_piece_by_piece) {
    const auto a = coming(100);
    auto quick = *a->join(), slow = *a->join();
    const std::string body(100, 'a');
    EXPECT_TRUE(a->append(body));
    EXPECT_FALSE(a->append("b"));
    EXPECT_FALSE(a->join());  // it is too late
    a->pass("b");
    EXPECT_EQ(read(quick), body + "b");
    EXPECT_FALSE(a->all_have_it());  // the other one has not begun
    EXPECT_EQ(read(slow), body + "b");
    EXPECT_TRUE(a->all_have_it());
    a->pass("c");
    EXPECT_FALSE(a->all_have_it());
    a->end(false);
    EXPECT_EQ(read(slow), "c.");
    EXPECT_EQ(read(quick), "c.");
}

TEST(arrival, the_body_is_given_back_when_all_have_it) {
    const auto room = std::make_shared<http_cache::room>(1000);
    const auto a =
        std::make_shared<arrival>(arrival::opening{}, http_cache::incoming_body(room, 100, std::nullopt, 0));
    auto reader = *a->join();
    EXPECT_TRUE(a->append(std::string(100, 'a')));
    EXPECT_FALSE(a->append("b"));
    a->pass("b");
    EXPECT_GT(room->used(), 0u);
    EXPECT_EQ(read(reader).size(), 101u);
    EXPECT_TRUE(a->all_have_it());
    EXPECT_EQ(room->used(), 0u);
    a->pass("c");
    EXPECT_EQ(read(reader), "c");
}

TEST(arrival, who_keeps_others_waiting_is_cut_off) {
    const auto a = coming(1);
    auto quick = *a->join(), slow = *a->join();
    EXPECT_FALSE(a->append("abc"));
    a->pass("abc");
    EXPECT_FALSE(a->cut_slowest());  // nobody waits: both have the same to read
    EXPECT_EQ(read(quick), "abc");
    EXPECT_FALSE(a->all_have_it());
    EXPECT_TRUE(a->cut_slowest());
    EXPECT_TRUE(a->all_have_it());
    EXPECT_TRUE(slow.next().broken);
    a->pass("d");
    a->end(false);
    EXPECT_EQ(read(quick), "d.");
}

TEST(arrival, one_alone_is_not_cut_off_and_one_that_leaves_holds_up_nobody) {
    const auto a = coming(1);
    auto quick = *a->join();
    {
        auto slow = *a->join();
        EXPECT_FALSE(a->append("abc"));
        a->pass("abc");
        EXPECT_EQ(read(quick), "abc");
        EXPECT_FALSE(a->all_have_it());
    }
    EXPECT_EQ(a->readers(), 1u);
    EXPECT_TRUE(a->all_have_it());
    a->pass("d");
    EXPECT_FALSE(a->cut_slowest());
}

TEST(arrival, readers_of_other_threads) {
    const auto a = coming(1 << 20, 8 << 20);
    std::vector<std::thread> threads;
    std::vector<std::string> got(4);
    for (auto& mine : got) {
        threads.emplace_back([&mine, place = std::make_shared<arrival::place>(*a->join())] {
            while (!mine.ends_with('.')) mine += read(*place);
        });
    }
    std::string all;
    for (int i = 0; i < 2000; ++i) {
        const auto piece = std::to_string(i) + ",";
        all += piece;
        ASSERT_TRUE(a->append(piece));
    }
    a->take();
    a->end(true);
    for (auto& each : threads) each.join();
    for (const auto& mine : got) EXPECT_EQ(mine, all + ".");
}

}  // namespace
}  // namespace posy::proxy
