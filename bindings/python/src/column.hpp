// A column of keys in memory that Python does not move: an array of NumPy's or Arrow's. It is read in pieces,
// by any thread, without Python and without a copy of the keys.
//
// A piece is either words (integers, eight bytes each) or texts (views of the bytes). Rows without a key
// (nulls) are left out of it, and `rows` then says which ones there are. Cost: 8 or 16 bytes of scratch
// memory per key of a piece.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace posy::python {

// Memory for a piece; one per thread.
struct scratch {
    std::vector<std::uint64_t> words;
    std::vector<std::string_view> texts;
    std::vector<std::size_t> rows;
    std::string bytes;
};

struct piece {
    std::span<const std::uint64_t> words{};
    std::span<const std::string_view> texts{};
    bool of_words = false;
    bool some = false;                    // rows were left out, and these are there:
    std::span<const std::size_t> rows{};  // counted from the start of the piece
    std::size_t size() const { return of_words ? words.size() : texts.size(); }
};

// Which rows have a key: a bit each, as in Arrow. Null: all of them.
struct row_mask {
    const std::uint8_t* bits = nullptr;
    std::size_t offset = 0;
    bool operator[](std::size_t row) const {
        return !bits || (bits[(row + offset) / 8] >> (row + offset) % 8 & 1);
    }
};

class column {
  public:
    explicit column(std::size_t size) : size_(size) {}
    virtual ~column() = default;
    column(const column&) = delete;
    column& operator=(const column&) = delete;

    std::size_t size() const { return size_; }
    // The first row without a key; size() if there is none.
    virtual std::size_t first_missing() const = 0;
    // Throws std::invalid_argument if there is a row whose key has no bytes. To be called with the
    // interpreter's lock.
    virtual void check_keys() const {}
    // Rows first … first + count − 1, valid until the scratch memory is used again. Throws as check_keys()
    // does, since arrays may change.
    virtual piece read(std::size_t first, std::size_t count, scratch&) const = 0;
    // Are its words integers that may be negative?
    virtual bool has_sign() const { return false; }

  private:
    std::size_t size_;
};

// Self has at(row), a word or a text, and has(row); both for any row.
template <class Self, class Key>
class column_of : public column {
  public:
    using column::column;
    bool all_there = true;  // has(row) need not be asked

    std::size_t first_missing() const override {
        std::size_t row = 0;
        if (all_there) return size();
        while (row < size() && self().has(row)) ++row;
        return row;
    }
    piece read(std::size_t first, std::size_t count, scratch& memory) const override {
        auto& keys = keys_in(memory);
        keys.clear();
        if (all_there) {
            for (std::size_t i = 0; i < count; ++i) keys.push_back(self().at(first + i));
            return made_of(keys, {}, false);
        }
        memory.rows.clear();
        for (std::size_t i = 0; i < count; ++i) {
            if (!self().has(first + i)) continue;
            keys.push_back(self().at(first + i));
            memory.rows.push_back(i);
        }
        return made_of(keys, memory.rows, true);
    }

  private:
    static constexpr bool words = std::same_as<Key, std::uint64_t>;
    const Self& self() const { return static_cast<const Self&>(*this); }
    static std::vector<Key>& keys_in(scratch& memory) {
        if constexpr (words)
            return memory.words;
        else
            return memory.texts;
    }
    static piece made_of(const std::vector<Key>& keys, std::span<const std::size_t> rows, bool some) {
        if constexpr (words)
            return {.words = keys, .of_words = true, .some = some, .rows = rows};
        else
            return {.texts = keys, .some = some, .rows = rows};
    }
};

// Integers of 1 to 8 bytes at any distance, in either byte order.
class integer_column final : public column_of<integer_column, std::uint64_t> {
  public:
    struct shape {
        const char* data = nullptr;
        std::ptrdiff_t stride = 8;
        unsigned width = 8;
        bool is_signed = false, swapped = false;
    };
    integer_column(std::size_t size, const shape& s, row_mask mask = {})
        : column_of(size), shape_(s), mask_(mask) {
        all_there = !mask.bits;
    }
    bool has(std::size_t row) const { return mask_[row]; }
    std::uint64_t at(std::size_t row) const;
    piece read(std::size_t first, std::size_t count, scratch&) const override;
    bool has_sign() const override { return shape_.is_signed; }

  private:
    shape shape_;
    row_mask mask_;
};

// Where a null is looked for once, before anything is inserted. Throws if there is one and they are not to be
// skipped. `before` rows stand in earlier columns.
void check_nulls(const column&, bool skip, std::size_t before);

using columns = std::vector<std::unique_ptr<column>>;

}  // namespace posy::python
