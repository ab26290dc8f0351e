#include "column.hpp"

#include <bit>
#include <cstring>

#include "call.hpp"
#include "key.hpp"

namespace posy::python {
namespace {

template <class Word>
Word loaded(const char* from, bool swapped) {
    Word word;
    std::memcpy(&word, from, sizeof word);
    if constexpr (sizeof word == 2)
        return swapped ? static_cast<Word>(__builtin_bswap16(word)) : word;
    else if constexpr (sizeof word == 4)
        return swapped ? __builtin_bswap32(word) : word;
    else if constexpr (sizeof word == 8)
        return swapped ? __builtin_bswap64(word) : word;
    return word;
}

template <class Signed>
std::uint64_t widened(std::make_unsigned_t<Signed> word, bool is_signed) {
    return is_signed ? static_cast<std::uint64_t>(static_cast<std::int64_t>(static_cast<Signed>(word)))
                     : word;
}

}  // namespace

std::uint64_t integer_column::at(std::size_t row) const {
    const char* const from = shape_.data + static_cast<std::ptrdiff_t>(row) * shape_.stride;
    switch (shape_.width) {
        case 1:
            return widened<std::int8_t>(loaded<std::uint8_t>(from, false), shape_.is_signed);
        case 2:
            return widened<std::int16_t>(loaded<std::uint16_t>(from, shape_.swapped), shape_.is_signed);
        case 4:
            return widened<std::int32_t>(loaded<std::uint32_t>(from, shape_.swapped), shape_.is_signed);
        default:
            return loaded<std::uint64_t>(from, shape_.swapped);
    }
}

piece integer_column::read(std::size_t first, std::size_t count, scratch& memory) const {
    const bool as_they_are = shape_.width == 8 && shape_.stride == 8 && !shape_.swapped && all_there &&
                             reinterpret_cast<std::uintptr_t>(shape_.data) % alignof(std::uint64_t) == 0;
    if (!as_they_are) return column_of::read(first, count, memory);
    return {.words = {reinterpret_cast<const std::uint64_t*>(shape_.data) + first, count}, .of_words = true};
}

void check_nulls(const column& keys, bool skip, std::size_t before) {
    if (skip) return;
    const std::size_t row = keys.first_missing();
    if (row == keys.size()) return;
    raise(PyExc_TypeError,
          "a null is no key" + at_index(before + row) + "; skip_nulls=True leaves nulls out");
}

}  // namespace posy::python
