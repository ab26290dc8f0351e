// Parquet files of a footer and filters, to test what is read of them: no rows, and nothing that is not asked
// for.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace posy {

// Thrift's compact protocol, written.
namespace thrift {

inline std::string varint(std::uint64_t value) {
    std::string bytes;
    for (; value >= 0x80; value >>= 7) bytes += static_cast<char>(value | 0x80);
    return bytes + static_cast<char>(value);
}
inline std::string number(std::int64_t value) {
    return varint(static_cast<std::uint64_t>(value) << 1 ^ static_cast<std::uint64_t>(value >> 63));
}
inline std::string text(std::string_view value) { return varint(value.size()) + std::string(value); }
inline std::string list(const std::vector<std::string>& items, int type = 12) {
    std::string bytes = items.size() < 15 ? std::string(1, static_cast<char>(items.size() << 4 | type))
                                          : static_cast<char>(0xf0 | type) + varint(items.size());
    for (const std::string& each : items) bytes += each;
    return bytes;
}

// A structure, whose fields come in the order of their numbers.
class fields {
  public:
    explicit fields(int behind = 0) : last_(behind) {}
    fields& add(int id, int type, const std::string& value) {
        bytes_ += static_cast<char>((id - last_) << 4 | type);
        bytes_ += value;
        last_ = id;
        return *this;
    }
    fields& i32(int id, std::int64_t value) { return add(id, 5, number(value)); }
    fields& i64(int id, std::int64_t value) { return add(id, 6, number(value)); }
    fields& text(int id, std::string_view value) { return add(id, 8, thrift::text(value)); }
    fields& list(int id, const std::string& value) { return add(id, 9, value); }
    fields& structure(int id, const fields& value) { return add(id, 12, value.bytes()); }
    // Those of another, which begin behind the last one here.
    fields& operator+=(const fields& more) {
        bytes_ += more.bytes_;
        return *this;
    }
    std::string bytes() const { return bytes_ + '\0'; }

  private:
    std::string bytes_;
    int last_;
};

}  // namespace thrift

struct parquet_column {
    std::vector<std::string> path;
    int type = 6;
    std::optional<std::int64_t> filter_at{};
};

inline std::string parquet_chunk(const parquet_column& column) {
    std::vector<std::string> parts;
    for (const std::string& part : column.path) parts.push_back(thrift::text(part));
    thrift::fields about;
    about.i32(1, column.type).list(3, thrift::list(parts, 8));
    if (column.filter_at) about.i64(14, *column.filter_at);
    return thrift::fields().structure(3, about).bytes();
}

// One row group of these columns, behind these bytes, with a schema if there is one.
inline std::string parquet_file(const std::vector<parquet_column>& columns, const std::string& filters = {},
                                const std::vector<std::string>& schema = {}) {
    std::vector<std::string> chunks;
    for (const parquet_column& each : columns) chunks.push_back(parquet_chunk(each));
    thrift::fields footer;
    if (!schema.empty()) footer.list(2, thrift::list(schema));
    footer.list(4, thrift::list({thrift::fields().list(1, thrift::list(chunks)).bytes()}));
    const std::string bytes = footer.bytes();
    std::string file = "PAR1" + filters + bytes;
    for (int shift = 0; shift < 32; shift += 8) file += static_cast<char>(bytes.size() >> shift);
    return file + "PAR1";
}

}  // namespace posy
