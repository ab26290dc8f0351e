// FileMetaData 2 is the schema, a tree as a list: SchemaElement 4 is a name, 5 how many of the elements
// behind it are its children, 6 the meaning in old files and 10 in new ones. The root is no part of a path.
#include "parquet_schema.hpp"

#include <string_view>
#include <vector>

#include "thrift.hpp"

namespace posy::foreign {
namespace {

struct schema_element {
    std::string_view name;
    std::int64_t children = 0;
    bool decimal = false;
};

schema_element read_element(thrift_reader& in) {
    constexpr std::int64_t converted_decimal = 5, logical_decimal = 5;
    schema_element one;
    in.fields([&](std::int64_t id, thrift_reader::type kind) {
        if (id == 4 && kind == thrift_reader::binary) {
            one.name = in.text();
        } else if (id == 5 && kind == thrift_reader::i32) {
            one.children = in.integer();
        } else if (id == 6 && kind == thrift_reader::i32) {
            one.decimal |= in.integer() == converted_decimal;
        } else if (id == 10 && kind == thrift_reader::structure) {
            in.fields([&](std::int64_t meaning, thrift_reader::type) {
                one.decimal |= meaning == logical_decimal;
                return false;
            });
        } else {
            return false;
        }
        return true;
    });
    return one;
}

// Goes through the elements once, and knows of each group how much of the path its name and those above it
// are.
class path_search {
  public:
    explicit path_search(std::string_view path) : path_(path) {}

    // Whether this is the column.
    bool visit(const schema_element& next) {
        if (!begun_) {
            begun_ = true;
            open_.push_back({next.children, 0});
            return false;
        }
        while (!open_.empty() && open_.back().left <= 0) open_.pop_back();
        if (open_.empty()) return false;
        --open_.back().left;
        const std::size_t begin = open_.back().matched;
        if (next.children > 0) {
            open_.push_back({next.children, behind(begin, next.name)});
            return false;
        }
        return begin != nowhere && path_.substr(begin) == next.name;
    }

  private:
    static constexpr std::size_t nowhere = std::string_view::npos;
    struct group {
        std::int64_t left;  // of its children
        std::size_t matched;
    };

    std::size_t behind(std::size_t begin, std::string_view name) const {
        if (begin == nowhere || !path_.substr(begin).starts_with(name)) return nowhere;
        const std::size_t end = begin + name.size();
        return end < path_.size() && path_[end] == '.' ? end + 1 : nowhere;
    }

    std::string_view path_;
    std::vector<group> open_;
    bool begun_ = false;
};

}  // namespace

bool is_decimal_column(byte_view footer, const std::string& column) {
    bool decimal = false;
    path_search search(column);
    thrift_reader in(footer);
    in.fields([&](std::int64_t id, thrift_reader::type kind) {
        if (id != 2 || kind != thrift_reader::list) return false;
        in.elements([&](thrift_reader::type) {
            const schema_element next = read_element(in);
            if (search.visit(next)) decimal |= next.decimal;
        });
        return true;
    });
    return decimal;
}

}  // namespace posy::foreign
