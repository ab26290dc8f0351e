#include "posy/overlay/courier.hpp"

#include <gtest/gtest.h>

#include <map>
#include <random>

#include "statistics.hpp"

namespace posy::overlay {
namespace {

constexpr std::byte parcel{7}, receipt{8};
constexpr node_id alice = 1, bob = 2;

std::byte byte_of(std::uint64_t i) { return static_cast<std::byte>(i); }

// Every record arrives once and in order, although a third of all messages is lost, a third sent twice, and
// any may come late.
TEST(Courier, DeliversOnceAndInOrderOverABadNetwork) {
    std::mt19937_64 random(1);
    courier sender(parcel, receipt, 10), receiver(parcel, receipt, 10);
    std::multimap<std::uint64_t, std::pair<bool, message_bytes>> on_the_way;  // to the receiver?
    std::vector<std::byte> sent, got;
    at_least repeated(100, "messages sent twice");
    std::uint64_t now = 0;
    const auto carry = [&](const outbox& out, bool to_receiver) {
        for (const letter& each : out) {
            for (std::uint64_t copies = random() % 3; copies > 0; --copies) {
                on_the_way.emplace(now + 1 + random() % 25, std::pair(to_receiver, each.message));
                if (copies == 2) ++repeated;
            }
        }
    };
    for (; now < 20'000; ++now) {
        outbox out;
        if (now < 2'000 && now % 3 == 0) {
            sent.push_back(byte_of(random()));
            sender.post(bob, {&sent.back(), 1}, now, out);
        }
        sender.tick(now, out);
        carry(out, true);
        for (auto next = on_the_way.begin(); next != on_the_way.end() && next->first <= now;
             next = on_the_way.erase(next)) {
            outbox answer;
            const auto& [to_receiver, message] = next->second;
            if (!to_receiver) {
                sender.settle(bob, message, now, answer);
            } else if (const auto records = receiver.open(alice, message, answer)) {
                got.insert(got.end(), records->begin(), records->end());
            }
            carry(answer, !to_receiver);
        }
    }
    EXPECT_EQ(got, sent);
    EXPECT_EQ(sent.size(), 667U);
    EXPECT_TRUE(sender.idle());
    EXPECT_EQ(sender.next_tick(), std::nullopt);
}

TEST(Courier, SplitsWhatIsTooMuchForAParcel) {
    courier sender(parcel, receipt, 10), receiver(parcel, receipt, 10);
    const std::vector<std::byte> record(10'000, std::byte{1});
    outbox out;
    for (int i = 0; i < 10; ++i) sender.post(bob, record, 5, out);
    std::size_t got = 0, parcels = 0;
    while (!out.empty()) {
        const message_bytes message = out.back().message;
        EXPECT_LT(message.size(), courier::most_bytes + 16);
        out.clear();
        outbox answer;
        const auto records = receiver.open(alice, message, answer);
        ASSERT_TRUE(records);
        EXPECT_EQ(records->size() % record.size(), 0U);
        got += records->size(), ++parcels;
        EXPECT_TRUE(sender.settle(bob, answer.back().message, 6, out));
    }
    EXPECT_EQ(got, 10 * record.size());
    EXPECT_EQ(parcels, 4U);  // one at once, then three records in each
}

TEST(Courier, NumbersAscendOverARestart) {
    courier receiver(parcel, receipt, 10);
    outbox out;
    const std::byte record{1};
    for (const std::uint64_t start : {100U, 5'000U}) {
        courier sender(parcel, receipt, 10);
        out.clear();
        sender.post(bob, {&record, 1}, start, out);
        outbox answer;
        EXPECT_TRUE(receiver.open(alice, out.back().message, answer)) << start;
    }
}

TEST(Courier, RefusesWhatIsDamaged) {
    courier c(parcel, receipt, 10);
    outbox out;
    const std::byte record{1};
    c.post(bob, {&record, 1}, 0, out);
    out.clear();
    for (const std::vector<std::byte>& bad : {std::vector<std::byte>{},
                                              {parcel},
                                              {parcel, std::byte{0}},
                                              {receipt, std::byte{1}},
                                              {parcel, std::byte{0x80}}}) {
        EXPECT_FALSE(c.open(alice, bad, out));
        EXPECT_FALSE(c.settle(alice, bad, 1, out));
    }
    EXPECT_FALSE(c.settle(bob, message_bytes{receipt, std::byte{99}}, 1, out));
    EXPECT_TRUE(out.empty());
    EXPECT_TRUE(c.settle(bob, message_bytes{receipt, std::byte{1}}, 1, out));
}

}  // namespace
}  // namespace posy::overlay
