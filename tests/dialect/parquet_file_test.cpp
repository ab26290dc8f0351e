// Columns of Parquet files with several row groups and of all types: what they are asked, and what a copy
// says.
#include <array>
#include <bit>

#include "dialect/thrift.hpp"
#include "posy/dialect/foreign_filter.hpp"
#include "posy/key.hpp"
#include "support.hpp"

namespace posy {
namespace {

using type = foreign::thrift_reader::type;
using bytes = std::vector<std::byte>;

// The numbers of Parquet's types.
enum parquet_type : int { int32 = 1, int64 = 2, real32 = 4, real64 = 5, byte_array = 6, fixed_array = 7 };

template <class Number>
bytes plain(Number value) {
    bytes all(sizeof value);
    std::memcpy(all.data(), &value, sizeof value);
    return all;
}

bytes text(const std::string& value) {
    const auto view = as_byte_view(value);
    return {view.begin(), view.end()};
}

// As much of a file as there is to read of a column "c" whose row groups have these values.
bytes file_of(const std::vector<std::vector<bytes>>& groups, parquet_type of) {
    bytes file = text("PAR1");
    foreign::thrift_writer footer;
    footer.field(4, type::list);
    footer.list_of(groups.size(), type::structure);
    for (const auto& values : groups) {
        const auto filter = *foreign_filter::make(dialect::parquet, 1000, 0.001);
        for (const auto& value : values) EXPECT_TRUE(filter->insert(value));
        footer.field(1, type::list);
        footer.list_of(1, type::structure);
        footer.field(3, type::structure);
        footer.field(1, type::i32);
        footer.integer(of);
        footer.field(2, type::list);
        footer.list_of(1, type::binary);
        footer.text("c");
        footer.field(11, type::i64);
        footer.integer(static_cast<std::int64_t>(file.size()));
        for (int i = 0; i < 3; ++i) footer.end_of_structure();
        foreign::append(file, *filter->to_bytes());
    }
    footer.end_of_structure();
    foreign::append(file, footer.bytes());
    foreign::append_little(file, static_cast<std::uint32_t>(footer.bytes().size()));
    foreign::append(file, text("PAR1"));
    return file;
}

std::unique_ptr<foreign_filter> column_of(const std::vector<std::vector<bytes>>& groups, parquet_type of) {
    return *foreign_filter::of_parquet_column(file_of(groups, of), "c");
}

// Values 0 to 999 in this many groups, as they stand in a column of that type.
std::unique_ptr<foreign_filter> thousand(parquet_type of, std::size_t groups) {
    std::vector<std::vector<bytes>> values(groups);
    for (int i = 0; i < 1000; ++i) {
        auto& group = values[static_cast<std::size_t>(i) % groups];
        if (of == int32) group.push_back(plain(std::int32_t{i}));
        if (of == int64) group.push_back(plain(std::int64_t{i}));
        if (of == real32) group.push_back(plain(static_cast<float>(i)));
        if (of == real64) group.push_back(plain(static_cast<double>(i)));
        if (of == byte_array || of == fixed_array) group.push_back(text(std::to_string(i)));
    }
    return column_of(values, of);
}

bool has(const foreign_filter& filter, int value) {
    if (filter.check_kind(true)) return filter.may_contain_integer(static_cast<std::uint64_t>(value));
    return filter.may_contain(as_byte_view(std::to_string(value)));
}

constexpr std::array all_types{int32, int64, real32, real64, byte_array, fixed_array};

TEST(parquet_file, a_copy_of_a_column_has_its_keys) {
    for (const auto of : all_types)
        for (const std::size_t groups : {1U, 3U, 20U}) {
            SCOPED_TRACE(std::to_string(of) + " " + std::to_string(groups));
            const auto column = thousand(of, groups);
            const auto copy = *foreign_filter::of_image(column->to_image());
            EXPECT_EQ(copy->to_image(), column->to_image());
            EXPECT_EQ(copy->about().hash, column->about().hash);
            int others = 0;
            for (int i = 0; i < 1000; ++i) {
                EXPECT_TRUE(has(*column, i)) << i;
                EXPECT_TRUE(has(*copy, i)) << i;
            }
            for (int i = 1000; i < 3000; ++i) {
                EXPECT_EQ(has(*column, i), has(*copy, i)) << i;
                others += has(*copy, i);
            }
            EXPECT_LT(others, 200);  // twenty groups have a rate of 2 % at most
        }
}

// A filter is written alone only if, read back, it says yes to all keys of the column.
TEST(parquet_file, writes_no_filter_that_says_no_to_its_keys) {
    int written = 0;
    for (const auto of : all_types)
        for (const std::size_t groups : {1U, 3U}) {
            SCOPED_TRACE(std::to_string(of) + " " + std::to_string(groups));
            const auto column = thousand(of, groups);
            const auto alone = column->to_bytes();
            if (groups == 1 && (of == int64 || of == byte_array || of == fixed_array)) {
                ASSERT_TRUE(alone);
                const auto read = *foreign_filter::from_bytes(*alone);
                for (int i = 0; i < 1000; ++i)
                    EXPECT_TRUE(of == int64 ? read->may_contain_integer(static_cast<std::uint64_t>(i))
                                            : read->may_contain(as_byte_view(std::to_string(i))));
                ++written;
                continue;
            }
            ASSERT_FALSE(alone);
            EXPECT_EQ(alone.error().kind, error_kind::unsupported);
            EXPECT_NE(alone.error().message.find("the column c"), std::string::npos);
            EXPECT_NE(alone.error().message.find("keep the Parquet file"), std::string::npos);
            EXPECT_FALSE(column->to_bytes(dialect::parquet));
        }
    EXPECT_EQ(written, 3);
}

TEST(parquet_file, a_key_of_another_type_is_refused) {
    for (const auto of : all_types) {
        const auto column = thousand(of, 1);
        const bool integers = of == int32 || of == int64, texts = of == byte_array || of == fixed_array;
        EXPECT_EQ(column->check_kind(true).ok(), !texts) << of;
        EXPECT_EQ(column->check_kind(false).ok(), !integers) << of;
    }
    EXPECT_EQ(thousand(int64, 1)->check_kind(false).error().message,
              "the column c has integers (INT64), and the key is text or bytes");
    EXPECT_EQ(thousand(byte_array, 1)->check_kind(true).error().message,
              "the column c has no integers (BYTE_ARRAY), and the key is one");
    EXPECT_TRUE((*foreign_filter::make(dialect::parquet, 10, 0.01))->check_kind(true));
}

// The bits of an integer do not tell whether it has a sign.
TEST(parquet_file, an_integer_is_the_number_that_it_is) {
    const auto column = column_of({{plain(-7.0), plain(18446744073709551615.0), plain(1e15)}}, real64);
    EXPECT_TRUE(column->may_contain_integer(static_cast<std::uint64_t>(-7)));
    EXPECT_TRUE(column->may_contain_integer(~std::uint64_t{0}));
    EXPECT_TRUE(column->may_contain_integer(1'000'000'000'000'000));
    EXPECT_FALSE(column->may_contain_integer(7));
}

}  // namespace
}  // namespace posy
