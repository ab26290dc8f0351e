// The filters of one column of a Parquet file. They stand between the data, one in each row group, where the
// footer says: FileMetaData 4 row groups, RowGroup 1 columns, ColumnChunk 3 ColumnMetaData, whose 3 is the
// path of the column and 14 the offset of its filter. A file of these alone is the column's image: other
// programs cannot read it, but of_parquet_column() can.
#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <optional>
#include <type_traits>
#include <unordered_set>

#include "dialects.hpp"
#include "parquet_schema.hpp"
#include "printable.hpp"
#include "thrift.hpp"

namespace posy {

namespace {

using foreign::thrift_reader;
using foreign::thrift_writer;

constexpr std::string_view parquet_magic = "PAR1";

// The types that columns have, in the order of their numbers.
enum class column_type : std::uint8_t { boolean, int32, int64, int96, real32, real64, text, fixed_text };
constexpr std::array<std::string_view, 8> type_names{
    "BOOLEAN", "INT32", "INT64", "INT96", "FLOAT", "DOUBLE", "BYTE_ARRAY", "FIXED_LEN_BYTE_ARRAY"};

// A number in its plain encoding.
template <class Number>
std::array<std::byte, sizeof(Number)> plain_number(Number value) {
    using bits = std::conditional_t<sizeof(Number) == 4, std::uint32_t, std::uint64_t>;
    std::array<std::byte, sizeof(Number)> bytes;
    store_little(bytes.data(), std::bit_cast<bits>(value));
    return bytes;
}

key_kind kind_of(column_type type) {
    switch (type) {
        case column_type::int32:
        case column_type::int64:
            return key_kind::integers;
        case column_type::real32:
        case column_type::real64:
            return key_kind::numbers;
        case column_type::text:
        case column_type::fixed_text:
            return key_kind::text;
        case column_type::boolean:
        case column_type::int96:
            break;  // not read
    }
    return key_kind::any;
}

using bytes_of_groups = std::vector<std::vector<std::byte>>;

// FileMetaData of a file that has these filters behind its magic, and nothing else.
std::vector<std::byte> footer_for(const bytes_of_groups& groups, const std::string& column, column_type of) {
    thrift_writer out;
    std::size_t at = parquet_magic.size();
    out.field(4, thrift_reader::list);
    out.list_of(groups.size(), thrift_reader::structure);
    for (const auto& group : groups) {
        out.field(1, thrift_reader::list);
        out.list_of(1, thrift_reader::structure);
        out.field(3, thrift_reader::structure);
        out.field(1, thrift_reader::i32);
        out.integer(static_cast<std::int64_t>(of));
        out.field(2, thrift_reader::list);
        out.list_of(1, thrift_reader::binary);
        out.text(column);
        out.field(14 - 3, thrift_reader::i64);
        out.integer(static_cast<std::int64_t>(at));
        for (int i = 0; i < 3; ++i) out.end_of_structure();  // of the metadata, the chunk and the group
        at += group.size();
    }
    out.end_of_structure();
    return out.bytes();
}

// A value is in the file if it is in one of the groups.
class filters_of_groups final : public foreign_filter {
  public:
    filters_of_groups(std::vector<std::unique_ptr<foreign_filter>> groups, std::string column,
                      column_type type)
        : groups_(std::move(groups)), column_(std::move(column)), type_(type) {}

