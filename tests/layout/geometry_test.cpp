#include "support.hpp"

namespace posy {
namespace {

TEST(geometry, names_round_trip) {
    for (const layout_id id : members<layout_id>) EXPECT_EQ(named<layout_id>(name_of(id)), id);
    EXPECT_EQ(named<layout_id>("hexagonal"), std::nullopt);
    EXPECT_EQ(name_of(static_cast<layout_id>(99)), "");
}

std::string why_not(const geometry& g) {
    const auto checked = check(g);
    return checked ? "" : checked.error().message;
}

TEST(geometry, impossible_ones_are_refused_with_the_reason) {
    const layout_id spread = layout_id::spread;
    EXPECT_EQ(why_not({1, 1, spread}), "");
    EXPECT_EQ(why_not({max_bits, 32, spread}), "");
    EXPECT_EQ(why_not({0, 1, spread}), "a filter of 0 bits; 1 to 2^40 are possible");
    EXPECT_EQ(why_not({max_bits + 1, 1, spread}), "a filter of 1099511627777 bits; 1 to 2^40 are possible");
    EXPECT_EQ(why_not({100, 0, spread}), "0 hashes; layout spread takes 1 to 32");
    EXPECT_EQ(why_not({512, 17, layout_id::blocked}), "17 hashes; layout blocked takes 1 to 16");
    EXPECT_EQ(why_not({1000, 7, layout_id::sliced}),
              "layout sliced needs a multiple of 7 bits, not 1000; 1001 would do");
    EXPECT_EQ(why_not({1000, 7, layout_id::blocked}),
              "layout blocked needs a multiple of 512 bits, not 1000; 1024 would do");
    EXPECT_EQ(why_not({100, 1, static_cast<layout_id>(77)}), "unknown layout 77");
    EXPECT_EQ(why_not({100, 1, spread, static_cast<hash_family>(77)}), "unknown hash family 77");
    EXPECT_EQ(why_not({100, 1, spread, hash_family::xxh3, {0, 1}}),
              "only siphash takes a seed beyond 64 bits");
    EXPECT_EQ(why_not({100, 1, spread, hash_family::siphash, {0, 1}}), "");
}

TEST(geometry, difference_names_what_differs) {
    const geometry a{512, 7}, b{1024, 5, layout_id::spread, hash_family::xxh3, {3}};
    EXPECT_EQ(difference(a, b), "bits 512 and 1024, hashes 7 and 5, layout blocked and spread, seed 0 and 3");
    // Not those that are secrets.
    const geometry c{512, 7, layout_id::blocked, hash_family::siphash, {0x1f, 0xa}};
    const geometry d{512, 7, layout_id::blocked, hash_family::siphash, {~std::uint64_t{0}, 0}};
    EXPECT_EQ(difference(c, d), "seed (that of siphash is a secret, and not shown)");
    const geometry other_hash{512, 7, layout_id::blocked, hash_family::xxh3, {5}};
    EXPECT_EQ(difference(c, other_hash),
              "hash siphash and xxh3, seed (that of siphash is a secret, and not shown)");
    EXPECT_EQ(difference(a, a), "");
}

}  // namespace
}  // namespace posy
