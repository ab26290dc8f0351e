#include "posy/dialect/squid_digest.hpp"

#include <fstream>
#include <iterator>

#include "statistics.hpp"
#include "support.hpp"

namespace posy {
namespace {

// testdata/squid/README.md says where it comes from.
std::vector<std::byte> captured() {
    std::ifstream in(POSY_TESTDATA "/squid/digest.bin", std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(in), {}};
    const auto view = as_byte_view(text);
    return {view.begin(), view.end()};
}

std::string held(int i) { return "http://127.0.0.1:33180/o" + std::to_string(i) + ".txt"; }

TEST(squid_digest, reads_what_squid_wrote) {
    const auto bytes = captured();
    ASSERT_EQ(bytes.size(), 180u);
    const auto digest = squid_digest::from_bytes(bytes);
    ASSERT_TRUE(digest) << digest.error().text();
    for (int i = 1; i <= 30; ++i) EXPECT_TRUE(digest->may_contain(held(i))) << i;
    EXPECT_EQ(digest->capacity(), 82u);
    EXPECT_EQ(digest->size(), 180u);
    // Others are found as often as the bits say: 10,000 lookups, and six standard deviations are one false
    // alarm in 500 million.
    bernoulli absent(10'000);
    for (int i = 0; i < 10'000; ++i)
        absent.add(digest->may_contain("http://elsewhere/" + std::to_string(i)),
                   digest->false_positive_rate());
    absent.expect(6);
    // What was read is written as it came.
    EXPECT_EQ(digest->to_bytes(), bytes);
}

TEST(squid_digest, finds_what_it_was_given) {
    at_least read(10, "digests read back");
    for (const unsigned per_entry : {4u, 5u, 8u, 16u, 255u}) {
        for (const std::uint64_t capacity : {1u, 7u, 1000u, 4096u}) {
            auto digest = *squid_digest::make(capacity, per_entry);
            for (std::uint64_t i = 0; i < capacity; ++i) digest.insert(std::to_string(i));
            EXPECT_EQ(digest.items(), capacity);
            const auto bytes = digest.to_bytes();
            EXPECT_EQ(bytes.size(), digest.size());
            const auto again = squid_digest::from_bytes(bytes);
            if (digest.fill() > squid_digest::max_fill) {
                EXPECT_FALSE(again);
                continue;
            }
            ASSERT_TRUE(again) << again.error().text();
            for (std::uint64_t i = 0; i < capacity; ++i) EXPECT_TRUE(again->may_contain(std::to_string(i)));
            EXPECT_EQ(again->ones(), digest.ones());
            ++read;
        }
    }
}

TEST(squid_digest, has_limits) {
    EXPECT_FALSE(squid_digest::make(10, 0));
    EXPECT_FALSE(squid_digest::make(10, 256));
    EXPECT_FALSE(squid_digest::make(std::uint64_t{1} << 32, 8));
    EXPECT_FALSE(squid_digest::make((std::uint64_t{1} << 32) - 1, 8));
    EXPECT_EQ(squid_digest::make(0)->capacity(), 1u);
    EXPECT_FALSE(squid_digest::from_bytes(captured(), read_limits::exactly(51)));
    EXPECT_TRUE(squid_digest::from_bytes(captured(), read_limits::exactly(52)));
}

// Every byte that means something, set to what it must not be; the offset says where.
TEST(squid_digest, refuses_what_squid_would_not_send) {
    const auto good = captured();
    const auto refused_at = [&](std::size_t offset, std::initializer_list<int> values) {
        auto bad = good;
        for (const int v : values) bad[offset++] = static_cast<std::byte>(v);
        const auto read = squid_digest::from_bytes(bad);
        EXPECT_FALSE(read) << "byte " << offset;
        return read ? ~std::uint64_t{0} : read.error().offset.value_or(~std::uint64_t{0});
    };
    EXPECT_EQ(refused_at(0, {0, 2}), 0u);                 // of a version before the first
    EXPECT_EQ(refused_at(2, {0, 6}), 2u);                 // for a version after ours
    EXPECT_EQ(refused_at(4, {0, 0, 0, 0}), 4u);           // capacity
    EXPECT_EQ(refused_at(4, {255, 255, 255, 255}), 16u);  // the mask is not that large
    EXPECT_EQ(refused_at(16, {255, 255, 255, 255}), 16u);
    EXPECT_EQ(refused_at(20, {0}), 20u);
    EXPECT_EQ(refused_at(21, {5}), 21u);
    for (std::size_t size = 0; size < good.size(); ++size)
        EXPECT_FALSE(squid_digest::from_bytes(byte_view(good).first(size))) << size;
    auto longer = good;
    longer.push_back({});
    EXPECT_FALSE(squid_digest::from_bytes(longer));
    auto full = good;
    std::fill(full.begin() + squid_digest::header_size, full.end(), std::byte{255});
    EXPECT_FALSE(squid_digest::from_bytes(full));
}

}  // namespace
}  // namespace posy
