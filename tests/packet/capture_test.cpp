#include "posy/packet/capture.hpp"

#include <gtest/gtest.h>

#include <string>

#include "frames.hpp"
#include "statistics.hpp"

namespace posy::packets {
namespace {

// Numbers in one of the two byte orders.
struct writer {
    bool big = false;

    bytes number(std::uint64_t value, std::size_t size) const {
        bytes all(size);
        for (std::size_t i = 0; i < size; ++i)
            all[big ? size - 1 - i : i] = static_cast<std::byte>(value >> 8 * i);
        return all;
    }
    bytes pcap(std::uint32_t magic = 0xa1b2c3d4, unsigned link = 101, unsigned version = 2) const {
        return number(magic, 4) + number(version, 2) + number(4, 2) + zeros(8) + number(65535, 4) +
               number(link, 4);
    }
    bytes record(std::uint32_t seconds, std::uint32_t fraction, const bytes& frame,
                 std::size_t length) const {
        return number(seconds, 4) + number(fraction, 4) + number(frame.size(), 4) + number(length, 4) + frame;
    }
    bytes block(std::uint32_t kind, bytes body) const {
        body.resize((body.size() + 3) / 4 * 4);
        const bytes length = number(body.size() + 12, 4);
        return number(kind, 4) + length + body + length;
    }
    bytes section(unsigned version = 1) const {
        return block(0x0a0d0d0a,
                     number(0x1a2b3c4d, 4) + number(version, 2) + zeros(2) + number(UINT64_MAX, 8));
    }
    bytes interface(unsigned link, std::uint32_t snap = 0, const bytes& options = {}) const {
        return block(1, number(link, 2) + zeros(2) + number(snap, 4) + options);
    }
    bytes enhanced(std::uint32_t which, std::uint64_t time, const bytes& frame, std::size_t length) const {
        return block(6, number(which, 4) + number(time >> 32, 4) + number(time & 0xffffffff, 4) +
                            number(frame.size(), 4) + number(length, 4) + frame);
    }
};

const bytes frame = ipv4({}, udp(1000, 53, zeros(11)));  // a length that has to be padded

struct reading {
    std::vector<captured> packets;
    std::string wrong;  // nothing: it ended as it should
};

reading read(byte_view file) {
    reading r;
    capture_reader in;
    for (captured c; in.next(file, c) == capture_reader::step::packet;) r.packets.push_back(c);
    if (const auto wrong = in.end(file.size())) r.wrong = wrong->text();
    return r;
}

bool same(byte_view a, const bytes& b) { return std::ranges::equal(a, b); }

TEST(capture, pcap_in_both_orders_and_resolutions) {
    for (const bool big : {false, true}) {
        for (const bool nano : {false, true}) {
            const writer w{big};
            const bytes file = w.pcap(nano ? 0xa1b23c4d : 0xa1b2c3d4) + w.record(7, 123'456, frame, 1500) +
                               w.record(8, 0, {}, 0);
            const auto [packets, wrong] = read(file);
            EXPECT_EQ(wrong, "");
            ASSERT_EQ(packets.size(), 2U);
            EXPECT_TRUE(same(packets[0].frame, frame));
            EXPECT_EQ(packets[0].original_length, 1500U);
            EXPECT_EQ(packets[0].time, 7'000'000'000U + 123'456U * (nano ? 1 : 1000));
            EXPECT_EQ(packets[0].link, link_type::raw_ip);
        }
    }
}

TEST(capture, pcapng_in_both_orders) {
    for (const bool big : {false, true}) {
        const writer w{big};
        const bytes nano = w.number(9, 2) + w.number(1, 2) + of({9, 0, 0, 0}) + w.number(14, 2) +
                           w.number(8, 2) + w.number(100, 8) + zeros(4);
        const bytes file = w.section() + w.interface(1) + w.interface(101, 20, nano) + w.block(4, zeros(9)) +
                           w.enhanced(1, 5'000'000'001, frame, 1500) + w.enhanced(0, 5'000'001, frame, 99) +
                           w.section() + w.interface(113, 16) + w.block(3, w.number(999, 4) + zeros(16)) +
                           w.block(2, w.number(0, 2) + w.number(3, 2) + zeros(8) + w.number(2, 4) +
                                          w.number(60, 4) + of({1, 2}));
        const auto [packets, wrong] = read(file);
        EXPECT_EQ(wrong, "");
        ASSERT_EQ(packets.size(), 4U);
        EXPECT_EQ(packets[0].time, 105'000'000'001U);
        EXPECT_EQ(packets[0].link, link_type::raw_ip);
        EXPECT_TRUE(same(packets[0].frame, frame));
        EXPECT_EQ(packets[1].time, 5'000'001'000U);
        EXPECT_EQ(packets[1].link, link_type::ethernet);
        EXPECT_EQ(packets[2].link, link_type::linux_cooked);
        EXPECT_EQ(packets[2].original_length, 999U);
        EXPECT_EQ(packets[2].frame.size(), 16U);
        EXPECT_TRUE(same(packets[3].frame, of({1, 2})));
    }
}

// Cut anywhere, the packets before the cut are there, and the rest is an error unless the cut is between
// packets.
TEST(capture, a_file_that_is_cut_off) {
    const writer w;
    for (const bytes& file :
         {w.pcap() + w.record(1, 0, frame, 39) + w.record(2, 0, frame, 39),
          w.section() + w.interface(101) + w.enhanced(0, 1, frame, 39) + w.enhanced(0, 2, frame, 39)}) {
        at_least checked(100);
        std::size_t ends = 0, most = 0;
        for (std::size_t cut = 0; cut < file.size(); ++cut, ++checked) {
            const auto [packets, wrong] = read(byte_view(file).first(cut));
            EXPECT_GE(packets.size(), most);
            most = packets.size();
            ends += wrong.empty();
        }
        EXPECT_EQ(most, 1U);
        EXPECT_EQ(read(file).packets.size(), 2U);
        EXPECT_EQ(ends,
                  file[0] == std::byte{0x0a} ? 3U : 2U);  // behind each block that does not end the file
    }
}

TEST(capture, damage_is_named_with_its_place) {
    const writer w;
    const bytes head = w.pcap(), begin = w.section() + w.interface(101);
    const std::string at = "at byte " + std::to_string(begin.size());
    const struct {
        bytes file;
        std::string wrong;
    } cases[] = {
        {{}, "at byte 0: an empty file"},
        {of({1}), "at byte 0: not a capture"},
        {zeros(100), "at byte 0: not a capture"},
        {w.pcap(0xa1b2c3d4, 1, 3), "at byte 4: pcap version 3"},
        {head + w.number(0, 8) + w.number(262'145, 4) + zeros(10), "at byte 32: a packet of 262145 bytes"},
        {w.section(2), "at byte 12: pcapng version 2"},
        {of({0x0a, 0x0d, 0x0d, 0x0a}) + zeros(30), "at byte 8: a section that does not tell its byte order"},
        {begin + w.number(6, 4) + w.number(13, 4) + zeros(20), "a block of 13 bytes"},
        {begin + w.number(6, 4) + w.number(1 << 30, 4) + zeros(20), "a block of 1073741824 bytes"},
        {begin + w.number(6, 4) + w.number(32, 4) + zeros(24), "a block whose two lengths differ"},
        {begin + w.enhanced(1, 0, frame, 39), "a packet of interface 1, which was not described"},
        {begin + w.block(6, zeros(12) + w.number(1000, 4) + zeros(8)), "a packet of 1000 bytes, more than"},
        {begin + w.block(6, zeros(8)), at + ": a packet block that is too short"},
        {begin + w.block(1, zeros(4)), at + ": a description of an interface"},
        {w.section() + w.block(3, zeros(8)), "a simple packet block without an interface"},
        {begin + w.interface(1, 0, w.number(9, 2) + w.number(1, 2) + of({0xff, 0, 0, 0})),
         "finer than 64 bits"},
        {begin + w.interface(1, 0, w.number(2, 2) + w.number(99, 2)), "an option that ends beyond its block"},
    };
    for (const auto& each : cases)
        EXPECT_NE(read(each.file).wrong.find(each.wrong), std::string::npos) << read(each.file).wrong;
}

TEST(capture, nothing_is_read_behind_damage) {
    const writer w;
    const bytes file = w.pcap() + w.record(0, 0, frame, 39) + w.number(0, 8) + w.number(1 << 30, 4) +
                       zeros(4) + w.record(0, 0, frame, 39);
    capture_reader in;
    captured c;
    byte_view input(file);
    EXPECT_EQ(in.next(input, c), capture_reader::step::packet);
    EXPECT_EQ(in.next(input, c), capture_reader::step::damaged);
    EXPECT_EQ(in.next(input, c), capture_reader::step::damaged);
    EXPECT_EQ(in.offset(), 24 + 16 + frame.size());
}

}  // namespace
}  // namespace posy::packets
