#include "posy/http_cache/body_parts.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <random>
#include <string>
#include <vector>

namespace posy::http_cache {
namespace {

using reference = std::vector<std::optional<char>>;

std::shared_ptr<const std::string> text(std::string bytes) {
    return std::make_shared<const std::string>(std::move(bytes));
}

// What a body of this length has at each place: never the same in neighbours.
std::string body_of(std::uint64_t length) {
    std::string all;
    for (std::uint64_t i = 0; i < length; ++i) all += static_cast<char>('a' + i % 23);
    return all;
}

byte_range some_range(std::mt19937_64& random, std::uint64_t length, std::uint64_t longest) {
    const auto first = random() % length;
    return {first, std::min(length - 1, first + random() % longest)};
}

std::string read(const body_parts& from, const byte_range& at) {
    std::string all;
    for (const auto slice : from.slices(at)) all += slice;
    return all;
}

// Every range is there if each of its bytes is, and only then, and reads as it was written.
std::size_t check(const body_parts& parts, const reference& held) {
    std::size_t found = 0;
    for (std::uint64_t first = 0; first < held.size(); ++first) {
        std::string wanted;
        for (std::uint64_t last = first; last < held.size(); ++last) {
            if (held[last]) wanted += *held[last];
            const bool here = wanted.size() == last - first + 1;
            EXPECT_EQ(parts.covers({first, last}), here) << first << "-" << last;
            if (!here) continue;
            EXPECT_EQ(read(parts, {first, last}), wanted) << first << "-" << last;
            ++found;
        }
    }
    return found;
}

TEST(body_parts, one_part) {
    const body_parts parts(10, 2, text("cde"));
    EXPECT_TRUE(parts.covers({2, 4}));
    EXPECT_FALSE(parts.covers({1, 2}));
    EXPECT_FALSE(parts.covers({4, 5}));
    EXPECT_FALSE(parts.whole());
    EXPECT_EQ(read(parts, {3, 4}), "de");
    EXPECT_TRUE(body_parts(3, 0, text("abc")).whole());
}

TEST(body_parts, a_text_that_adds_nothing_is_let_go) {
    const body_parts large(10, 0, text("abcdefgh"));
    EXPECT_EQ(large.joined({10, 3, text("de")}).bytes(), 8u);
    EXPECT_EQ(body_parts(10, 3, text("de")).joined(large).bytes(), 8u);
    EXPECT_EQ(large.joined({10, 6, text("ghij")}).texts(), 2u);
}

TEST(body_parts, agree_with_a_reference_byte_by_byte) {
    std::mt19937_64 random(1);
    const auto from = std::make_shared<room>(1 << 20);
    std::size_t found = 0, wholes = 0, packs = 0;
    for (int round = 0; round < 300; ++round) {
        const std::uint64_t length = 1 + random() % 40;
        const auto body = body_of(length);
        reference held(length);
        std::optional<body_parts> parts;
        for (int step = 0; step < 12; ++step) {
            const auto at = some_range(random, length, 1 + random() % 12);
            const body_parts more(length, at.first, text(body.substr(at.first, at.size())));
            parts = parts ? parts->joined(more) : more;
            for (auto i = at.first; i <= at.last; ++i) held[i] = body[i];
            if (random() % 4 == 0) packs += parts->pack(from);
            found += check(*parts, held);
            const auto gap = std::ranges::find(held, std::optional<char>());
            EXPECT_EQ(parts->beginning(), static_cast<std::uint64_t>(gap - held.begin()));
            const auto whole = parts->text(from, 0);
            EXPECT_EQ(whole != nullptr,
                      std::ranges::all_of(held, [](const auto& c) { return c.has_value(); }));
            EXPECT_EQ(whole ? *whole : body, body);
            wholes += whole != nullptr;
        }
    }
    EXPECT_GT(found, 100000u);
    EXPECT_GT(wholes, 500u);
    EXPECT_GT(packs, 500u);
    EXPECT_EQ(from->used(), 0u);  // every copy gave its room back
}

TEST(body_parts, packing_needs_room_and_leaves_gaps) {
    body_parts parts(100, 0, text("ab"));
    parts = parts.joined({100, 2, text("cd")}).joined({100, 50, text("x")});
    EXPECT_FALSE(parts.pack(std::make_shared<room>(4)));
    EXPECT_EQ(parts.count(), 3u);
    const auto from = std::make_shared<room>(5);
    EXPECT_TRUE(parts.pack(from));
    EXPECT_EQ(parts.count(), 2u);
    EXPECT_EQ(from->used(), 5u);
    EXPECT_EQ(read(parts, {0, 3}), "abcd");
    EXPECT_FALSE(parts.covers({0, 50}));
}

}  // namespace
}  // namespace posy::http_cache
