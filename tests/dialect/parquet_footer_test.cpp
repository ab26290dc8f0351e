// What the footer of a Parquet file says of its columns: names, and what they stand for.
#include "parquet_footer.hpp"

#include <array>
#include <bit>

#include "posy/dialect/foreign_filter.hpp"
#include "support.hpp"

namespace posy {
namespace {

std::string said_of(const std::string& file, const std::string& column) {
    const auto read = foreign_filter::of_parquet_column(as_byte_view(file), column);
    EXPECT_FALSE(read);
    return read ? std::string() : read.error().message;
}

// A dozen names and a number, however many columns there are; each is named once.
TEST(parquet_footer, names_a_dozen_columns) {
    std::vector<parquet_column> columns;
    for (int i = 0; i < 40'000; ++i) columns.push_back({{"c" + std::to_string(i)}, 6, 4});
    const std::string few =
        "there is no column x; these have one: c0, c1, c2, c3, c4, c5, c6, c7, c8, c9, c10, c11";
    EXPECT_EQ(said_of(parquet_file(columns), "x"), few + ", and 39988 more");
    columns.resize(12);
    EXPECT_EQ(said_of(parquet_file(columns), "x"), few);
    columns.insert(columns.end(), columns.begin(), columns.begin() + 12);
    columns.push_back({{"without"}, 6, {}});
    EXPECT_EQ(said_of(parquet_file(columns), "x"), few);
    EXPECT_TRUE(said_of(parquet_file(columns), "without").starts_with("the column without has no filter"));
    EXPECT_EQ(said_of(parquet_file({}), "x"), "there is no column x in this Parquet file");
}

// A terminal would obey what a file has in its names.
TEST(parquet_footer, names_are_shown_without_what_a_terminal_obeys) {
    const auto shown = [](const std::string& name) {
        const std::string all = said_of(parquet_file({{{name}, 6, 4}}), "x");
        return all.substr(all.rfind(": ") + 2);
    };
    EXPECT_EQ(shown("\x1b[31mred\a\n\xff"), "\\x1b[31mred\\x07\\x0a\\xff");
    EXPECT_EQ(shown("größe €😀"), "größe €😀");
    EXPECT_EQ(shown("\xc2\x9b"
                    "31m\x7f"),
              "\\xc2\\x9b31m\\x7f");
    EXPECT_EQ(shown("\xe2\x80\xae"
                    "a"),
              "\\xe2\\x80\\xaea");
    EXPECT_EQ(shown("\xe2\x82"), "\\xe2\\x82");
    EXPECT_EQ(shown("\\x1b"), "\\x5cx1b");
    EXPECT_EQ(shown(std::string(100'000, 'n')), std::string(100, 'n') + "...");
}

std::string element(const std::string& name, int children, const thrift::fields& meaning = thrift::fields()) {
    thrift::fields all;
    all.text(4, name);
    all.i32(5, children);
    return (all += meaning).bytes();
}

// A filter with one key in bytes, as it stands in a file.
std::string filter_of(byte_view key) {
    const auto filter = *foreign_filter::make(dialect::parquet, 100, 0.001);
    EXPECT_TRUE(filter->insert(key));
    const auto bytes = *filter->to_bytes();
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// Decimals in bytes are neither text nor numbers; those of integers are integers. The schema is a tree, in
// which a name may come twice.
TEST(parquet_footer, decimals_in_bytes_are_refused) {
    const thrift::fields old_decimal = thrift::fields(5).i32(6, 5).i32(7, 2).i32(8, 9);
    const thrift::fields new_decimal =
        thrift::fields(5).structure(10, thrift::fields().structure(5, thrift::fields().i32(1, 2).i32(2, 9)));
    const thrift::fields text = thrift::fields(5).i32(6, 0);
    const std::vector<std::string> schema{
        element("schema", 5),         element("group", 2),          element("d", 0),
        element("e", 0, new_decimal), element("d", 0, old_decimal), element("s", 0, text),
        element("n", 0, new_decimal), element("group.e", 0)};
    const std::string filters = filter_of(as_byte_view("1234"));
    const auto read = [&](std::vector<std::string> path, int type) {
        std::string column;
        for (const std::string& part : path) column += (column.empty() ? "" : ".") + part;
        return foreign_filter::of_parquet_column(
            as_byte_view(parquet_file({{path, type, 4}}, filters, schema)), column);
    };
    for (const int type : {6, 7}) {
        EXPECT_FALSE(read({"d"}, type));
        EXPECT_TRUE(read({"group", "d"}, type));
        EXPECT_FALSE(read({"group", "e"}, type));
        EXPECT_TRUE(read({"s"}, type));
        EXPECT_TRUE(read({"unknown"}, type));
    }
    for (const int type : {1, 2}) EXPECT_TRUE(read({"d"}, type));
    const auto refused = read({"d"}, 7);
    EXPECT_EQ(refused.error().kind, error_kind::unsupported);
    EXPECT_NE(refused.error().message.find("decimal numbers as FIXED_LEN_BYTE_ARRAY"), std::string::npos);
    for (std::size_t size = 0; size < schema.size(); ++size) {
        const std::vector<std::string> part(schema.begin(),
                                            schema.begin() + static_cast<std::ptrdiff_t>(size));
        (void)foreign_filter::of_parquet_column(as_byte_view(parquet_file({{{"s"}, 6, 4}}, filters, part)),
                                                "s");
    }
}

// A number is asked for by any of its texts; one that the type cannot hold may have become another.
TEST(parquet_footer, numbers_have_signs) {
    std::array<std::byte, 8> five;
    store_little(five.data(), std::bit_cast<std::uint64_t>(5.0));
    const std::string file = parquet_file({{{"x"}, 5, 4}}, filter_of(five));
    const auto column = *foreign_filter::of_parquet_column(as_byte_view(file), "x");
    for (const char* same : {"5", "+5", "5.0", "+5e0", "0.5e1", "nan", "1e400", "-1e400", "1e-400"})
        EXPECT_TRUE(column->may_contain(as_byte_view(same))) << same;
    for (const char* other : {"", "+", "-", "-5", "+-5", "++5", "-+5", "5x", "+x", "1e400x"})
        EXPECT_FALSE(column->may_contain(as_byte_view(other))) << other;
}

}  // namespace
}  // namespace posy
