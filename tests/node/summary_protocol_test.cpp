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
                          question{"\"1-00000002\"", false, 300s}, question{"", true, 60s, true},
                          question{"\"1-00000002\"", false, 60s, true}}) {
        http_cache::fields fields;
        add_to(fields, q);
        const auto back = question_of(fields);
        EXPECT_EQ(back.tag, q.tag);
        EXPECT_EQ(back.deltas, q.deltas);
        EXPECT_EQ(back.wait, q.wait);
        EXPECT_EQ(back.stream, q.stream);
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

TEST(summary_protocol, an_asker_of_streams_is_one_of_deltas_to_those_who_know_none) {
    http_cache::fields fields;
    add_to(fields, {"", true, 60s, true});
    EXPECT_EQ(*fields.find("A-IM"), "posy-delta, posy-stream");
    EXPECT_TRUE(fields.lists("A-IM", "posy-delta"));
}

TEST(summary_protocol, the_head_of_a_stream) {
    const auto head = stream_head({0x1a1dff1b8f7, 0x18fe0858}, 1'794'758'523);
    EXPECT_EQ(http::to_text(head),
              "HTTP/1.1 226 IM Used\r\nIM: posy-stream\r\nDate: Sun, 15 Nov 2026 16:02:03 GMT\r\n"
              "ETag: \"1a1dff1b8f7-18fe0858\"\r\nCache-Control: no-store\r\nTransfer-Encoding: chunked\r\n");
    EXPECT_TRUE(is_stream(head));
    EXPECT_FALSE(is_stream(head_of({publisher::reply::kind::delta, {1, 2}, nullptr}, 0)));
    EXPECT_EQ(chunk_start(0x1f4), "1f4\r\n");
}

// A message of a filter, as bytes.
std::string small_message() {
    auto filter = bloom_filter::make({1000, 3, layout_id::spread});
    filter->insert(hasher()("key"));
    const auto bytes = to_bytes(*filter, {.generation = 7});
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

TEST(stream_messages, come_whole_from_pieces_of_any_size) {
    const auto message = small_message();
    const std::string body = "\n\n" + message + message + "\n" + message;
    for (std::size_t size = 1; size <= body.size(); ++size) {
        stream_messages from(1000);
        std::string got;
        for (std::size_t at = 0; at < body.size(); at += size) {
            from.add(std::string_view(body).substr(at, size));
            while (const auto next = from.next()) {
                if (!next->empty()) EXPECT_EQ(*next, message);
                got += next->empty() ? "." : "m";
            }
        }
        EXPECT_FALSE(from.inside());
        std::erase(got, '.');
        EXPECT_EQ(got, "mmm") << size;
    }
}

TEST(stream_messages, what_is_no_message_or_too_long_is_an_error) {
    const auto message = small_message();
    stream_messages small(message.size() - 1);
    small.add(message.substr(0, message.size() - 1));
    EXPECT_THROW(small.next(), std::runtime_error);  // before the rest of it is taken
    stream_messages junk(1000);
    junk.add("HTTP/1.1 200 OK");
    EXPECT_THROW(junk.next(), std::runtime_error);
}

}  // namespace
}  // namespace posy::node