    dialect speaks() const override { return dialect::parquet; }
    std::unique_ptr<foreign_filter> copy() const override {
        std::vector<std::unique_ptr<foreign_filter>> groups;
        for (const auto& group : groups_) groups.push_back(group->copy());
        return std::make_unique<filters_of_groups>(std::move(groups), column_, type_);
    }
    key_kind keys() const override { return kind_of(type_); }
    result<void> check_kind(bool integers) const override {
        if (integers ? keys() != key_kind::text : keys() != key_kind::integers) return {};
        return error::invalid("the column " + column_ + " has " + (integers ? "no " : "") + "integers (" +
                              type_name() + "), and the key is " + (integers ? "one" : "text or bytes"));
    }
    result<void> insert(byte_view) override { return fixed(); }
    bool may_contain(byte_view key) const override {
        switch (type_) {
            case column_type::int32:
                return has_int32(key);
            case column_type::real32:
                return has_number<float>(key);
            case column_type::real64:
                return has_number<double>(key);
            case column_type::boolean:
            case column_type::int64:
            case column_type::int96:
            case column_type::text:
            case column_type::fixed_text:
                break;
        }
        return has(key);
    }
    result<void> unite(const foreign_filter&) override { return fixed(); }
    // A filter alone does not say how its keys were written, and there is no list of them.
    result<std::vector<std::byte>> to_bytes() const override {
        const bool as_given = keys() == key_kind::text || type_ == column_type::int64;
        if (groups_.size() == 1 && as_given) return groups_[0]->to_bytes();
        return error::unsupported("the filters of the column " + column_ + " (" + type_name() + ", " +
                                  row_groups() + ") cannot be written as one filter: " +
                                  (as_given
                                       ? "there is one for each row group"
                                       : "it would be asked for the eight bytes of an integer or for text, "
                                         "and this column has neither") +
                                  "; keep the Parquet file and ask its column, in the tool with --column");
    }
    image to_image() const override {
        bytes_of_groups groups;
        for (const auto& group : groups_) groups.push_back(*group->to_bytes());
        const auto footer = footer_for(groups, column_, type_);
        image all{.dialect = speaks(), .bytes = {}, .column = column_};
        foreign::append(all.bytes, as_byte_view(parquet_magic));
        for (const auto& group : groups) foreign::append(all.bytes, group);
        foreign::append(all.bytes, footer);
        foreign::append_little(all.bytes, static_cast<std::uint32_t>(footer.size()));
        foreign::append(all.bytes, as_byte_view(parquet_magic));
        return all;
    }
    facts about() const override {
        facts all = groups_[0]->about();
        double none = 1 - all.false_positive_rate;
        all.different_items.reset();  // a value may be in several groups
        for (std::size_t i = 1; i < groups_.size(); ++i) {
            const facts one = groups_[i]->about();
            all.bits += one.bits;
            all.ones += one.ones;
            none *= 1 - one.false_positive_rate;
        }
        all.false_positive_rate = 1 - none;
        all.hash += " of " + type_name() + ", " + row_groups();
        return all;
    }

  private:
    std::string type_name() const { return std::string(type_names[static_cast<std::size_t>(type_)]); }
    std::string row_groups() const {
        return std::to_string(groups_.size()) + (groups_.size() == 1 ? " row group" : " row groups");
    }
    bool has(byte_view plain) const {
        return std::ranges::any_of(groups_, [&](const auto& group) { return group->may_contain(plain); });
    }
    // Of a long its lower half, if the upper one has nothing but a sign, or nothing: a column may be
    // unsigned.
    bool has_int32(byte_view key) const {
        if (key.size() != 8) return has(key);
        const auto value = static_cast<std::int64_t>(load_little<std::uint64_t>(key.data()));
        if (value < INT32_MIN || value > std::int64_t{UINT32_MAX}) return false;
        return has(key.first(4));
    }
    // The key is the text of a number, with a sign or not. Both zeros are one number, and what is none may be
    // any; so may one beyond the range of the type, since what a writer made of that is not known.
    template <class Number>
    bool has_number(byte_view key) const {
        const auto* first = reinterpret_cast<const char*>(key.data());
        const auto* const last = first + key.size();
        if (key.size() > 1 && *first == '+' && first[1] != '-') ++first;
        Number value = 0;
        const auto [end, wrong] = std::from_chars(first, last, value);
        if (end != last || wrong == std::errc::invalid_argument) return false;
        if (wrong == std::errc::result_out_of_range) return true;
        if (std::isnan(value)) return true;
        if (value == 0 && has(plain_number<Number>(-Number{0}))) return true;
        return has(plain_number<Number>(value == 0 ? Number{0} : value));
    }
    static result<void> fixed() {
        return error::unsupported("the filters of a Parquet file's row groups are written with its rows");
    }

