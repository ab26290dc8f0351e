#include "reconcile/set_part.hpp"

#include "sets.hpp"

namespace posy::reconcile {
namespace {

TEST(reconcile_set_part, comes_back_as_it_went) {
    for (const digest_width width : {digest_width::half, digest_width::full}) {
        const auto set = make_sets(300, 0, 0, width).a;
        for (const auto& [first, end] : {std::pair{0u, 0u}, {0u, 5u}, {5u, 300u}, {300u, 300u}}) {
            const auto part = set_part::of(set, first, end);
            const auto bytes = payload_of(part);
            const auto back = set_part::parse(hasher(), bytes);
            ASSERT_TRUE(back) << back.error().text();
            EXPECT_EQ(back->items, 300u);
            EXPECT_EQ(back->first, first);
            EXPECT_EQ(back->end(), end);
            EXPECT_TRUE(std::ranges::equal(back->elements, set.elements().subspan(first, end - first)));
            if (part.elements.size() < 10) expect_cuts_are_refused<set_part>(bytes);
        }
    }
}

TEST(reconcile_set_part, golden_bytes) {
    const digest_set set(hasher(), digest_width::half, {{1, 0}, {2, 0}, {0x0102030405060708, 0}});
    EXPECT_EQ(hex(payload_of(set_part::of(set, 1, 3))), "0803010202000000000000000807060504030201");
}

TEST(reconcile_set_part, wrong_payloads_say_what_and_where) {
    expect_refused<set_part>("07", 0, "digests of 7 bytes");
    expect_refused<set_part>("080203", 2, "begins behind its end");
    expect_refused<set_part>("08020102" + std::string(32, '0'), 3, "longer than the list");
    expect_refused<set_part>("08020005", 3, "5 entries in the 0 bytes");
    expect_refused<set_part>(
        "08030002"
        "0200000000000000"
        "0100000000000000",
        12, "not in ascending order");
    expect_refused<set_part>("0803000000", 4, "1 bytes too many");
    const auto limited = set_part::parse(hasher(), payload_of(set_part::of(make_sets(100, 0, 0).a, 0, 100)),
                                         read_limits{.max_bytes = 1599});
    ASSERT_FALSE(limited);
    EXPECT_NE(limited.error().message.find(
                  "100 entries of 1600 bytes of memory, above the limit of 1599; raise it"),
              std::string::npos);
}

}  // namespace
}  // namespace posy::reconcile
