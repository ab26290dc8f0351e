#include "posy/http_cache/structured_fields.hpp"

#include <gtest/gtest.h>

namespace posy::http_cache::structured {
namespace {

bare_item value(std::string_view text) {
    const auto found = parse_item(text);
    EXPECT_TRUE(found) << text;
    return found ? found->value : bare_item(false);
}

TEST(structured_fields, every_type_of_item) {
    EXPECT_EQ(value("42"), bare_item(std::int64_t{42}));
    EXPECT_EQ(value(" -999999999999999 "), bare_item(std::int64_t{-999999999999999}));
    EXPECT_EQ(value("4.5"), bare_item(decimal{4500}));
    EXPECT_EQ(value("-0.125"), bare_item(decimal{-125}));
    EXPECT_EQ(value("\"a \\\"b\\\\\""), bare_item(std::string("a \"b\\")));
    EXPECT_EQ(value("*foo/bar:baz"), bare_item(token{"*foo/bar:baz"}));
    EXPECT_EQ(value(":aGVsbG8=:"), bare_item(byte_sequence{"hello"}));
    EXPECT_EQ(value(":aGVsbG8:"), bare_item(byte_sequence{"hello"}));
    EXPECT_EQ(value("::"), bare_item(byte_sequence{""}));
    EXPECT_EQ(value("?1"), bare_item(true));
    EXPECT_EQ(value("?0"), bare_item(false));
    EXPECT_EQ(value("@1659578233"), bare_item(date{1659578233}));
    EXPECT_EQ(value("%\"f%c3%bc\""), bare_item(display_string{"f\u00fc"}));
}

TEST(structured_fields, what_is_not_an_item) {
    for (const auto* text : {"",
                             " ",
                             "1000000000000000",
                             "1.",
                             ".5",
                             "1.2345",
                             "1234567890123.1",
                             "-",
                             "--1",
                             "\"a",
                             "\"a\\b\"",
                             "\"\x7f\"",
                             "\"\xc3\xbc\"",
                             ":a:",
                             ":a b:",
                             ":aGVsbG8",
                             "?2",
                             "?",
                             "@1.5",
                             "@",
                             "%\"%C3%BC\"",
                             "%\"%c3\"",
                             "%\"%ed%a0%80\"",
                             "%a",
                             "&",
                             "a b",
                             "1, 2",
                             "1;",
                             "1;A",
                             "1;=2",
                             "\ta",
                             "a;b= 1"}) {
        EXPECT_FALSE(parse_item(text)) << text;
    }
}

TEST(structured_fields, parameters) {
    const auto found = parse_item("a;b;c=2; b=?0;d=\"x\"");
    ASSERT_TRUE(found);
    const parameters wanted{{"b", false}, {"c", std::int64_t{2}}, {"d", std::string("x")}};
    EXPECT_EQ(found->parameters, wanted);
}

TEST(structured_fields, lists) {
    const auto found = parse_list("a, (b 1;x);y \t,\t  \"c\"");
    ASSERT_TRUE(found);
    ASSERT_EQ(found->size(), 3u);
    const auto& inner = std::get<inner_list>((*found)[1]);
    ASSERT_EQ(inner.items.size(), 2u);
    EXPECT_EQ(inner.items[1].parameters.size(), 1u);
    EXPECT_EQ(inner.parameters.size(), 1u);
    EXPECT_EQ(parse_list("")->size(), 0u);
    EXPECT_EQ(parse_list("()")->size(), 1u);
    for (const auto* text : {"a,", ",a", "a,,b", "a b", "(a", "(a,b)", "(a\"b\")", "a;"}) {
        EXPECT_FALSE(parse_list(text)) << text;
    }
}

TEST(structured_fields, dictionaries) {
    const auto found = parse_dictionary("max-age=10, no-store;x, a=(1 2), max-age=20");
    ASSERT_TRUE(found);
    ASSERT_EQ(found->size(), 3u);
    EXPECT_EQ((*found)[0].first, "max-age");
    EXPECT_EQ(std::get<item>((*found)[0].second).value, bare_item(std::int64_t{20}));
    EXPECT_EQ(std::get<item>((*found)[1].second).value, bare_item(true));
    EXPECT_EQ(std::get<item>((*found)[1].second).parameters.size(), 1u);
    EXPECT_TRUE(parse_dictionary("")->empty());
    for (const auto* text : {"A=1", "a=", "a =1", "a= 1", "=1", "a=1,", "a=1 b=2", "a=1, &&&", "-a"}) {
        EXPECT_FALSE(parse_dictionary(text)) << text;
    }
}

}  // namespace
}  // namespace posy::http_cache::structured
