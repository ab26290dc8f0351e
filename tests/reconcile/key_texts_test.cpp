#include "reconcile/key_texts.hpp"

#include "sets.hpp"

namespace posy::reconcile {
namespace {

TEST(reconcile_key_texts, come_back_as_they_went) {
    for (const key_texts& keys :
         {key_texts{}, key_texts{{""}}, key_texts{{"a", std::string(300, 'x'), "\0\n"}}}) {
        const auto bytes = payload_of(keys);
        const auto back = key_texts::parse(hasher(), bytes);
        ASSERT_TRUE(back) << back.error().text();
        EXPECT_EQ(back->texts, keys.texts);
        expect_cuts_are_refused<key_texts>(bytes);
    }
}

TEST(reconcile_key_texts, golden_bytes) {
    EXPECT_EQ(hex(payload_of(key_texts{{"ab", "", "c"}})),
              "03"
              "026162"
              "00"
              "0163");
}

TEST(reconcile_key_texts, wrong_payloads_say_what_and_where) {
    expect_refused<key_texts>("ffffffff0f", 0, "4294967295 entries in the 0 bytes");
    expect_refused<key_texts>("0105616263", 2, "are left");
    expect_refused<key_texts>("01ffffffffffffffffff01", 11, "are left");
    EXPECT_FALSE(key_texts::parse(hasher(), payload_of(key_texts{{"a", "b", "c"}}),
                                  read_limits{.max_bytes = 2 * sizeof(std::string)}));
}

}  // namespace
}  // namespace posy::reconcile
