#include "posy/packet/flow_records.hpp"

#include <gtest/gtest.h>

namespace posy::packets {
namespace {

std::string text(const result<flow_record>& r) {
    if (!r) return r.error().message;
    return address_text(r->key, flow_key::source) + ":" + std::to_string(r->key.pair(flow_key::source_port)) +
           " > " + address_text(r->key, flow_key::destination) + ":" +
           std::to_string(r->key.pair(flow_key::destination_port)) + " " +
           protocol_text(r->key.byte(flow_key::protocol)) + " " + std::to_string(r->bytes) + "/" +
           std::to_string(r->packets) + " at " + std::to_string(r->time / 1'000'000);
}

std::string read(std::string_view header, std::string_view row) {
    const auto table = flow_table::of_header(header);
    return table ? text(table->row(row)) : table.error().message;
}

TEST(flow_records, tables_of_three_exporters) {
    // nfdump -o csv
    EXPECT_EQ(
        read("ts,te,td,sa,da,sp,dp,pr,flg,ipkt,ibyt",
             "2023-11-14 22:13:20,2023-11-14 22:13:21,1.0,192.0.2.1,192.0.2.2,40000,443,TCP,.AP.SF,12,3456"),
        "192.0.2.1:40000 > 192.0.2.2:443 tcp 3456/12 at 1700000000000");
    // SiLK's rwcut
    EXPECT_EQ(read("            sIP|    dIP|sPort|dPort|pro|   packets|  bytes|  sTime|",
                   "   2001:db8::1|2001:db8::2| 1|    53| 17|         1|     80|2023-11-14T22:13:20.250|"),
              "2001:db8::1:1 > 2001:db8::2:53 udp 80/1 at 1700000000250");
    // IPFIX's own names, with a column for each version
    const char* ipfix =
        "flowStartMilliseconds;sourceIPv4Address;sourceIPv6Address;destinationIPv4Address;"
        "destinationIPv6Address;"
        "protocolIdentifier;octetDeltaCount";
    EXPECT_EQ(read(ipfix, "1700000000123;;\"2001:db8::1\";;2001:db8::2;58;7"),
              "2001:db8::1:0 > 2001:db8::2:0 icmpv6 7/0 at 1700000000123");
    EXPECT_EQ(read(ipfix, "1;192.0.2.1;;192.0.2.2;;6;7\r"), "192.0.2.1:0 > 192.0.2.2:0 tcp 7/0 at 1");
}

TEST(flow_records, icmp_of_nfdump_and_seconds) {
    EXPECT_EQ(read("sa,dp,pr,bytes,first", "192.0.2.1,3.1,ICMP,84,12.5"),
              "192.0.2.1:0 > 0.0.0.0:769 icmp 84/0 at 12500");
}

TEST(flow_records, rows_that_do_not_fit) {
    const char* header = "ts,sa,da,sp,pr,bytes";
    EXPECT_EQ(read(header, "1,192.0.2.1,192.0.2.2,1,6,"), "a record without a value for the bytes");
    EXPECT_EQ(read(header, "1,192.0.2.1"), "a record without a value for the bytes");
    EXPECT_EQ(read(header, ""), "a record without an address");
    EXPECT_EQ(read(header, "1,,,,,5"), "a record without an address");
    EXPECT_EQ(read(header, "1,host,,,,5"), "'host' is no address of the record's version");
    EXPECT_EQ(read(header, "1,192.0.2.1,2001:db8::1,,,5"),
              "'2001:db8::1' is no address of the record's version");
    EXPECT_EQ(read(header, "1,192.0.2.1,192.0.2.2,65536,,5"), "'65536' is no port");
    EXPECT_EQ(read(header, "1,192.0.2.1,192.0.2.2,1,xyz,5"), "'xyz' is no protocol");
    EXPECT_EQ(read(header, "1,192.0.2.1,192.0.2.2,1,6,-5"), "'-5' is no count");
    EXPECT_EQ(read(header, "1,192.0.2.1,192.0.2.2,1,6,1e300"), "'1e300' is no count");
    for (const char* time : {"yesterday", "2023-13-01 00:00:00", "2023-01-01 24:00:00", "1e300", "-1", "nan"})
        EXPECT_EQ(read(header, std::string(time) + ",192.0.2.1,192.0.2.2,1,6,5"),
                  "'" + std::string(time) + "' is no time");
}

TEST(flow_records, what_a_question_needs) {
    const auto ask = [](std::string_view header, std::string_view by, bool packets, std::string_view row) {
        auto table = flow_table::of_header(header);
        const auto has_all = table->require(*flow_parts::parse(by), packets);
        return has_all ? text(table->row(row)) : has_all.error().message;
    };
    const char* header = "sa,sp,bytes";
    EXPECT_EQ(ask(header, "src/24,sport", false, "192.0.2.1,7,5"), "192.0.2.1:7 > 0.0.0.0:0 0 5/0 at 0");
    EXPECT_EQ(ask(header, "dst", false, ""),
              "the first line names no column for the destination address, e.g. dstaddr, da or "
              "destinationIPv4Address");
    EXPECT_NE(ask(header, "src,dport", false, "").find("no column for the destination port"),
              std::string::npos);
    EXPECT_NE(ask(header, "proto", false, "").find("no column for the protocol"), std::string::npos);
    EXPECT_NE(ask(header, "src", true, "").find("no column for the packets"), std::string::npos);
    // A value may be missing where nobody asks for it, and ports where the protocol has none.
    const char* both = "sa,da,dp,pr,bytes";
    EXPECT_EQ(ask(both, "src", false, "192.0.2.1,,,,5"), "192.0.2.1:0 > 0.0.0.0:0 0 5/0 at 0");
    EXPECT_EQ(ask(both, "dst", false, "192.0.2.1,,,,5"),
              "a record without a value for the destination address");
    EXPECT_EQ(ask(both, "src,proto", false, "192.0.2.1,,,,5"), "a record without a value for the protocol");
    EXPECT_EQ(ask(both, "dport,proto", false, "192.0.2.1,,,1,5"), "192.0.2.1:0 > 0.0.0.0:0 icmp 5/0 at 0");
}

TEST(flow_records, a_first_line_without_the_columns) {
    EXPECT_NE(read("a,b,c", "").find("no column for a source"), std::string::npos);
    EXPECT_NE(read("sa,da", "").find("no column for bytes"), std::string::npos);
    EXPECT_NE(read("", "").find("no column"), std::string::npos);
}

}  // namespace
}  // namespace posy::packets
