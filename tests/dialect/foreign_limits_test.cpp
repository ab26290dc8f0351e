// What filters of other programs must not do: be made with a size that is none, take more memory than they
// are worth, and say a rate that cannot be.
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <numbers>
#include <random>

#include "needed_options.hpp"
#include "posy/base/names.hpp"
#include "posy/dialect/foreign_filter.hpp"
#include "statistics.hpp"
#include "support.hpp"

namespace posy {
namespace {

constexpr std::uint64_t most_items = std::numeric_limits<std::uint64_t>::max();

// As many bits as the rate takes, at least. For rates from 0.393 on Cassandra's have one per item and a rate
// of 0.75.
void expect_sane(const foreign_filter& filter, std::uint64_t items, double rate) {
    const auto facts = filter.about();
    EXPECT_GE(facts.bits, 1u);
    EXPECT_GE(facts.hashes, 1u);
    EXPECT_LE(facts.hashes, 255u);
    EXPECT_EQ(facts.ones, 0u);
    // Next to 1 a root of the rate is 1, and Hadoop and Parquet take no bits for it.
    if (filter.speaks() == dialect::bip158 || rate > 1 - 1e-9) return;
    const double share = filter.speaks() == dialect::cassandra && rate >= 0.393 ? 0.5 : 0.999;
    const double least = static_cast<double>(items) * -std::log2(rate) * std::numbers::log2e;
    EXPECT_GE(static_cast<double>(facts.bits) + 1, share * least);
}

// Numbers of items and rates at random, over all that there are, and the ends.
TEST(foreign_limits, a_size_is_an_error_or_sane) {
    constexpr std::uint64_t most_bytes = std::uint64_t{1} << 20;
    constexpr std::array edges{1 - 0x1p-53, 0.999, 0.5, 0.1, 1e-9, 1e-75, 1e-78, 1e-300, 5e-324};
    std::mt19937_64 random(7);
    at_least made(300, "filters made"), refused(300, "filters refused");
    for (const dialect which : members<dialect>) {
        SCOPED_TRACE(name_of(which));
        for (int i = 0; i < 200; ++i) {
            const std::uint64_t items =
                i < 18 ? (i % 2 ? most_items : 1) : std::max<std::uint64_t>(random() >> random() % 64, 1);
            const double rate = i < 18 || i % 4 == 0
                                    ? edges[static_cast<std::size_t>(i) / (i < 18 ? 2 : 1) % edges.size()]
                                    : std::exp2(-static_cast<double>(random() % 100'000 + 1) / 2000);
            SCOPED_TRACE(std::to_string(items) + " items at " + std::to_string(std::log2(rate)));
            const auto bytes = foreign_filter::memory_for(which, items, rate, needed_options(which));
            if (!bytes) {
                EXPECT_FALSE(foreign_filter::make(which, items, rate, needed_options(which)));
                ++refused;
                continue;
            }
            if (*bytes > most_bytes) continue;
            const auto filter = foreign_filter::make(which, items, rate, needed_options(which));
            ASSERT_TRUE(filter) << filter.error().text();
            expect_sane(**filter, items, rate);
            // A digest of Squid's for a few items may be full before.
            const bool first = (*filter)->insert(as_byte_view("a")).ok();
            const bool second = (*filter)->insert(as_byte_view("key")).ok();
            EXPECT_TRUE(first);
            EXPECT_TRUE(second || which == dialect::squid);
            EXPECT_TRUE((*filter)->may_contain(as_byte_view("a")));
            EXPECT_TRUE(!second || (*filter)->may_contain(as_byte_view("key")));
            const auto written = *(*filter)->to_bytes();
            EXPECT_TRUE(foreign_filter::from_bytes(written, which, needed_options(which)));
            ++made;
        }
    }
}

TEST(foreign_limits, names_the_limit_of_the_program) {
    const auto said = [](dialect which, std::uint64_t items, double rate) {
        const auto made = foreign_filter::make(which, items, rate, needed_options(which));
        EXPECT_FALSE(made) << name_of(which);
        return made ? std::string() : made.error().message;
    };
    for (const std::uint64_t items : {std::uint64_t{1'000'000'000'000'000'000}, most_items}) {
        EXPECT_NE(said(dialect::leveldb, items, 1e-9).find("2^32 bits"), std::string::npos);
        for (const dialect which :
             {dialect::spark_v1, dialect::spark_v2, dialect::guava_32, dialect::guava_64})
            EXPECT_NE(said(which, items, 0.01).find("2^31 words"), std::string::npos);
        EXPECT_NE(said(dialect::redis, items, 0.01).find("2^36 bits"), std::string::npos);
        EXPECT_NE(said(dialect::squid, items, 0.01).find("2^31 bytes"), std::string::npos);
    }
    EXPECT_NE(said(dialect::dcso, most_items, 0.01).find("2^63 bits"), std::string::npos);
    for (const dialect which : {dialect::spark_v1, dialect::guava_64, dialect::dcso, dialect::redis})
        EXPECT_NE(said(which, 10, 1e-80).find("255 hashes"), std::string::npos);
    // The last size of LevelDB's that is read again, and the first that is not.
    EXPECT_TRUE(foreign_filter::memory_for(dialect::leveldb, (std::uint64_t{1} << 32) - 8, 0.9));
    EXPECT_NE(said(dialect::leveldb, (std::uint64_t{1} << 32) - 7, 0.9).find("2^32 bits"), std::string::npos);
}

// More than any machine has; nothing is allocated.
TEST(foreign_limits, says_how_much_memory_is_not_there) {
    const auto made = foreign_filter::make(dialect::dcso, std::uint64_t{1} << 57, 0.01);
    ASSERT_FALSE(made);
    EXPECT_EQ(made.error().kind, error_kind::too_large);
    const auto bytes = foreign_filter::memory_for(dialect::dcso, std::uint64_t{1} << 57, 0.01);
    EXPECT_NE(made.error().message.find(std::to_string(*bytes) + " bytes"), std::string::npos);
}

template <class Unsigned>
void add_number(std::vector<std::byte>& to, Unsigned value) {
    for (std::size_t i = 0; i < sizeof value; ++i) to.push_back(static_cast<std::byte>(value >> 8 * i));
}

struct forged_link {
    std::uint64_t planned = 10, bytes = 64;
    double rate = 0.005, bits_per_item = 11.03;
    std::uint32_t growth = 2, options = 5;
    std::uint8_t log2_bits = 0;
    std::byte fill{0};
};

std::vector<std::byte> chain_of(const forged_link& link) {
    std::vector<std::byte> all;
    add_number(all, link.planned);
    for (const std::uint32_t each : {std::uint32_t{1}, link.options, link.growth}) add_number(all, each);
    for (const std::uint64_t each : {link.bytes, 8 * link.bytes, link.planned}) add_number(all, each);
    add_number(all, std::bit_cast<std::uint64_t>(link.rate));
    add_number(all, std::bit_cast<std::uint64_t>(link.bits_per_item));
    add_number(all, std::uint32_t{8});
    add_number(all, link.planned);
    add_number(all, link.log2_bits);
    all.resize(all.size() + link.bytes, link.fill);
    return all;
}

// The number of items is held against the rate, whatever the file says of the bits per item: the next link is
// sized by it.
TEST(foreign_limits, a_chain_grows_in_proportion_to_its_bytes) {
    EXPECT_FALSE(foreign_filter::from_bytes(
        chain_of({.planned = 150'000, .bits_per_item = 1e-8, .growth = 32768}), dialect::redis));
    EXPECT_FALSE(foreign_filter::from_bytes(
        chain_of({.planned = std::uint64_t{1} << 63, .bits_per_item = 1e-300}), dialect::redis));
    // As many items as 8 KiB are for, times 32,768: 256 MiB and more.
    const auto chain = *foreign_filter::from_bytes(
        chain_of({.planned = 5900, .bytes = 8192, .growth = 32768}), dialect::redis);
    const auto bytes = *chain->to_bytes();
    const auto grown = chain->insert(as_byte_view("x"));
    ASSERT_FALSE(grown);
    EXPECT_EQ(grown.error().kind, error_kind::too_large);
    EXPECT_NE(grown.error().message.find("256 times"), std::string::npos) << grown.error().message;
    EXPECT_EQ(*chain->to_bytes(), bytes);
    // A rate next to 1 lets the file plan for any number of items; of them the next link would have too many.
    const auto vague = *foreign_filter::from_bytes(
        chain_of(
            {.planned = std::uint64_t{1} << 60, .rate = 1 - 0x1p-53, .bits_per_item = 1e-300, .growth = 32}),
        dialect::redis);
    EXPECT_FALSE(vague->insert(as_byte_view("x")));
    EXPECT_LE(vague->about().planned->rate, 1);
    // What one makes for oneself grows as it always did.
    const auto own = *foreign_filter::from_bytes(chain_of({.growth = 32768}), dialect::redis);
    ASSERT_TRUE(own->insert(as_byte_view("x")));
    EXPECT_TRUE(own->may_contain(as_byte_view("x")));
}

std::vector<std::byte> hadoop_of(unsigned bits, std::vector<unsigned> array) {
    std::vector<std::byte> all(4, std::byte{255});
    for (const unsigned each : {0U, 0U, 0U, 5U, 1U, 0U, 0U, 0U, bits})
        all.push_back(static_cast<std::byte>(each));
    for (const unsigned each : array) all.push_back(static_cast<std::byte>(each));
    return all;
}

// What lies behind the last bit is no place of a key: Hadoop does not read it, nor do the others ask it. It
// is written as it came.
TEST(foreign_limits, padding_counts_for_nothing) {
    std::vector<std::byte> dcso;
    for (const std::uint64_t each : {std::uint64_t{1}, std::uint64_t{10}, std::bit_cast<std::uint64_t>(0.01),
                                     std::uint64_t{7}, std::uint64_t{1}, std::uint64_t{0}})
        add_number(dcso, each);
    dcso.resize(dcso.size() + 8, std::byte{255});
    const auto redis = chain_of({.log2_bits = 1, .fill = std::byte{255}});
    for (const auto& [bytes, ones] :
         {std::pair(hadoop_of(1, {255}), 1), std::pair(hadoop_of(9, {0, 254}), 0),
          std::pair(hadoop_of(9, {1, 255}), 2), std::pair(dcso, 1), std::pair(redis, 2)}) {
        const auto read = foreign_filter::from_bytes(bytes);
        ASSERT_TRUE(read) << read.error().text();
        const auto facts = (*read)->about();
        EXPECT_EQ(facts.ones, static_cast<std::uint64_t>(ones));
        EXPECT_LE(facts.false_positive_rate, 1);
        EXPECT_EQ(*(*read)->to_bytes(), bytes);
    }
}

// At 65 % of its bits Squid, and Posy, refuse a digest. So one is not made fuller.
TEST(foreign_limits, a_digest_of_squid_is_never_too_full_to_be_read) {
    const auto one = *foreign_filter::make(dialect::squid, 10, 0.01);
    const auto other = *foreign_filter::make(dialect::squid, 10, 0.01);
    const auto fill = [](foreign_filter& digest, const std::string& what) {
        int taken = 0;
        result<void> last;
        for (; taken < 1000 && (last = digest.insert(as_byte_view(what + std::to_string(taken)))); ++taken) {
        }
        EXPECT_NE(last.error().message.find("more than 65 %"), std::string::npos);
        EXPECT_FALSE(digest.may_contain(as_byte_view(what + std::to_string(taken))));
        EXPECT_TRUE(foreign_filter::from_bytes(*digest.to_bytes(), dialect::squid));
        return taken;
    };
    EXPECT_GE(fill(*one, "a"), 20);
    EXPECT_GE(fill(*other, "b"), 20);
    const auto bytes = *one->to_bytes();
    EXPECT_FALSE(one->unite(*other));
    EXPECT_EQ(*one->to_bytes(), bytes);
    // What is there already is always taken.
    EXPECT_TRUE(one->insert(as_byte_view("a0")));
}

}  // namespace
}  // namespace posy
