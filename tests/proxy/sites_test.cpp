#include "proxy/sites.hpp"

#include <gtest/gtest.h>

#include "proxy/forwarded.hpp"

namespace posy::proxy {
namespace {

sites make(std::initializer_list<const char*> texts) {
    site_options how;
    for (const auto* each : texts) how.all.push_back(*parse_site(each));
    return sites(how);
}

TEST(Sites, AreFoundByHost) {
    const auto both = make({"a.example=http://10.0.0.1:8080", "*=https://b"});
    ASSERT_TRUE(both.any());
    for (const auto* host : {"a.example", "A.Example", "a.example:81", "a.example."})
        EXPECT_EQ(both.find(host)->backend.authority.port, 8080) << host;
    EXPECT_EQ(both.find("other")->backend.authority.host, "b");
    EXPECT_TRUE(both.find("other")->backend.secure);
    for (const auto* bad : {"", "a b", "a/b"}) EXPECT_EQ(both.find(bad), nullptr) << bad;
    EXPECT_EQ(make({"a=http://b"}).find("c"), nullptr);
    EXPECT_FALSE(make({}).any());
}

TEST(Sites, ANameGoesBeforePatternsAndALongPatternBeforeAShortOne) {
    const auto all = make(
        {"*=http://any", "*.example=http://below", "*.b.example=http://further", "a.b.example=http://name"});
    const auto backend = [&](const char* host) { return all.find(host)->backend.authority.host; };
    EXPECT_EQ(backend("a.b.example"), "name");
    EXPECT_EQ(backend("c.B.example:80"), "further");
    EXPECT_EQ(backend("d.c.b.example."), "further");
    EXPECT_EQ(backend("b.example"), "below");
    EXPECT_EQ(backend("example"), "any");
    EXPECT_EQ(backend("anexample"), "any");
    EXPECT_EQ(make({"*.example=http://b"}).find("example"), nullptr);
    EXPECT_EQ(make({"*.example=http://b"}).find(".example"), nullptr);
    for (const auto* bad : {"*.=http://b", "*x=http://b", "a.*=http://b", "*.*=http://b", "*..a=http://b"})
        EXPECT_FALSE(parse_site(bad)) << bad;
}

TEST(Sites, AreNamesAndBackends) {
    for (const auto* bad :
         {"a", "=http://b", "a=b", "a=ftp://b", "a=http://b/c", "a:1=http://b", "a b=http://b", ""})
        EXPECT_FALSE(parse_site(bad)) << bad;
    EXPECT_EQ(parse_site("A.b=https://c:1")->host, "a.b");
    EXPECT_EQ(parse_site("a.b.=http://c")->host, "a.b");
    EXPECT_EQ(*parse_site("a=10.0.0.5:8080"), *parse_site("a=http://10.0.0.5:8080"));
}

TEST(Forwarded, IsReadOrLeft) {
    const auto two = forwarded::parse("For=\"[2001:db8::1]:80\" ; proto=https;by=x, host=\"a\\b:1\"");
    ASSERT_EQ(two.size(), 2U);
    EXPECT_EQ(two[0].client, "[2001:db8::1]:80");
    EXPECT_EQ(two[0].scheme, "https");
    EXPECT_EQ(two[1].host, "ab:1");
    for (const auto* bad :
         {"for", "for=", "for=\"a", "for=a b", "for=\"a\"b", "for=a;=b", "for=a, for=\"", "=a"})
        EXPECT_TRUE(forwarded::parse(bad).empty()) << bad;
    EXPECT_EQ(forwarded::address_in("10.0.0.1:80")->to_string(), "10.0.0.1");
    EXPECT_EQ(forwarded::address_in("[::1]")->to_string(), "::1");
    for (const auto* none : {"unknown", "_x", "", "a, 10.0.0.1"})
        EXPECT_FALSE(forwarded::address_in(none)) << none;
}

}  // namespace
}  // namespace posy::proxy
