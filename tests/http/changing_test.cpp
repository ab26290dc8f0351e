#include "http/changing.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

namespace posy::http {
namespace {

TEST(Changing, WhoHasAValueKeepsIt) {
    const changing<std::string> word("old");
    const auto before = word.get();
    word.set(std::string("new"));
    EXPECT_EQ(*before, "old");
    EXPECT_EQ(*word.get(), "new");
}

TEST(Changing, CopiesShareTheValueAndAssignmentLeavesIt) {
    changing<std::string> first("a");
    const changing<std::string> second = first;
    second.set(std::string("b"));
    EXPECT_EQ(*first.get(), "b");
    first = changing<std::string>("c");
    EXPECT_EQ(*second.get(), "b");
    EXPECT_EQ(*changing<std::string>().get(), "");
}

TEST(Changing, ReadersNeverSeeHalfAChange) {
    struct pair {
        unsigned a = 0, b = 0;
    };
    const changing<pair> both;
    std::atomic<bool> done{false};
    std::atomic<unsigned> torn{0}, reads{0};
    std::vector<std::jthread> readers;
    for (int i = 0; i < 3; ++i)
        readers.emplace_back([&] {
            for (unsigned last = 0; !done; ++reads) {
                const auto now = both.get();
                torn += now->a != now->b || now->a < last;
                last = now->a;
            }
        });
    for (unsigned i = 1; i <= 20'000; ++i) both.set(pair{i, i});
    while (reads < 1000) std::this_thread::yield();
    done = true;
    readers.clear();
    EXPECT_EQ(torn, 0U);
}

}  // namespace
}  // namespace posy::http