    std::vector<std::unique_ptr<foreign_filter>> groups_;
    std::string column_;
    column_type type_;
};

struct chunk {
    std::string column;  // its path, with dots
    std::optional<std::int64_t> filter_at;
    std::size_t type = type_names.size();
};

chunk read_chunk(thrift_reader& in) {
    chunk one;
    in.fields([&](std::int64_t id, thrift_reader::type kind) {
        if (id != 3 || kind != thrift_reader::structure) return false;
        in.fields([&](std::int64_t field, thrift_reader::type type) {
            if (field == 3 && type == thrift_reader::list) {
                in.elements([&](thrift_reader::type part) {
                    if (part != thrift_reader::binary) return in.skip(part);
                    one.column += (one.column.empty() ? "" : ".") + std::string(in.text());
                });
                return true;
            }
            if (field == 1 && type == thrift_reader::i32) {
                one.type = static_cast<std::size_t>(in.integer());
                return true;
            }
            if (field == 14 && type == thrift_reader::i64) {
                one.filter_at = in.integer();
                return true;
            }
            return false;
        });
        return true;
    });
    return one;
}

result<std::vector<chunk>> read_chunks(byte_view footer) {
    std::vector<chunk> all;
    thrift_reader in(footer);
    in.fields([&](std::int64_t id, thrift_reader::type kind) {
        if (id != 4 || kind != thrift_reader::list) return false;
        in.elements([&](thrift_reader::type) {
            in.fields([&](std::int64_t field, thrift_reader::type type) {
                if (field != 1 || type != thrift_reader::list) return false;
                in.elements([&](thrift_reader::type) {
                    // One without a filter is kept too, to be named; an empty one is none.
                    if (chunk one = read_chunk(in); !one.column.empty()) all.push_back(std::move(one));
                });
                return true;
            });
        });
        return true;
    });
    if (in.wrong()) return error::damaged("the footer of a Parquet file that cannot be read");
    return all;
}

result<byte_view> footer_of(byte_view file) {
    const auto is_magic = [](byte_view four) {
        return std::ranges::equal(four, as_byte_view(parquet_magic));
    };
    if (file.size() < 12 || !is_magic(file.first(4)) || !is_magic(file.last(4)))
        return error::damaged("not a Parquet file: it does not start and end with PAR1", 0);
    const auto size = load_little<std::uint32_t>(file.data() + file.size() - 8);
    if (size > file.size() - 12)
        return error::damaged(
            "a footer of " + std::to_string(size) + " bytes in a file of " + std::to_string(file.size()),
            file.size() - 8);
    return file.subspan(file.size() - 8 - size, size);
}

// "a, b, c, and 5 more". A name comes from the file: what is no letter for a terminal becomes \x1b.
std::string columns_with_filters(const std::vector<chunk>& chunks) {
    constexpr std::size_t most = 12;
    std::unordered_set<std::string_view> with;
    std::string names;
    for (const chunk& one : chunks) {
        if (!one.filter_at || !with.insert(one.column).second || with.size() > most) continue;
        names += (names.empty() ? "" : ", ") + foreign::printable(one.column);
    }
    if (with.size() > most) names += ", and " + std::to_string(with.size() - most) + " more";
    return names;
}

error without_filter(const std::string& column, const std::vector<chunk>& chunks) {
    const std::string names = columns_with_filters(chunks);
    const bool there = std::ranges::count(chunks, column, &chunk::column) != 0;
    return error::invalid(
        (there ? "the column " + column + " has no filter" : "there is no column " + column) +
        (names.empty() ? " in this Parquet file" : "; these have one: " + names));
}

// Its keys are neither text nor numbers: a decimal is the two's complement of its digits, and writers differ
// in its length.
error decimal_in_bytes(const std::string& column, std::size_t type) {
    return error::unsupported("the column " + column + " has decimal numbers as " +
                              std::string(type_names[type]) +
                              ", which cannot be asked by their text; those of INT32 and INT64 can, by their "
                              "digits as an integer");
}

}  // namespace

foreign::any_filter foreign_filter::of_parquet_column(byte_view file, const std::string& column) {
    const auto footer = footer_of(file);
    if (!footer) return footer.error();
    const auto chunks = read_chunks(*footer);
    if (!chunks) return chunks.error();
    std::vector<std::unique_ptr<foreign_filter>> groups;
    std::uint64_t end = 0;
    for (const chunk& one : *chunks) {
        if (one.column != column) continue;
        if (!one.filter_at) return without_filter(column, *chunks);
        const auto at = static_cast<std::uint64_t>(*one.filter_at);
        // They stand one behind the other: none is read twice, and all are no larger than the file.
        if (at < end) return error::damaged("filters of row groups that overlap", at);
        const auto size = at < file.size() ? foreign::size_of_parquet(file.subspan(at)) : std::nullopt;
        if (!size) return error::damaged("a filter where there is none", at);
        auto group = from_bytes(file.subspan(at, *size), posy::dialect::parquet);
        if (!group) return group.error().in_part_at(at);
        groups.push_back(std::move(*group));
        end = at + *size;
    }
    if (groups.empty()) return without_filter(column, *chunks);
    const std::size_t type = std::ranges::find(*chunks, column, &chunk::column)->type;
    if (type >= type_names.size()) return error::damaged("a column of a type that Parquet does not have");
    const auto known = static_cast<column_type>(type);
    if (known == column_type::boolean || known == column_type::int96)
        return error::unsupported(
            "the column " + column + " is " + std::string(type_names[type]) +
            "; only those of text, bytes, integers and floating-point numbers can be asked");
    const bool in_bytes = known == column_type::text || known == column_type::fixed_text;
    if (in_bytes && foreign::is_decimal_column(*footer, column)) return decimal_in_bytes(column, type);
    return foreign::owned<filters_of_groups>(std::move(groups), column, known);
}

bool foreign_filter::is_parquet_file(byte_view first_bytes) {
    return first_bytes.size() >= 4 && std::ranges::equal(first_bytes.first(4), as_byte_view(parquet_magic));
}

}  // namespace posy
