#include "posy/http_cache/stored_bytes.hpp"

#include <gtest/gtest.h>

#include <random>

#include "heads.hpp"

namespace posy::http_cache {
namespace {

stored example() {
    return make_stored("http://a/", get({{"Accept", "b"}}),
                       {200, "OK", with({{"Date", noon_text}, {"Vary", "Accept"}, {"Age", "3"}})},
                       std::make_shared<const std::string>("hi"), {noon, noon + 1});
}
std::string bytes_of(const stored_response& response) { return head_bytes(response) + *response.body; }

std::string hex(std::string_view text) {
    std::string digits;
    for (const char c : text) {
        for (const int shift : {4, 0})
            digits += "0123456789abcdef"[static_cast<unsigned char>(c) >> shift & 15];
    }
    return digits;
}

// A directory written today opens tomorrow: these bytes change only together with the version.
TEST(stored_bytes, golden) {
    EXPECT_EQ(hex(bytes_of(*example())),
              "5053594301000000720000000000000002000000000000009a6eead7bb00232ada322d66c60d2a48"  // prefix
              "09687474703a2f2f612f0106616363657074096163636570743a620a"  // url, vary names, secondary key
              "41a99265000000000400000000000000"                          // received, initial age
              "c801024f4b03"                                              // status, reason, count of fields
              "04446174651d4d6f6e2c203031204a616e20323032342031323a30303a303020474d54"
              "045661727906416363657074"
              "0e436f6e74656e742d4c656e6774680132"
              "6869");
}

// Dated by a clock that was five seconds ahead and then set back by ten, so that Date seemed to be in the
// future. Another process, whose clock is right, must not take it for younger than it is.
TEST(stored_bytes, a_clock_that_was_ahead_makes_nothing_younger) {
    const auto made = make_stored("http://a/", get(),
                                  {200, "OK", with({{"Date", noon_text}, {"Cache-Control", "max-age=9"}})},
                                  std::make_shared<const std::string>("hi"), {noon + 5, noon + 5, 10});
    EXPECT_EQ(made->initial_age, 0);
    const auto text = bytes_of(*made);
    EXPECT_EQ((*parse_stored(as_byte_view(text)))->age(noon + 7), 7);
}

TEST(stored_bytes, round_trip) {
    for (const auto& response :
         {example(), kept(answer(404)), kept(answer(204), get(), "http://b/", ""),
          kept(answer(200, {{"Cache-Control", "max-age=9"},
                            {"ETag", "\"\xff\""},
                            {"Set-Cookie", "a"},
                            {"Set-Cookie", ""}}),
               get(), "http://c/" + std::string(300, 'x'), std::string(70000, '\0'))}) {
        const auto text = bytes_of(*response);
        const auto back = parse_stored(as_byte_view(text));
        ASSERT_TRUE(back) << back.error().text();
        EXPECT_EQ((*back)->url, response->url);
        EXPECT_EQ((*back)->variant, response->variant);
        EXPECT_EQ((*back)->received, response->received);
        EXPECT_EQ((*back)->initial_age, response->initial_age);
        EXPECT_EQ((*back)->lifetime, response->lifetime);
        EXPECT_EQ((*back)->head.fields, response->head.fields);
        EXPECT_EQ((*back)->wire_head, response->wire_head);
        EXPECT_EQ(*(*back)->body, *response->body);
        EXPECT_EQ((*back)->size, response->size);

        const auto sizes = parse_sizes(as_byte_view(text));
        ASSERT_TRUE(sizes);
        EXPECT_EQ(sizes->total(), text.size());
        const auto label = parse_label(as_byte_view(text).first(stored_prefix_size + sizes->head));
        ASSERT_TRUE(label);
        EXPECT_EQ(label->url, response->url);
        EXPECT_EQ(label->variant, response->variant);
        EXPECT_EQ(label->received, response->received);
        EXPECT_EQ(label->size, text.size());
    }
}

TEST(stored_bytes, every_cut_and_every_flip_is_noticed) {
    const auto text = bytes_of(*example());
    for (std::size_t size = 0; size < text.size(); ++size) {
        EXPECT_FALSE(parse_stored(as_byte_view(text).first(size))) << size;
    }
    EXPECT_FALSE(parse_stored(as_byte_view(text + "x")));
    for (std::size_t bit = 0; bit < text.size() * 8; ++bit) {
        auto flipped = text;
        flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ 1 << bit % 8);
        const auto parsed = parse_stored(as_byte_view(flipped));
        ASSERT_FALSE(parsed) << bit;
        EXPECT_TRUE(parsed.error().offset);
    }
}

// The checksum fits, and everything else may be a lie: still no length is believed.
TEST(stored_bytes, lies_with_a_true_checksum) {
    const auto text = bytes_of(*example());
    const auto sizes = *parse_sizes(as_byte_view(text));
    std::mt19937_64 random(5);
    int parsed_anyway = 0;
    for (int i = 0; i < 20000; ++i) {
        auto lie = text.substr(0, stored_prefix_size + sizes.head);
        for (auto changes = 1 + random() % 3; changes > 0; --changes) {
            lie[stored_prefix_size + random() % sizes.head] =
                static_cast<char>(random() % 3 == 0 ? 0xff : random());
        }
        const auto sum = hasher()(lie.substr(0, 32) + lie.substr(stored_prefix_size)).low;
        store_little(reinterpret_cast<std::byte*>(lie.data() + 32), sum);
        parsed_anyway += parse_stored(as_byte_view(lie + "hi")).ok();
        (void)parse_label(as_byte_view(lie)).ok();
    }
    EXPECT_GT(parsed_anyway, 1000);  // changed letters of a text: the checksum was right, indeed
    EXPECT_LT(parsed_anyway, 19000);
}

TEST(stored_bytes, limits_come_first) {
    auto text = bytes_of(*example());
    store_little(reinterpret_cast<std::byte*>(text.data() + 8), most_stored_head + 1);
    EXPECT_FALSE(parse_sizes(as_byte_view(text)));
    text = bytes_of(*example());
    store_little(reinterpret_cast<std::byte*>(text.data() + 16), ~std::uint64_t{0});
    EXPECT_FALSE(parse_sizes(as_byte_view(text)));
    text[4] = 2;
    EXPECT_NE(parse_sizes(as_byte_view(text)).error().message.find("version"), std::string::npos);
}

}  // namespace
}  // namespace posy::http_cache
