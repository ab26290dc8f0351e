#include "posy/http_cache/url.hpp"

#include <gtest/gtest.h>

#include "heads.hpp"

namespace posy::http_cache {
namespace {

using urls = std::vector<std::string>;

TEST(url, normal_form) {
    struct row {
        const char *url, *normal;  // null: none
    };
    for (const auto& [url, normal] : std::initializer_list<row>{
             {"http://example.org", "http://example.org/"},
             {"HTTP://Example.ORG/A%7eb/../C?Q=%41#top", "http://example.org/A%7eb/../C?Q=%41"},
             {"http://example.org:80/", "http://example.org/"},
             {"http://example.org:/", "http://example.org/"},
             {"http://example.org:443/", "http://example.org:443/"},
             {"https://example.org:443/x", "https://example.org/x"},
             {"https://example.org:80", "https://example.org:80/"},
             {"http://example.org:0080/", "http://example.org/"},
             {"http://example.org:08080/", "http://example.org:8080/"},
             {"http://example.org:000/", "http://example.org:0/"},
             {"ftp://example.org:80/x", "ftp://example.org:80/x"},
             {"http://example.org?a/b", "http://example.org/?a/b"},
             {"http://example.org/?a?b", "http://example.org/?a?b"},
             {"http://example.org#a?b", "http://example.org/"},
             {"http://[2001:DB8::1]:80/", "http://[2001:db8::1]/"},
             {"http://[2001:DB8::80]/", "http://[2001:db8::80]/"},
             {"http://[2001:db8::1]:8080/", "http://[2001:db8::1]:8080/"},
             {"http://User:Pass@Example.org:80/", "http://User:Pass@example.org/"},
             {"http://example.org//", "http://example.org//"},
             {"", nullptr},
             {"/path", nullptr},
             {"example.org:443", nullptr},
             {"http:/example.org", nullptr},
             {"http://", nullptr},
             {"http:///path", nullptr},
             {"http://?q", nullptr},
             {"http://:80/", nullptr},
             {"http://user@/", nullptr},
             {"://example.org/", nullptr},
             {"1http://example.org/", nullptr},
             {"/x?u=http://example.org/", nullptr},
         }) {
        EXPECT_EQ(normal_url(url), normal ? std::optional<std::string>(normal) : std::nullopt) << url;
        if (normal) {
            EXPECT_EQ(normal_url(normal), normal);
        }
    }
}

TEST(url, origins) {
    EXPECT_TRUE(same_origin("http://a/x", "http://a/y?z"));
    EXPECT_FALSE(same_origin("http://a/", "https://a/"));
    EXPECT_FALSE(same_origin("http://a/", "http://a:81/"));
    EXPECT_FALSE(same_origin("http://a/", "http://ab/"));
    EXPECT_FALSE(same_origin("a", "a"));
}

// The examples of RFC 3986, 5.4, as far as they are of http, with the normal form on top.
TEST(url, references) {
    const std::string base = "http://a/b/c/d;p?q";
    struct row {
        const char *reference, *url;
    };
    for (const auto& [reference, url] : std::initializer_list<row>{
             {"g", "http://a/b/c/g"},
             {"./g", "http://a/b/c/g"},
             {"g/", "http://a/b/c/g/"},
             {"/g", "http://a/g"},
             {"//g", "http://g/"},
             {"?y", "http://a/b/c/d;p?y"},
             {"g?y", "http://a/b/c/g?y"},
             {"#s", "http://a/b/c/d;p?q"},
             {"g#s", "http://a/b/c/g"},
             {";x", "http://a/b/c/;x"},
             {"", "http://a/b/c/d;p?q"},
             {".", "http://a/b/c/"},
             {"./", "http://a/b/c/"},
             {"..", "http://a/b/"},
             {"../g", "http://a/b/g"},
             {"../..", "http://a/"},
             {"../../g", "http://a/g"},
             {"../../../g", "http://a/g"},
             {"/./g", "http://a/g"},
             {"/../g", "http://a/g"},
             {"g.", "http://a/b/c/g."},
             {"..g", "http://a/b/c/..g"},
             {"./g/.", "http://a/b/c/g/"},
             {"g/./h", "http://a/b/c/g/h"},
             {"g/../h", "http://a/b/c/h"},
             {"g?y/../x", "http://a/b/c/g?y/../x"},
             {"HTTP://A:80", "http://a/"},
             {" /g\t", "http://a/g"},
             {"x/y:z", "http://a/b/c/x/y:z"},
             {"mailto:a@b", nullptr},
             {"//", nullptr},
         }) {
        EXPECT_EQ(resolved_url(base, reference), url ? std::optional<std::string>(url) : std::nullopt)
            << reference;
    }
    EXPECT_EQ(resolved_url("nonsense", "/g"), std::nullopt);
}

TEST(url, unsafe_methods_invalidate) {
    const std::string url = "http://a/b/c";
    const auto after = [&](const char* method, unsigned status, field_list list = {}) {
        return invalidated_urls(get({}, method), url, answer(status, list));
    };
    for (const auto* safe : {"GET", "HEAD", "OPTIONS", "TRACE"}) EXPECT_EQ(after(safe, 200), urls{}) << safe;
    for (const auto* unsafe : {"POST", "PUT", "DELETE", "PATCH", "MKCOL", "get"}) {
        EXPECT_EQ(after(unsafe, 200), urls{url}) << unsafe;
    }
    EXPECT_EQ(after("PUT", 303), urls{url});
    for (const unsigned status : {100u, 199u, 400u, 404u, 500u})
        EXPECT_EQ(after("PUT", status), urls{}) << status;
    EXPECT_EQ(after("POST", 201, {{"Location", "/d"}, {"Content-Location", "e"}}),
              (urls{url, "http://a/d", "http://a/b/e"}));
    EXPECT_EQ(after("POST", 201, {{"Location", "http://a/b/c"}, {"Content-Location", "c#x"}}), urls{url});
    EXPECT_EQ(after("POST", 201, {{"Location", "http://b/d"}, {"Content-Location", "https://a/d"}}),
              urls{url});
    EXPECT_EQ(after("POST", 201, {{"Location", ":"}}).front(), url);
}

}  // namespace
}  // namespace posy::http_cache
