#include "node/summary_protocol.hpp"

#include <gtest/gtest.h>

namespace posy::node {
namespace {

using namespace std::chrono_literals;

TEST(summary_protocol, a_tag_names_a_generation_and_its_bits) {
    const edition e{0x1a1dff1b8f6, 0x6ba2bfe7};
    EXPECT_EQ(tag_of(e), "\"1a1dff1b8f6-6ba2bfe7\"");
    EXPECT_EQ(tag_of({1, 2}), "\"1-00000002\"");
    const auto held = held_of(tag_of(e));
    ASSERT_TRUE(held);
    EXPECT_EQ(held->generation, e.generation);
    EXPECT_EQ(held->checksum, e.checksum);
    EXPECT_EQ(held_of("\"1a\"")->generation, 0x1aU);
    EXPECT_FALSE(held_of("\"1a\"")->checksum);
}

TEST(summary_protocol, other_tags_name_nothing) {
    for (const auto* tag :
         {"", "\"", "\"\"", "*", "1a", "W/\"1a\"", "\"zz\"", "\"1a\", \"1b\"", "\"1a-\"", "\"-6ba2bfe7\"",
          "\"1a-6ba2bfe70\"", "\"ffffffffffffffffffff\"", "\"+1\"", "\" 1\""})
        EXPECT_FALSE(held_of(tag)) << tag;
}

TEST(summary_protocol, questions_come_back_as_they_were) {
    for (const auto& q : {question{}, question{"", true, 0s}, question{"\"1-00000002\"", true, 60s},
                          question{"\"1-00000002\"", false, 300s}}) {
        http_cache::fields fields;
        add_to(fields, q);
        const auto back = question_of(fields);
        EXPECT_EQ(back.tag, q.tag);
        EXPECT_EQ(back.deltas, q.deltas);
        EXPECT_EQ(back.wait, q.wait);
    }
}

TEST(summary_protocol, nobody_waits_for_ever) {
    const auto wait = [](std::string_view prefer) {
        http_cache::fields fields;
        fields.add("Prefer", prefer);
        return question_of(fields).wait;
    };
    EXPECT_EQ(wait("respond-async, wait=7"), 7s);
    EXPECT_EQ(wait("wait=301"), 300s);
    EXPECT_EQ(wait("wait=-1"), 0s);
    EXPECT_EQ(wait("wait=99999999999999999999"), 0s);
    EXPECT_EQ(wait("wait=soon"), 0s);
    EXPECT_EQ(wait("waiting=5"), 0s);
}

TEST(summary_protocol, heads_of_answers) {
    using kind = publisher::reply::kind;
    const edition e{0x1a1dff1b8f7, 0x18fe0858};
    const auto text = [&](kind what) { return http::to_text(head_of({what, e, nullptr}, 1'794'758'523)); };
    const std::string rest = "Date: Sun, 15 Nov 2026 16:02:03 GMT\r\nETag: \"1a1dff1b8f7-18fe0858\"\r\n";
    EXPECT_EQ(text(kind::whole), "HTTP/1.1 200 OK\r\n" + rest);
    EXPECT_EQ(text(kind::delta), "HTTP/1.1 226 IM Used\r\nIM: posy-delta\r\n" + rest);
    EXPECT_EQ(text(kind::unchanged), "HTTP/1.1 304 Not Modified\r\n" + rest);
}

}  // namespace
}  // namespace posy::node
