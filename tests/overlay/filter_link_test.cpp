#include "posy/overlay/filter_link.hpp"

#include <gtest/gtest.h>

#include <random>
#include <set>

#include "base/reader.hpp"
#include "overlay/position_code.hpp"
#include "statistics.hpp"

namespace posy::overlay {
namespace {

link_terms terms_of(std::uint64_t bits, unsigned levels = 1) {
    return {.geometry = {.bits = bits, .hashes = 4, .layout = layout_id::spread}, .levels = levels};
}

std::vector<position> random_positions(std::mt19937_64& random, std::uint64_t bits, std::size_t number) {
    std::set<position> chosen;
    while (chosen.size() < number) chosen.insert(static_cast<position>(random() % bits));
    return {chosen.begin(), chosen.end()};
}

// A sender, what it means to send, and a receiver.
struct pair_of_ends {
    explicit pair_of_ends(const link_terms& t) : terms(t), sender(t, 1), receiver(t, 7), truth(t.levels) {}

    void flip(unsigned level, position p, std::uint64_t now) {
        if (!truth[level].erase(p)) truth[level].insert(p);
        sender.flip(level, p, now);
    }
    std::optional<std::vector<std::byte>> send(std::uint64_t now) {
        return sender.next(
            9, now, [&](unsigned i) { return std::vector<position>(truth[i].begin(), truth[i].end()); });
    }
    link_outcome deliver(const std::vector<std::byte>& message, std::uint64_t now) {
        const auto outcome = receiver.receive(byte_view(message).subspan(1)).outcome;
        const bool held = outcome == link_outcome::applied || outcome == link_outcome::repeated;
        sender.acknowledged(held ? receiver.state() : link_state{}, now);
        return outcome;
    }
    bool agree() const {
        for (unsigned i = 0; i < terms.levels; ++i) {
            if (receiver.level(i).sorted() != std::vector<position>(truth[i].begin(), truth[i].end()))
                return false;
        }
        return true;
    }

