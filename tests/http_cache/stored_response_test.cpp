#include "posy/http_cache/stored_response.hpp"

#include <gtest/gtest.h>
#include <malloc.h>

#include "heads.hpp"

namespace posy::http_cache {
namespace {

TEST(stored_response, is_ready_for_the_wire) {
    const auto response = kept({200, "OK",
                                with({{"Date", noon_text},
                                      {"Connection", "X-Hop"},
                                      {"X-Hop", "1"},
                                      {"Transfer-Encoding", "chunked"},
                                      {"Age", "5"},
                                      {"Via", "1.1 up"},
                                      {"Set-Cookie", "a"},
                                      {"Set-Cookie", "b"},
                                      {"Cache-Control", "public, max-age=60"}})});
    EXPECT_EQ(response->wire_head,
              "HTTP/1.1 200 OK\r\nDate: Mon, 01 Jan 2024 12:00:00 GMT\r\nVia: 1.1 up\r\nSet-Cookie: a\r\n"
              "Set-Cookie: b\r\nCache-Control: public, max-age=60\r\nContent-Length: 4\r\n");
    EXPECT_EQ(*response->body, "body");
    EXPECT_EQ(response->lifetime, 60);
    EXPECT_EQ(response->age(noon + 10), 15);
    EXPECT_EQ(response->ttl(noon + 10), 45);
    EXPECT_EQ(response->ttl(noon + 56), -1);
    // The clock was set back, so the age is not known: it is validated before it is used.
    EXPECT_EQ(response->age(noon - 1), most_seconds);
    EXPECT_LT(response->ttl(noon - 100), -1'000'000);
    EXPECT_EQ(response->received, noon);
    EXPECT_EQ(response->size, 4 + head_cost(response->head, response->url));
}

// What malloc() says of the pieces of a response with a hundred fields, each smaller than the object that
// holds it: the size counts no less.
TEST(stored_response, its_size_is_what_it_takes) {
    const auto allocated_by = [](const auto& make) {
        const auto before = mallinfo2().uordblks;
        const auto made = make();
        return std::pair{mallinfo2().uordblks - before, made};
    };
    for (const std::string_view value : {"1", "a value of more than fifteen characters"}) {
        response_head head{200, "OK", {}};
        head.fields.add("Cache-Control", "max-age=60");
        for (int i = 0; i < 97; ++i) head.fields.add("X" + std::to_string(i), value);
        const auto [bytes, made] = allocated_by([&] { return kept(head); });
        if (bytes == 0) GTEST_SKIP() << "an allocator that keeps no books (a sanitizer's)";
        EXPECT_LE(bytes, made->size - stored_overhead + 500);
        EXPECT_GE(2 * bytes, made->size);
    }
}

// The time of day was an hour ahead, and was put right: ages go by the clock that went on.
TEST(stored_response, a_clock_set_back_while_running) {
    const auto response =
        make_stored("http://a/", get(), answer(200, {{"Date", noon_text}}),
                    std::make_shared<const std::string>(), {noon + 3600, noon + 3601, 3600});
    EXPECT_EQ(response->initial_age, 1);
    EXPECT_EQ(response->age(noon + 3611), 11);
}

TEST(stored_response, gets_a_date_and_a_true_length) {
    EXPECT_EQ(kept(answer(200))->head.fields.find("Date"), noon_text);
    EXPECT_EQ(kept(answer(200, {{"Date", "today"}}))->head.fields.find("Date"), noon_text);
    EXPECT_EQ(kept(answer(200, {{"Content-Length", "7"}, {"content-length", "8"}}))
                  ->head.fields.combined("Content-Length"),
              "4");
    EXPECT_FALSE(kept(answer(204, {{"Content-Length", "0"}}), get(), "http://a/", "")
                     ->head.fields.has("Content-Length"));
}

TEST(stored_response, keeps_cookies_only_if_they_are_public) {
    const auto kept_of = [](std::string_view says) {
        const auto response = kept(
            answer(200, {{"Cache-Control", says}, {"Set-Cookie", "a"}, {"set-cookie2", "b"}, {"Y", "2"}}));
        EXPECT_TRUE(response->head.fields.has("Y"));
        return response->head.fields.has("Set-Cookie") + response->head.fields.has("Set-Cookie2");
    };
    EXPECT_EQ(kept_of("max-age=5"), 0);
    EXPECT_EQ(kept_of("s-maxage=5, must-revalidate"), 0);
    EXPECT_EQ(kept_of("public, max-age=5"), 2);
}

TEST(stored_response, leaves_out_what_it_was_told_not_to_keep) {
    const auto response =
        kept(answer(200, {{"Cache-Control", "private=\"Set-Cookie\", no-cache=X, max-age=5"},
                          {"set-cookie", "a"},
                          {"X", "1"},
                          {"Y", "2"}}));
    EXPECT_FALSE(response->head.fields.has("Set-Cookie") || response->head.fields.has("X"));
    EXPECT_TRUE(response->head.fields.has("Y"));
    EXPECT_EQ(response->lifetime, 5);
}

TEST(stored_response, knows_its_variant_and_its_name) {
    const auto vary = answer(200, {{"Vary", "Accept"}});
    const auto a = kept(vary, get({{"Accept", "a"}})), b = kept(vary, get({{"Accept", "b"}}));
    EXPECT_EQ(a->variant.key, "accept:a\n");
    const auto name = [](const stored& of) { return name_of(*of, hasher()); };
    EXPECT_NE(name(a), name(b));
    EXPECT_EQ(name(a), name(kept(vary, get({{"accept", " a"}, {"X", "y"}}))));
    EXPECT_NE(name(kept(vary, get())), name(kept(vary, get(), "http://example.org/accept")));
    EXPECT_NE(name(a), name_of(*a, hasher(hash_family::siphash, {1, 2})));
}

TEST(stored_response, no_value_ends_its_line) {
    const response_head head{200, "O\rK",
                             with({{"A", "1\r\nSet-Cookie: x"}, {"B", std::string_view("\0\n", 2)}})};
    EXPECT_EQ(wire_text(head), "HTTP/1.1 200 O K\r\nA: 1  Set-Cookie: x\r\nB:   \r\n");
}

TEST(stored_response, validators) {
    EXPECT_TRUE(kept(answer(200, {{"ETag", "\"a\""}}))->has_validator());
    EXPECT_TRUE(kept(answer(200, {{"last-modified", noon_text}}))->has_validator());
    EXPECT_FALSE(kept(answer(200))->has_validator());
}

}  // namespace
}  // namespace posy::http_cache
