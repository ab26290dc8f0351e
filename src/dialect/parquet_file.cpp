// The filters of one column of a Parquet file. They stand between the data, one in each row group, where the
// footer says: FileMetaData 4 row groups, RowGroup 1 columns, ColumnChunk 3 ColumnMetaData, whose 3 is the
// path of the column and 14 the offset of its filter.
#include <algorithm>
#include <optional>

#include "dialects.hpp"
#include "thrift.hpp"

namespace posy {

namespace {

using foreign::thrift_reader;

constexpr std::string_view parquet_magic = "PAR1";

// A value is in the file if it is in one of the groups.
class filters_of_groups final : public foreign_filter {
  public:
    explicit filters_of_groups(std::vector<std::unique_ptr<foreign_filter>> groups)
        : groups_(std::move(groups)) {}

    dialect speaks() const override { return dialect::parquet; }
    result<void> insert(byte_view) override { return fixed(); }
    bool may_contain(byte_view key) const override {
        return std::ranges::any_of(groups_, [&](const auto& group) { return group->may_contain(key); });
    }
    result<void> unite(const foreign_filter&) override { return fixed(); }
    std::vector<std::byte> to_bytes() const override {
        std::vector<std::byte> bytes;
        for (const auto& group : groups_) foreign::append(bytes, group->to_bytes());
        return bytes;
    }
    facts about() const override {
        facts all = groups_[0]->about();
        double none = 1 - all.false_positive_rate;
        for (std::size_t i = 1; i < groups_.size(); ++i) {
            const facts one = groups_[i]->about();
            all.bits += one.bits;
            all.ones += one.ones;
            none *= 1 - one.false_positive_rate;
        }
        all.false_positive_rate = 1 - none;
        all.hash += ", " + std::to_string(groups_.size()) + " row groups";
        return all;
    }

  private:
    static result<void> fixed() {
        return error::unsupported("the filters of a Parquet file's row groups are written with its rows");
    }

    std::vector<std::unique_ptr<foreign_filter>> groups_;
};

struct chunk {
    std::string column;  // its path, with dots
    std::optional<std::int64_t> filter_at;
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
                in.elements([&](thrift_reader::type) { all.push_back(read_chunk(in)); });
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

// "a, b and c have one"
error without_filter(const std::string& column, const std::vector<chunk>& chunks) {
    std::vector<std::string> with;
    for (const chunk& one : chunks)
        if (one.filter_at && std::ranges::count(with, one.column) == 0) with.push_back(one.column);
    std::string names;
    for (const std::string& name : with) names += (names.empty() ? "" : ", ") + name;
    const bool there = std::ranges::count(chunks, column, &chunk::column) != 0;
    return error::invalid(
        (there ? "the column " + column + " has no filter" : "there is no column " + column) +
        (names.empty() ? " in this Parquet file" : "; these have one: " + names));
}

}  // namespace

foreign::any_filter foreign_filter::of_parquet_column(byte_view file, const std::string& column) {
    const auto footer = footer_of(file);
    if (!footer) return footer.error();
    const auto chunks = read_chunks(*footer);
    if (!chunks) return chunks.error();
    std::vector<std::unique_ptr<foreign_filter>> groups;
    for (const chunk& one : *chunks) {
        if (one.column != column) continue;
        if (!one.filter_at) return without_filter(column, *chunks);
        const auto at = static_cast<std::uint64_t>(*one.filter_at);
        const auto size = at < file.size() ? foreign::size_of_parquet(file.subspan(at)) : std::nullopt;
        if (!size) return error::damaged("a filter where there is none", at);
        auto group = from_bytes(file.subspan(at, *size), posy::dialect::parquet);
        if (!group) return group.error().in_part_at(at);
        groups.push_back(std::move(*group));
    }
    if (groups.empty()) return without_filter(column, *chunks);
    if (groups.size() == 1) return std::move(groups[0]);
    return foreign::owned<filters_of_groups>(std::move(groups));
}

bool foreign_filter::is_parquet_file(byte_view first_bytes) {
    return first_bytes.size() >= 4 && std::ranges::equal(first_bytes.first(4), as_byte_view(parquet_magic));
}

}  // namespace posy
