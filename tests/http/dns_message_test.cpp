#include "http/dns_message.hpp"

#include <ares.h>
#include <gtest/gtest.h>

namespace posy::http {
namespace {

using namespace std::chrono_literals;
using bytes = std::vector<unsigned char>;

// A message about "a.example", put together by hand.
struct message {
    bytes all{0, 1,   0x81, 0x80, 0,   1,   0,   0,   0, 0, 0, 0, 1, 'a',
              7, 'e', 'x',  'a',  'm', 'p', 'l', 'e', 0, 0, 1, 0, 1};

    static bytes number(std::uint32_t value, unsigned size) {
        bytes out;
        while (size-- > 0) out.push_back(static_cast<unsigned char>(value >> (8 * size)));
        return out;
    }
    message& append(const bytes& more) {
        all.insert(all.end(), more.begin(), more.end());
        return *this;
    }
    message& record_of(unsigned section, unsigned type, std::uint32_t ttl, const bytes& data) {
        ++all[5 + 2 * section];
        append({0xc0, 12}).append(number(type, 2)).append(number(1, 2)).append(number(ttl, 4));
        return append(number(static_cast<std::uint32_t>(data.size()), 2)).append(data);
    }
    message& soa(std::uint32_t ttl, std::uint32_t minimum) {
        bytes data{0xc0, 12, 0xc0, 14};
        for (const std::uint32_t value : {1U, 2U, 3U, 4U, minimum}) {
            const auto more = number(value, 4);
            data.insert(data.end(), more.begin(), more.end());
        }
        return record_of(2, 6, ttl, data);
    }
};

const bytes address{192, 0, 2, 7}, other{192, 0, 2, 8};

TEST(DnsMessage, AddressesWithTheShortestLifetime) {
    message m;
    m.record_of(1, 1, 300, address).record_of(1, 1, 20, other);
    const auto said = read_answer(record::v4, ARES_SUCCESS, m.all);
    ASSERT_EQ(said.addresses.size(), 2U);
    EXPECT_EQ(said.addresses[0].to_string(), "192.0.2.7");
    EXPECT_EQ(said.lifetime, 20s);
    EXPECT_TRUE(said.answered);
}

TEST(DnsMessage, NoMoreAddressesThanALimit) {
    message m;
    for (int i = 0; i < 100; ++i) m.record_of(1, 1, 300, address);
    EXPECT_EQ(read_answer(record::v4, ARES_SUCCESS, m.all).addresses.size(), 16U);
}

TEST(DnsMessage, NegativeLifetimeIsTheLesserOfTwo) {
    EXPECT_EQ(negative_lifetime(message().soa(300, 20).all), 20s);
    EXPECT_EQ(negative_lifetime(message().soa(30, 200).all), 30s);
    EXPECT_EQ(negative_lifetime(message().record_of(2, 2, 9, {0xc0, 12}).soa(30, 200).all), 30s);
    EXPECT_EQ(negative_lifetime(message().all), std::nullopt);
    const auto none = message().soa(40, 200);
    for (const int status : {ARES_ENOTFOUND, ARES_ENODATA, ARES_SUCCESS}) {
        const auto said = read_answer(record::v6, status, none.all);
        EXPECT_TRUE(said.answered && said.addresses.empty());
        EXPECT_EQ(said.lifetime, 40s);
    }
    EXPECT_FALSE(read_answer(record::v4, ARES_ETIMEOUT, {}).answered);
    EXPECT_FALSE(read_answer(record::v4, ARES_ESERVFAIL, none.all).answered);
}

// Every end, and every value of every byte: no answer, or a part of one; never beyond the bytes.
TEST(DnsMessage, BrokenMessages) {
    message whole;
    whole.record_of(1, 1, 300, address).soa(40, 200);
    for (std::size_t length = 0; length < whole.all.size(); ++length) {
        const bytes cut(whole.all.begin(), whole.all.begin() + static_cast<std::ptrdiff_t>(length));
        EXPECT_EQ(negative_lifetime(cut), std::nullopt) << length;
        for (const auto kind : {record::v4, record::v6}) read_answer(kind, ARES_SUCCESS, cut);
    }
    for (std::size_t at = 0; at < whole.all.size(); ++at) {
        for (int value = 0; value < 256; ++value) {
            auto changed = whole.all;
            changed[at] = static_cast<unsigned char>(value);
            negative_lifetime(changed);
            for (const auto kind : {record::v4, record::v6})
                EXPECT_LE(read_answer(kind, ARES_SUCCESS, changed).addresses.size(), 16U);
        }
    }
}

}  // namespace
}  // namespace posy::http
