#include "proxy/heads.hpp"

#include <gtest/gtest.h>

namespace posy::proxy {
namespace {

http::request_head asked() {
    http::request_head head{"GET", "http://Example.org:80/a?b#c", {}};
    for (const auto& [name, value] : {std::pair{"Host", "example.org"},
                                      {"Accept-Language", "de"},
                                      {"Cookie", "x=1"},
                                      {"Connection", "X-Hop"},
                                      {"X-Hop", "1"},
                                      {"Via", "1.1 other"}})
        head.fields.add(name, value);
    return head;
}

TEST(heads, a_target_is_parsed_once_and_whole) {
    const auto to = parse_target("HTTP://Example.org:80/a?b#c");
    ASSERT_TRUE(to);
    EXPECT_EQ(to->url, "http://example.org/a?b");
    EXPECT_EQ(to->parts, (http::url{false, {"example.org", 80}, "/a?b"}));
    EXPECT_EQ(parse_target("https://[::1]:8443")->parts, (http::url{true, {"::1", 8443}, "/"}));
    for (const auto* none :
         {"", "/a", "ftp://example.org/", "http://", "http://user@example.org/", "example.org"})
        EXPECT_FALSE(parse_target(none)) << none;
}

TEST(heads, to_the_origin) {
    const heads ours("px1");
    const auto text = http::to_text(ours.to_origin(asked(), nullptr, *parse_target(asked().target)));
    EXPECT_EQ(
        text,
        "GET /a?b HTTP/1.1\r\nHost: example.org\r\nAccept-Language: de\r\nCookie: x=1\r\nVia: 1.1 other\r\n"
        "Via: 1.1 px1\r\n");
    const auto elsewhere = ours.to_origin(asked(), nullptr, *parse_target("https://example.org:444/"));
    EXPECT_EQ(elsewhere.fields.find("Host"), "example.org:444");
    const auto host = [&](const char* url) {
        const auto head = ours.to_origin(asked(), nullptr, *parse_target(url));
        return std::string(head.fields.find("Host").value());
    };
    EXPECT_EQ(host("http://[::1]/"), "[::1]");
    EXPECT_EQ(host("https://[::1]:443/"), "[::1]");
    EXPECT_EQ(host("http://[::1]:8080/"), "[::1]:8080");
}

// RFC 9112, 3.2.4.
TEST(heads, options_of_a_whole_server) {
    const heads ours("px1");
    const auto target = [&](const std::string& method, const std::string& url) {
        http::request_head head{method, url, {}};
        return ours.to_origin(head, nullptr, *parse_target(url)).target;
    };
    EXPECT_EQ(target("OPTIONS", "http://example.org"), "*");
    EXPECT_EQ(target("OPTIONS", "http://example.org:8001"), "*");
    EXPECT_EQ(target("OPTIONS", "http://example.org/"), "/");
    EXPECT_EQ(target("OPTIONS", "http://example.org?a"), "/?a");
    EXPECT_EQ(target("GET", "http://example.org"), "/");
}

TEST(heads, other_protocols) {
    const auto wanted = [](std::string_view connection, std::string_view upgrade) {
        http_cache::fields fields;
        fields.add("Connection", connection);
        fields.add("Upgrade", upgrade);
        return upgrade_of(fields);
    };
    EXPECT_EQ(wanted("keep-alive, upgrade", "websocket"), "websocket");
    EXPECT_EQ(wanted("Upgrade", "h2c, websocket, HTTP/2.0, a/1"), "websocket, a/1");
    EXPECT_EQ(wanted("Upgrade", "h2c"), "");
    EXPECT_EQ(wanted("close", "websocket"), "");
}

TEST(heads, to_a_sibling) {
    const auto head = heads("px1").to_sibling(asked(), *parse_target(asked().target));
    EXPECT_EQ(http::to_text(head),
              "GET http://example.org/a?b HTTP/1.1\r\nHost: example.org:80\r\nAccept-Language: de\r\n"
              "Cache-Control: only-if-cached\r\nVia: 1.1 px1\r\n");
}

TEST(heads, to_a_client) {
    const heads ours("px1");
    const http_cache::cache_status status{.hit = true};
    EXPECT_EQ(ours.ending(status, true), "Via: 1.1 px1\r\nCache-Status: px1; hit\r\n\r\n");
    EXPECT_EQ(ours.ending(status, false),
              "Via: 1.1 px1\r\nCache-Status: px1; hit\r\nConnection: close\r\n\r\n");
}

TEST(heads, know_what_has_been_here) {
    const heads ours("px1");
    const auto seen = [&](std::string_view via) {
        http_cache::fields fields;
        fields.add("Via", via);
        return ours.seen(fields);
    };
    EXPECT_TRUE(seen("1.1 px1"));
    EXPECT_TRUE(seen("1.0 other, 1.1 px1"));
    EXPECT_FALSE(seen("1.1 px10"));
    EXPECT_FALSE(seen("1.1 apx1"));
    EXPECT_FALSE(ours.seen({}));
}

}  // namespace
}  // namespace posy::proxy
