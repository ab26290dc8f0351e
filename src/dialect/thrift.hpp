// Thrift's compact protocol, as far as the footer of a Parquet file has it. What is not asked for is skipped.
// The first error is remembered, and everything read after it is zero or empty. The writer takes fields in
// the order of their numbers.
#pragma once

#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "big_endian.hpp"
#include "posy/bytes.hpp"

namespace posy::foreign {

class thrift_reader {
  public:
    enum type : std::uint8_t {
        yes = 1,
        no = 2,
        byte = 3,
        i16 = 4,
        i32 = 5,
        i64 = 6,
        real = 7,
        binary = 8,
        list = 9,
        set = 10,
        map = 11,
        structure = 12
    };

    explicit thrift_reader(byte_view bytes) : bytes_(bytes) {}

    bool wrong() const { return wrong_; }

    std::int64_t integer() {
        const std::uint64_t zigzag = varint();
        return static_cast<std::int64_t>(zigzag >> 1 ^ (0 - (zigzag & 1)));
    }
    std::string_view text() {
        const byte_view own = take(varint());
        return {reinterpret_cast<const char*>(own.data()), own.size()};
    }
    // Calls use(id, type) for each field of a structure; use() reads it and says so, or it is skipped.
    template <class Use>
    void fields(Use use) {
        if (++depth_ > most_depth) wrong_ = true;
        std::int64_t id = 0;
        while (!wrong_) {
            const auto head = number();
            if (head == 0) break;
            const auto kind = static_cast<type>(head & 15);
            id = head >> 4 != 0 ? id + (head >> 4) : integer();
            if (!std::in_range<std::int16_t>(id)) wrong_ = true;
            if (!wrong_ && !use(id, kind)) skip(kind);
        }
        --depth_;
    }
    // Calls use(type) for each element of a list, which reads it.
    template <class Use>
    void elements(Use use) {
        const auto head = number();
        const auto kind = static_cast<type>(head & 15);
        std::uint64_t size = head >> 4 == 15 ? varint() : head >> 4;
        if (size > bytes_.size()) wrong_ = true;  // an element has at least a byte
        for (; size > 0 && !wrong_; --size) use(kind);
    }
    void skip(type kind);

  private:
    static constexpr int most_depth = 32;

    std::uint8_t number() {
        const byte_view one = take(1);
        return one.empty() ? std::uint8_t{0} : std::to_integer<std::uint8_t>(one[0]);
    }
    std::uint64_t varint() {
        std::uint64_t value = 0;
        for (unsigned shift = 0; shift < 64; shift += 7) {
            const auto part = number();
            value |= (std::uint64_t{part} & 0x7f) << shift;
            if (part < 0x80) return value;
        }
        wrong_ = true;
        return 0;
    }
    byte_view take(std::uint64_t count) {
        if (wrong_ || count > bytes_.size()) {
            wrong_ = true;
            return {};
        }
        const byte_view taken = bytes_.first(count);
        bytes_ = bytes_.subspan(count);
        return taken;
    }

    byte_view bytes_;
    int depth_ = 0;
    bool wrong_ = false;
};

inline void thrift_reader::skip(type kind) {
    switch (kind) {
        case yes:
        case no:
            return;  // of a field, whose type it is
        case byte:
            return void(take(1));
        case i16:
        case i32:
        case i64:
            return void(varint());
        case real:
            return void(take(8));
        case binary:
            return void(text());
        case list:
        case set:
            if (++depth_ > most_depth) wrong_ = true;
            elements([&](type each) { each == yes || each == no ? void(take(1)) : skip(each); });
            --depth_;
            return;
        case structure:
            return fields([](std::int64_t, type) { return false; });
        case map:
            break;
    }
    wrong_ = true;  // a type that is none, or one that no footer has
}

class thrift_writer {
  public:
    const std::vector<std::byte>& bytes() const { return bytes_; }

    // Of a structure: the number of a field is told by its distance from the one before, at most 15.
    void field(unsigned distance, thrift_reader::type kind) { number(distance << 4 | kind); }
    void end_of_structure() { number(0); }
    void list_of(std::uint64_t size, thrift_reader::type kind) {
        number((size < 15 ? size : 15) << 4 | kind);
        if (size >= 15) varint(size);
    }
    void integer(std::int64_t value) {
        varint(static_cast<std::uint64_t>(value) << 1 ^ static_cast<std::uint64_t>(value >> 63));
    }
    void text(std::string_view value) {
        varint(value.size());
        append(bytes_, as_byte_view(value));
    }

  private:
    void number(std::uint64_t value) { bytes_.push_back(static_cast<std::byte>(value)); }
    void varint(std::uint64_t value) {
        for (; value >= 0x80; value >>= 7) number(value | 0x80);
        number(value);
    }

    std::vector<std::byte> bytes_;
};

}  // namespace posy::foreign
