#include "http/name_cache.hpp"

#include <gtest/gtest.h>

namespace posy::http {
namespace {

using namespace std::chrono_literals;
using address = boost::asio::ip::address;

const address here = boost::asio::ip::make_address("192.0.2.7"),
              there = boost::asio::ip::make_address("2001:db8::7");
const name_answer silent{{}, {}, false};

class NameCache : public testing::Test {
  protected:
    // Its addresses; nothing: it has to be looked up.
    std::optional<std::vector<address>> known(const std::string& name) {
        const auto* said = cache_.find(name, now_);
        if (!said) return std::nullopt;
        return said->addresses;
    }
    void holds_for(std::chrono::seconds time) {
        EXPECT_TRUE(known("a"));
        now_ += time - 1ms;
        EXPECT_TRUE(known("a"));
        now_ += 1ms;
        EXPECT_FALSE(known("a"));
    }
    void put(const std::string& name, name_answer said) { cache_.put(name, std::move(said), now_); }

    name_cache::limits limits_{.names = 3};
    name_cache cache_{limits_};
    name_cache::clock::time_point now_{};
};

TEST_F(NameCache, KeepsToTheLifetime) {
    put("a", {{here, there}, 300s});
    EXPECT_EQ(known("a"), (std::vector{here, there}));
    holds_for(300s);
    put("a", {{here}, 2s});
    holds_for(2s);
}

TEST_F(NameCache, LifetimesHaveLimits) {
    put("a", {{here}, 0s});
    holds_for(limits_.shortest);
    put("a", {{here}, 365 * 24h});
    holds_for(limits_.longest);
    put("a", {{here}, {}});  // of the hosts file
    holds_for(limits_.unstated);
}

TEST_F(NameCache, RemembersThatThereIsNone) {
    put("a", {{}, 30s});
    EXPECT_TRUE(known("a")->empty());
    holds_for(30s);
    put("a", {{}, 3600s});
    holds_for(limits_.longest_no);
    put("a", {{}, {}});
    holds_for(limits_.unstated);
    put("a", silent);
    holds_for(limits_.unstated);
}

// Part of an answer is used, and soon completed.
TEST_F(NameCache, APartIsKeptForAMoment) {
    put("a", {{here}, 3600s, false});
    EXPECT_EQ(known("a"), std::vector{here});
    holds_for(limits_.unstated);
}

TEST_F(NameCache, OldAddressesServeDuringAnOutage) {
    put("a", {{here}, 10s});
    now_ += 10s;
    for (auto passed = 10s; passed < 10s + limits_.outage; passed += limits_.unstated) {
        EXPECT_FALSE(known("a"));
        EXPECT_EQ(cache_.put("a", silent, now_).addresses, std::vector{here}) << passed.count();
        EXPECT_EQ(known("a"), std::vector{here});
        now_ += limits_.unstated;
    }
    EXPECT_TRUE(cache_.put("a", silent, now_).addresses.empty());
    EXPECT_FALSE(cache_.last("a", now_));
}

TEST_F(NameCache, AnAnswerEndsAnOutage) {
    put("a", {{here}, 10s});
    now_ += 20s;
    put("a", silent);
    put("a", {{}, 10s});  // the name is gone
    EXPECT_TRUE(known("a")->empty());
    EXPECT_FALSE(cache_.last("a", now_));
}

TEST_F(NameCache, TheOneNotAskedForLongestGoes) {
    for (const auto* name : {"a", "b", "c"}) put(name, {{here}, 300s});
    EXPECT_TRUE(known("a"));
    put("d", {{here}, 300s});
    EXPECT_EQ(cache_.size(), 3U);
    EXPECT_TRUE(known("a") && known("c") && known("d"));
    EXPECT_FALSE(known("b"));
    put("d", {{there}, 300s});  // again: no other goes
    EXPECT_EQ(cache_.size(), 3U);
    EXPECT_EQ(known("d"), std::vector{there});
}

}  // namespace
}  // namespace posy::http
