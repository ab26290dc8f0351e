#include "posy/reconcile/digest_set.hpp"

#include <set>

#include "sets.hpp"

namespace posy::reconcile {
namespace {

TEST(reconcile_digest_set, is_a_sorted_set_of_different_elements) {
    std::mt19937_64 random(1);
    for (const digest_width width : {digest_width::half, digest_width::full}) {
        for (int round = 0; round < 50; ++round) {
            std::vector<digest> digests;
            std::set<digest, ascending> model;
            for (int i = 0; i < 200; ++i) {
                const digest d{random() % 50, random() % 3};
                digests.push_back(d);
                model.insert(width == digest_width::half ? digest{d.low, 0} : d);
            }
            const digest_set set(hasher(), width, digests);
            EXPECT_TRUE(std::ranges::equal(set.elements(), model));
            EXPECT_EQ(set.repeated(), digests.size() - model.size());
            for (std::uint64_t low = 0; low < 60; ++low) {
                for (std::uint64_t high = 0; high < 4; ++high)
                    EXPECT_EQ(set.contains({low, high}), model.contains({low, high}));
            }
        }
    }
}

TEST(reconcile_digest_set, all_equal_digests_are_one_element) {
    const digest_set set(hasher(), digest_width::full, std::vector<digest>(1000, {7, 9}));
    EXPECT_EQ(set.size(), 1u);
    EXPECT_EQ(set.repeated(), 999u);
}

TEST(reconcile_digest_set, comes_back_as_it_went) {
    for (const digest_width width : {digest_width::half, digest_width::full}) {
        for (const std::size_t size : {0u, 1u, 2u, 300u}) {
            const auto set = make_sets(size, 0, 0, width).a;
            const auto bytes = payload_of(set);
            EXPECT_LE(bytes.size(), 3 + size * bytes_of(width));
            const auto back = digest_set::parse(hasher(), bytes);
            ASSERT_TRUE(back) << back.error().text();
            EXPECT_EQ(*back, set);
            if (size < 300) expect_cuts_are_refused<digest_set>(bytes);
        }
    }
}

TEST(reconcile_digest_set, golden_bytes) {
    const digest_set half(hasher(), digest_width::half, {{0x0102030405060708, 99}, {2, 0}});
    EXPECT_EQ(hex(payload_of(half)),
              "0802"
              "0200000000000000"
              "0807060504030201");
    const digest_set full(hasher(), digest_width::full, {{1, 0x1112131415161718}});
    EXPECT_EQ(hex(payload_of(full)),
              "1001"
              "0100000000000000"
              "1817161514131211");
}

TEST(reconcile_digest_set, wrong_payloads_say_what_and_where) {
    expect_refused<digest_set>("", 0, "are left");
    expect_refused<digest_set>("0700", 0, "digests of 7 bytes");
    expect_refused<digest_set>("08ffffffffffffffffff01", 1, "18446744073709551615 entries in the 0 bytes");
    expect_refused<digest_set>("088000", 1, "not in its shortest form");
    expect_refused<digest_set>("080202000000000000000100000000000000", 10, "not in ascending order");
    expect_refused<digest_set>("080202000000000000000200000000000000", 10, "one that comes twice");
    expect_refused<digest_set>("08000000", 2, "2 bytes too many");
    const auto limited =
        digest_set::parse(hasher(), payload_of(make_sets(100, 0, 0).a), read_limits{.max_bytes = 1599});
    ASSERT_FALSE(limited);
    EXPECT_NE(limited.error().message.find(
                  "100 entries of 1600 bytes of memory, above the limit of 1599; raise it"),
              std::string::npos);
}

TEST(reconcile_digest_set, kin_is_one_hash_and_one_width) {
    const digest_set set(hasher(hash_family::xxh3, {5, 0}), digest_width::half);
    EXPECT_TRUE(check_kin(set, hasher(hash_family::xxh3, {5, 0}), digest_width::half));
    EXPECT_EQ(check_kin(set, hasher(hash_family::xxh3, {6, 0}), digest_width::half).error().message,
              "the peer hashes with xxh3 with seed 6, this side with another seed; give both the same hash "
              "and seed");
    EXPECT_EQ(check_kin(set, hasher(hash_family::siphash, {6, 0x1f}), digest_width::half).error().message,
              "the peer hashes with siphash, this side with xxh3; give both the same hash and seed");
    EXPECT_FALSE(check_kin(set, hasher(hash_family::siphash, {5, 0}), digest_width::half));
    EXPECT_EQ(check_kin(set, set.hash(), digest_width::full).error().message,
              "the peer's digests have 128 bits, those of this side 64; give both the same width");
}

}  // namespace
}  // namespace posy::reconcile
