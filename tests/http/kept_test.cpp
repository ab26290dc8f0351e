#include "http/kept.hpp"

#include <gtest/gtest.h>

#include <memory>

namespace posy::http {
namespace {

using namespace std::chrono_literals;

// Numbers that cannot be copied, as connections cannot.
class Kept : public testing::Test {
  protected:
    bool put(const std::string& name, int number) {
        return all_.put(name, std::make_unique<int>(number), now_);
    }
    // 0: there is none.
    int take(const std::string& name) {
        const auto found = all_.take(name, now_);
        return found ? **found : 0;
    }
    void drop_old() {
        all_.drop_old(now_, [](const auto& number) { return *number < 0; });
    }

    kept<std::unique_ptr<int>> all_{{2, 4, 30s}};
    std::chrono::steady_clock::time_point now_{};
};

TEST_F(Kept, TheNewestOfANameIsTakenFirst) {
    EXPECT_EQ(take("a"), 0);
    put("a", 1);
    put("a", 2);
    put("b", 3);
    EXPECT_EQ(take("a"), 2);
    EXPECT_EQ(take("a"), 1);
    EXPECT_EQ(take("a"), 0);
    EXPECT_EQ(all_.size(), 1U);
}

TEST_F(Kept, NoneIsTakenWhenItIsTooOld) {
    put("a", 1);
    now_ += 20s;
    put("a", 2);
    now_ += 30s;
    EXPECT_EQ(take("a"), 2);
    EXPECT_EQ(take("a"), 0);
    put("a", 3);
    put("a", 4);
    now_ += 30s + 1ns;
    EXPECT_EQ(take("a"), 0);
    EXPECT_EQ(all_.size(), 0U);
}

TEST_F(Kept, TheOldAndTheUselessAreDropped) {
    put("a", 1);
    now_ += 20s;
    put("a", 2);
    put("b", -3);
    drop_old();
    EXPECT_EQ(all_.size(), 2U);
    now_ += 11s;
    drop_old();
    EXPECT_EQ(all_.size(), 1U);
    EXPECT_EQ(take("b"), 0);
    EXPECT_EQ(take("a"), 2);
}

TEST_F(Kept, ThereAreFewOfOneNameAndFewInAll) {
    EXPECT_TRUE(put("a", 1));
    now_ += 1s;
    EXPECT_TRUE(put("a", 2));
    EXPECT_FALSE(put("a", 3));
    now_ += 1s;
    for (int i = 4; i < 7; ++i) EXPECT_TRUE(put(std::to_string(i), i));
    EXPECT_EQ(all_.size(), 4U);
    EXPECT_EQ(take("a"), 2);  // the first one has gone
    EXPECT_EQ(take("a"), 0);
}

}  // namespace
}  // namespace posy::http
