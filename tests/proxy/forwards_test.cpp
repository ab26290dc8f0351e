#include "proxy/forwards.hpp"

#include <gtest/gtest.h>

namespace posy::proxy {
namespace {

http::request_head head(const std::string& method, const std::string& left) {
    http::request_head h{method, "http://x/a", {}};
    h.fields.add("Max-Forwards", left);
    h.fields.add("Cookie", "secret");
    return h;
}

TEST(forwards, the_last_proxy_answers) {
    auto trace = head("TRACE", "0");
    const auto echo = last_answer(trace);
    ASSERT_TRUE(echo);
    EXPECT_EQ(echo->body, "TRACE http://x/a HTTP/1.1\r\nMax-Forwards: 0\r\n\r\n");
    auto options = head("OPTIONS", "0");
    ASSERT_TRUE(last_answer(options));
    EXPECT_TRUE(last_answer(options)->head.fields.lists("Allow", "CONNECT"));
}

TEST(forwards, an_asterisk_is_this_proxy) {
    http::request_head options{"OPTIONS", "*", {}};
    ASSERT_TRUE(last_answer(options));
    EXPECT_TRUE(last_answer(options)->head.fields.lists("Allow", "GET"));
    http::request_head trace{"TRACE", "*", {}};
    EXPECT_FALSE(last_answer(trace));
}

TEST(forwards, others_pass_on_one_less) {
    auto h = head("TRACE", "2");
    EXPECT_FALSE(last_answer(h));
    EXPECT_EQ(h.fields.find("Max-Forwards"), "1");
    auto get = head("GET", "0");  // not for this method
    EXPECT_FALSE(last_answer(get));
    EXPECT_EQ(get.fields.find("Max-Forwards"), "0");
}

TEST(forwards, one_whole_number) {
    for (const auto* text : {"", "-1", "1.5", "1, 2", "99999999999999999999"}) {
        auto h = head("OPTIONS", text);
        EXPECT_THROW(last_answer(h), http::refusal) << text;
    }
}

}  // namespace
}  // namespace posy::proxy
