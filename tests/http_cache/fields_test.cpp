#include "posy/http_cache/fields.hpp"

#include <gtest/gtest.h>

namespace posy::http_cache {
namespace {

using texts = std::vector<std::string_view>;

TEST(fields, names_compare_without_case_and_only_ascii_folds) {
    EXPECT_TRUE(same_name("Content-Length", "content-LENGTH"));
    EXPECT_TRUE(same_name("", ""));
    EXPECT_FALSE(same_name("ETag", "ETags"));
    EXPECT_FALSE(same_name("[", "{"));        // 0x20 apart, and no letters
    EXPECT_FALSE(same_name("\xc4", "\xe4"));  // letters of Latin-1
}

TEST(fields, keep_order_and_repetition) {
    fields all;
    all.add("Set-Cookie", "a=1");
    all.add("Via", "1.1 x");
    all.add("set-cookie", "b=2");
    EXPECT_EQ(all.size(), 3u);
    EXPECT_EQ(all.find("SET-COOKIE"), "a=1");
    EXPECT_EQ(all.combined("Set-Cookie"), "a=1, b=2");
    EXPECT_EQ(all.find("Cookie"), std::nullopt);
    EXPECT_EQ(all.combined("Cookie"), std::nullopt);
    EXPECT_TRUE(all.has("via"));
    EXPECT_EQ((all.begin() + 2)->name, "set-cookie");
}

TEST(fields, set_leaves_one_in_the_first_place) {
    fields all;
    all.add("A", "1");
    all.add("B", "2");
    all.add("a", "3");
    all.set("A", "4");
    fields expected;
    expected.add("A", "4");
    expected.add("B", "2");
    EXPECT_EQ(all, expected);
    all.set("C", "5");
    EXPECT_EQ((all.end() - 1)->name, "C");
    all.erase("b");
    EXPECT_FALSE(all.has("B"));
    EXPECT_EQ(all.size(), 2u);
    all.clear();
    EXPECT_EQ(all.size(), 0u);
    EXPECT_FALSE(all.has("A"));
}

TEST(fields, lists_look_at_whole_members_of_every_line) {
    fields all;
    all.add("Connection", "keep-alive, X-One");
    all.add("connection", "\tCLOSE ");
    EXPECT_TRUE(all.lists("Connection", "close"));
    EXPECT_TRUE(all.lists("Connection", "x-one"));
    EXPECT_FALSE(all.lists("Connection", "keep"));
    EXPECT_FALSE(all.lists("Upgrade", "close"));
}

TEST(fields, list_members_are_trimmed_and_quoted_commas_stay) {
    EXPECT_EQ(list_members(""), texts{});
    EXPECT_EQ(list_members(" , ,\t"), texts{});
    EXPECT_EQ(list_members("a"), texts{"a"});
    EXPECT_EQ(list_members(" a ,,b\t, c d "), (texts{"a", "b", "c d"}));
    EXPECT_EQ(list_members(R"(no-cache="a, b", c)"), (texts{R"(no-cache="a, b")", "c"}));
    EXPECT_EQ(list_members(R"("a\", b", c)"), (texts{R"("a\", b")", "c"}));
    // A quote that never ends hides nothing.
    EXPECT_EQ(list_members(R"(a="b, c)"), (texts{R"(a="b)", "c"}));
    EXPECT_EQ(list_members(R"("a, b", c="d, e\", f)"), (texts{R"("a, b")", R"(c="d)", R"(e\")", "f"}));
    EXPECT_EQ(list_members("\"a\\"), texts{"\"a\\"});
}

}  // namespace
}  // namespace posy::http_cache
