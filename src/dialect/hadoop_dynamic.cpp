// Hadoop's DynamicBloomFilter (Guo, Wu, Chen and Luo, 2006): rows of equal filters, each for so many items;
// its bytes are in hadoop.cpp.
#include <algorithm>

#include "hadoop.hpp"
#include "item_count.hpp"

namespace posy::foreign {
namespace {

class hadoop_rows final : public foreign_filter {
  public:
    hadoop_rows(const placing& how, std::uint32_t items_of_row, std::uint32_t items_of_last,
                std::vector<placed_bits> rows)
        : how_(how), of_row_(items_of_row), of_last_(items_of_last), rows_(std::move(rows)) {}

    dialect speaks() const override { return dialect::hadoop_dynamic; }
    std::unique_ptr<foreign_filter> copy() const override { return std::make_unique<hadoop_rows>(*this); }

    result<void> insert(byte_view key) override {
        if (of_last_ >= of_row_) {
            rows_.emplace_back(how_);
            of_last_ = 0;
        }
        rows_.back().insert(key);
        ++of_last_;
        return {};
    }
    bool may_contain(byte_view key) const override {
        return std::ranges::any_of(rows_, [&](const placed_bits& row) { return row.may_contain(key); });
    }
    // The rows of both, one after the other: no row has more items than it is for.
    result<void> unite(const foreign_filter& other) override {
        const auto* const same = same_kind(*this, other);
        if (!same) return not_alike("formats");
        if (same->how_ != how_ || same->of_row_ != of_row_) return not_alike("sizes or hashes");
        const auto theirs = same->rows_;  // which may be ours
        rows_.insert(rows_.begin(), theirs.begin(), theirs.end());
        return {};
    }
    result<std::vector<std::byte>> to_bytes() const override {
        auto bytes = hadoop_head_of(how_);
        append_big(bytes, of_row_);
        append_big(bytes, of_last_);
        append_big(bytes, static_cast<std::uint32_t>(rows_.size()));
        for (const placed_bits& row : rows_) {
            append(bytes, hadoop_head_of(how_));
            append(bytes, row.bytes());
        }
        return bytes;
    }
    facts about() const override {
        facts f{.hashes = how_.hashes,
                .hash = "that of Hadoop, rows of " + std::to_string(of_row_) + " items"};
        double none = 1;
        item_count counted;
        for (const placed_bits& row : rows_) {
            const std::uint64_t ones = row.ones();
            f.bits += how_.bits;
            f.ones += ones;
            none *= 1 - rate_of_31_bits(row);
            counted.add(how_.bits, how_.hashes, ones);
        }
        f.different_items = counted.items();
        f.false_positive_rate = 1 - none;
        return f;
    }

  private:
    result<std::vector<std::byte>> as_plain_hadoop() const override {
        if (rows_.size() != 1)
            return error::mismatch("it has " + std::to_string(rows_.size()) +
                                   " rows, and the format hadoop has one; build it from the keys");
        auto bytes = hadoop_head_of(how_);
        append(bytes, rows_[0].bytes());
        return bytes;
    }

    placing how_;
    std::uint32_t of_row_, of_last_;
    std::vector<placed_bits> rows_;
};

// Behind the common head: three numbers, and rows of one size.
struct rows_head {
    hadoop_head common;
    std::uint64_t row_size;  // with a head of its own
    std::uint32_t of_row, of_last, rows;
};

result<rows_head> read_rows_head(byte_view bytes) {
    const auto common = read_hadoop_head(bytes);
    if (!common) return common.error();
    const std::size_t at = common->size;
    if (auto whole = check_size(bytes, at + 12, "Hadoop with rows"); !whole) return whole.error();
    const auto number = [&](std::size_t i) { return load_big<std::uint32_t>(bytes.data() + at + 4 * i); };
    const std::uint64_t size = at + (common->how.bits + 7) / 8;
    if (number(2) == 0) return error::damaged("a filter of Hadoop without rows", at + 8);
    if (auto right = check_left(bytes.subspan(at + 12), number(2) * size, at + 12); !right)
        return right.error();
    return rows_head{*common, size, number(0), number(1), number(2)};
}

bool is_dynamic(byte_view bytes) { return read_rows_head(bytes).ok(); }

any_filter read_dynamic(byte_view bytes, const dialect_options&) {
    const auto head = read_rows_head(bytes);
    if (!head) return head.error();
    std::vector<placed_bits> rows;
    for (std::uint32_t i = 0; i < head->rows; ++i) {
        const std::uint64_t at = head->common.size + 12 + i * head->row_size;
        const byte_view row = bytes.subspan(at, head->row_size);
        const auto own = read_hadoop_head(row);
        if (!own) return own.error().in_part_at(at);
        if (own->how != head->common.how || own->size != head->common.size)
            return error::damaged("a row that is not like the filter", at);
        rows.emplace_back(own->how, row.subspan(own->size));
    }
    return owned<hadoop_rows>(head->common.how, head->of_row, head->of_last, std::move(rows));
}

result<placing> dynamic_size(const wanted& w) {
    if (w.items > 0x7fffffff) return error::too_large("a row of Hadoop's is for fewer than 2^31 items");
    return hadoop_size(w);
}

any_filter make_dynamic(const wanted& w, const placing& how) {
    std::vector<placed_bits> rows;
    rows.emplace_back(how);
    return owned<hadoop_rows>(how, static_cast<std::uint32_t>(w.items), 0, std::move(rows));
}

}  // namespace

const grammar hadoop_dynamic{is_dynamic, read_dynamic, dynamic_size, make_dynamic};

}  // namespace posy::foreign