    link_terms terms;
    filter_sender sender;
    filter_receiver receiver;
    std::vector<std::set<position>> truth;
};

TEST(position_code, gives_back_what_went_in) {
    std::mt19937_64 random(1);
    at_least checks(60);
    for (const std::uint64_t bits : {1ull, 2ull, 64ull, 1000ull, 1ull << 20, (1ull << 32) - 2}) {
        for (const std::size_t number : {0, 1, 2, 7, 100, 500, 1000, 2, 4, 4}) {
            const auto positions = random_positions(random, bits, std::min<std::size_t>(number, bits));
            std::vector<std::byte> bytes;
            put_positions(bytes, positions, bits);
            bytes.push_back(std::byte{0xff});  // the next field
            base::reader from(bytes);
            EXPECT_EQ(take_positions(from, bits), positions);
            EXPECT_EQ(from.byte(), 0xff);
            EXPECT_FALSE(from.finish());
            ++checks;
        }
    }
}

TEST(position_code, is_near_the_entropy) {
    std::mt19937_64 random(2);
    const auto positions = random_positions(random, 1 << 20, 10'000);
    std::vector<std::byte> bytes;
    put_positions(bytes, positions, 1 << 20);
    const double p = 10'000.0 / (1 << 20);
    const double entropy = (1 << 20) * (-p * std::log2(p) - (1 - p) * std::log2(1 - p)) / 8;
    EXPECT_LT(static_cast<double>(bytes.size()), 1.02 * entropy);
    EXPECT_GT(static_cast<double>(bytes.size()), 0.99 * entropy);
}

TEST(position_code, refuses_damage_without_taking_memory) {
    std::mt19937_64 random(3);
    std::vector<std::byte> bytes;
    base::put_varint(bytes, 1u << 30);  // a billion positions in no bytes
    base::reader cut(bytes);
    EXPECT_TRUE(take_positions(cut, 1ull << 31).empty());
    EXPECT_TRUE(cut.wrong());

    const auto positions = random_positions(random, 5000, 300);
    bytes.clear();
    put_positions(bytes, positions, 5000);
    at_least cuts(bytes.size());
    for (std::size_t size = 0; size < bytes.size(); ++size, ++cuts) {
        base::reader from(byte_view(bytes).first(size));
        EXPECT_TRUE(take_positions(from, 5000).empty());
        EXPECT_TRUE(from.wrong());
    }
    for (int i = 0; i < 20'000; ++i) {  // whatever parses is ascending and in range
        auto changed = bytes;
        changed[random() % changed.size()] ^= static_cast<std::byte>(1 + random() % 255);
        base::reader from(changed);
        const auto read = take_positions(from, 5000);
        ASSERT_TRUE(std::ranges::is_sorted(read, std::less_equal<>()) || read.size() < 2);
        ASSERT_TRUE(read.empty() || read.back() < 5000);
    }
}

TEST(one_set, is_a_set_of_positions_sparse_and_dense) {
    std::mt19937_64 random(4);
    one_set ones(4096, 99);
    std::set<position> truth;
    std::uint32_t checksum = 0;
    for (int i = 0; i < 20'000; ++i) {
        const auto p = static_cast<position>(random() % 4096);
        const bool was = truth.erase(p) > 0;
        if (!was) truth.insert(p);
        checksum ^= one_set::check(p);
        ASSERT_EQ(ones.flip(p), !was);
        ASSERT_EQ(ones.ones(), truth.size());
        ASSERT_EQ(ones.checksum(), checksum);
        if (i % 100 == 0) {
            ASSERT_EQ(ones.sorted(), std::vector<position>(truth.begin(), truth.end()));
            for (position q = 0; q < 4096; ++q) ASSERT_EQ(ones.test(q), truth.contains(q));
        }
    }
    ones.clear();
    EXPECT_EQ(ones.ones(), 0u);
    EXPECT_TRUE(ones.sorted().empty());
}

TEST(position_counts, forget_what_became_nothing) {
    position_counts<std::uint32_t> counts(5);
    for (position p = 0; p < 100'000; ++p) ++counts[p], --counts[p];
    EXPECT_LT(counts.memory(), 1000u);
    counts[7] = 3;
    EXPECT_EQ(counts.at(7), 3u);
    EXPECT_EQ(counts.at(8), 0u);
}

TEST(filter_link, sends_a_whole_and_then_what_changed) {
    pair_of_ends ends(terms_of(10'000, 2));
    std::mt19937_64 random(5);
    for (const position p : random_positions(random, 10'000, 200)) ends.flip(0, p, 0);
    const auto whole = ends.send(0);
    ASSERT_TRUE(whole);
    EXPECT_EQ(ends.deliver(*whole, 10), link_outcome::applied);
    EXPECT_TRUE(ends.agree());
    EXPECT_TRUE(ends.sender.settled());

    ends.flip(0, 5, 100);
    ends.flip(1, 9999, 200);
    ends.flip(1, 77, 300);
    ends.flip(1, 77, 400);  // and back
    EXPECT_EQ(ends.sender.next_tick(), 1100u);
    EXPECT_FALSE(ends.send(1099));
    const auto delta = ends.send(1100);
    ASSERT_TRUE(delta);
    EXPECT_LT(delta->size(), 24u);
    EXPECT_GT(whole->size(), 150u);
    EXPECT_EQ(ends.deliver(*delta, 1200), link_outcome::applied);
    EXPECT_TRUE(ends.agree());
    EXPECT_EQ(ends.deliver(*delta, 1300), link_outcome::repeated);
    EXPECT_TRUE(ends.agree());

    ends.flip(0, 4321, 2000), ends.flip(0, 4321, 2001);
    EXPECT_FALSE(ends.send(9000)) << "nothing has changed in the end";
    EXPECT_EQ(ends.sender.next_tick(), std::nullopt);
}

TEST(filter_link, repeats_what_was_lost_and_starts_over_after_a_restart) {
    pair_of_ends ends(terms_of(10'000));
    ends.deliver(*ends.send(0), 0);
    ends.flip(0, 1, 0);
    ASSERT_TRUE(ends.send(1000));  // lost
    ends.flip(0, 2, 1500);         // waits for the first
    EXPECT_FALSE(ends.send(2999));
    EXPECT_EQ(ends.deliver(*ends.send(3000), 3000), link_outcome::applied);
    EXPECT_FALSE(ends.agree());
    EXPECT_EQ(ends.deliver(*ends.send(3000), 3000), link_outcome::applied);
    EXPECT_TRUE(ends.agree());
    EXPECT_EQ(ends.sender.counted().wholes, 1u);
    EXPECT_EQ(ends.sender.counted().repeats, 1u);

    ends.receiver = filter_receiver(ends.terms, 8);
    ends.flip(0, 3, 5000);
    EXPECT_EQ(ends.deliver(*ends.send(6000), 6000), link_outcome::gap);
    EXPECT_EQ(ends.deliver(*ends.send(8000), 8000), link_outcome::applied);
    EXPECT_TRUE(ends.agree());
    EXPECT_EQ(ends.sender.counted().wholes, 2u);
}

TEST(filter_link, a_new_life_replaces_the_old) {
    pair_of_ends ends(terms_of(1000));
    for (const position p : {1u, 2u, 3u}) ends.flip(0, p, 0);
    ends.deliver(*ends.send(0), 0);
    ends.sender = filter_sender(ends.terms, 2);
    ends.truth[0] = {2, 9};
    EXPECT_EQ(ends.deliver(*ends.send(10), 10), link_outcome::applied);
    EXPECT_TRUE(ends.agree());
}

// Whatever order, loss and repetition do, the two ends agree in the end.
TEST(filter_link, agrees_after_any_delivery) {
    std::mt19937_64 random(6);
    for (int round = 0; round < 50; ++round) {
        pair_of_ends ends(terms_of(2000, 3));
        std::vector<std::vector<std::byte>> mail;
        std::uint64_t now = 0;
        for (int i = 0; i < 300; ++i, now += 300) {
            ends.flip(static_cast<unsigned>(random() % 3), static_cast<position>(random() % 2000), now);
            if (auto message = ends.send(now)) mail.push_back(std::move(*message));
            if (mail.empty() || random() % 2) continue;
            const std::size_t which = random() % mail.size();
            ends.deliver(mail[which], now);  // old ones come again, too
            if (random() % 4 == 0) mail.erase(mail.begin() + static_cast<std::ptrdiff_t>(which));
        }
        for (; !ends.sender.settled(); now += 1000) {
            if (const auto message = ends.send(now)) ends.deliver(*message, now);
        }
        ASSERT_TRUE(ends.agree());
    }
}

TEST(filter_link, hostile_updates_change_nothing) {
    pair_of_ends ends(terms_of(10'000));
    for (position p = 0; p < 100; ++p) ends.flip(0, p * 7, 0);
    ends.deliver(*ends.send(0), 0);
    const auto before = ends.receiver.level(0).sorted();

    std::vector<position> all(10'000);
    for (position p = 0; p < all.size(); ++p) all[p] = p;
    filter_sender flooder(ends.terms, 5);
    const auto ones = flooder.next(9, 0, [&](unsigned) { return all; });
    EXPECT_EQ(ends.receiver.receive(byte_view(*ones).subspan(1)).outcome, link_outcome::too_full);

    filter_sender larger(terms_of(20'000), 6);
    const auto other = larger.next(9, 0, [&](unsigned) { return std::vector<position>{1}; });
    EXPECT_EQ(ends.receiver.receive(byte_view(*other).subspan(1)).outcome, link_outcome::mismatched);
    EXPECT_TRUE(ends.receiver.other_terms());
    EXPECT_FALSE(larger.other_terms());
    larger.acknowledged(ends.receiver.answer(), 0);
    EXPECT_TRUE(larger.other_terms());
    larger.acknowledged({}, 0);
    EXPECT_FALSE(larger.other_terms());

    ends.flip(0, 1, 0);
    const auto good = *ends.send(1000);
    std::mt19937_64 random(7);
    at_least checks(1000);
    for (int i = 0; i < 5000; ++i) {
        auto bad = good;
        bad[1 + random() % (bad.size() - 1)] ^= static_cast<std::byte>(1 + random() % 255);
        if (i % 5 == 0) bad.resize(random() % bad.size());
        const auto outcome =
            ends.receiver.receive(byte_view(bad).subspan(std::min<std::size_t>(1, bad.size()))).outcome;
        ASSERT_NE(outcome, link_outcome::applied) << i;
        ASSERT_EQ(ends.receiver.level(0).sorted(), before);
        ++checks;
    }
    EXPECT_EQ(ends.deliver(good, 1000), link_outcome::applied);
    EXPECT_TRUE(ends.agree());
}

}  // namespace
}  // namespace posy::overlay
