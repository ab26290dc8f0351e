#include "proxy/tags.hpp"

#include <gtest/gtest.h>

#include <functional>

namespace posy::proxy {
namespace {

http_cache::fields fields(std::string_view name, std::string_view value) {
    http_cache::fields f;
    f.add(name, value);
    return f;
}

bool has(const tags& t, std::string_view url, const std::vector<tags::number>& wanted) {
    return t.carries(url, wanted) != tags::answer::no;
}

TEST(Tags, WordsAreSeparatedByCommasOrBlanks) {
    using words = std::vector<std::string_view>;
    EXPECT_EQ(words_of("a b,c , d\te,"), (words{"a", "b", "c", "d", "e"}));
    EXPECT_EQ(words_of(" ,, "), words{});
}

TEST(Tags, AUrlCarriesTheTagsOfAllItsVariants) {
    tags t;
    t.learn("u", fields("Cache-Tag", "a, b"));
    t.learn("u", fields("Surrogate-Key", "b c"));
    t.learn("v", fields("Cache-Tag", "c"));
    t.learn("w", fields("ETag", "c"));
    const auto wanted = [](std::string_view list) { return tags::of(fields("Cache-Tag", list)); };
    EXPECT_TRUE(has(t, "u", wanted("a")) && has(t, "u", wanted("c")) && has(t, "u", wanted("x b")));
    EXPECT_TRUE(has(t, "v", wanted("c")));
    EXPECT_FALSE(has(t, "v", wanted("a")) || has(t, "w", wanted("c")) || has(t, "u", wanted("x")));
    EXPECT_EQ(t.size(), 2U);  // those without tags cost nothing
    t.forget("u");
    EXPECT_FALSE(has(t, "u", wanted("a")));
}

// Of this pair std::hash makes the same 64 bits in libstdc++, as of any number of others.
TEST(Tags, StayWhenAUrlLeavesThatWasMadeToCollide) {
    const std::string_view kept = "http://a.example/article",
                           made = "http://a.example/?xxxxxxhlIndhjdxt:=GCZ-";
#ifdef __GLIBCXX__
    ASSERT_EQ(std::hash<std::string_view>{}(kept), std::hash<std::string_view>{}(made));
#endif
    tags t;
    t.learn(kept, fields("Cache-Tag", "a"));
    const auto wanted = tags::of(fields("Cache-Tag", "a"));
    EXPECT_FALSE(has(t, made, wanted));
    t.forget(made);
    EXPECT_TRUE(has(t, kept, wanted));
    t.learn(kept, fields("Cache-Tag", made));
    EXPECT_FALSE(has(t, kept, tags::of(fields("Cache-Tag", kept))));
}

TEST(Tags, WhatIsNotKnownMayBeAny) {
    tags t;
    t.doubt("u");
    EXPECT_EQ(t.carries("u", tags::of(fields("Cache-Tag", "a"))), tags::answer::perhaps);
    std::string many;
    for (std::size_t i = 0; i <= tags::most_tags; ++i) many += std::to_string(i) + " ";
    t.learn("v", fields("Cache-Tag", many));
    EXPECT_TRUE(has(t, "v", tags::of(fields("Cache-Tag", "a"))));
}

}  // namespace
}  // namespace posy::proxy
