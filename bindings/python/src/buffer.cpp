#include "buffer.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <stdexcept>
#include <utility>

#include "call.hpp"
#include "key.hpp"

namespace posy::python {
namespace {

// NumPy's S: bytes of one width, behind which zeros are no part of them.
class padded_column final : public column_of<padded_column, std::string_view> {
  public:
    padded_column(std::size_t size, const char* data, std::ptrdiff_t stride, std::size_t width)
        : column_of(size), data_(data), stride_(stride), width_(width) {}
    static bool has(std::size_t) { return true; }
    std::string_view at(std::size_t row) const {
        const char* const from = data_ + static_cast<std::ptrdiff_t>(row) * stride_;
        std::size_t size = width_;
        while (size != 0 && from[size - 1] == 0) --size;
        return {from, size};
    }

  private:
    const char* data_;
    std::ptrdiff_t stride_;
    std::size_t width_;
};

// NumPy's U: characters of four bytes each, padded with zeros. They become UTF-8 piece by piece.
class wide_column final : public column {
  public:
    wide_column(std::size_t size, const char* data, std::ptrdiff_t stride, std::size_t width, bool swapped)
        : column(size), data_(data), stride_(stride), width_(width), swapped_(swapped) {}
    std::size_t first_missing() const override { return size(); }
    void check_keys() const override {
        constexpr std::size_t together = 256;
        const nb::gil_scoped_release released;
        for (std::size_t first = 0; first < size(); first += together) {
            const std::size_t last = std::min(first + together, size());
            if (bits_of(first, last) < first_surrogate) continue;
            for (std::size_t row = first; row < last; ++row)
                for (std::size_t i = 0; i < width_; ++i) check(character(row, i), row);
        }
    }
    piece read(std::size_t first, std::size_t count, scratch& memory) const override {
        memory.bytes.resize(4 * width_ * count);
        memory.texts.clear();
        char* to = memory.bytes.data();
        for (std::size_t row = first; row < first + count; ++row) {
            const char* const start = to;
            const std::size_t length = length_at(row);
            for (std::size_t i = 0; i < length; ++i) to = put(to, character(row, i), row);
            memory.texts.emplace_back(start, static_cast<std::size_t>(to - start));
        }
        return {.texts = memory.texts};
    }

  private:
    char32_t character(std::size_t row, std::size_t i) const {
        std::uint32_t value;
        std::memcpy(&value, data_ + static_cast<std::ptrdiff_t>(row) * stride_ + 4 * i, sizeof value);
        return swapped_ ? __builtin_bswap32(value) : value;
    }
    // The bits that any character of these rows has, which is no less than each of them. A loop for vectors:
    // most texts are checked at the speed of memory.
    char32_t bits_of(std::size_t first, std::size_t last) const {
        const bool is_dense = stride_ == static_cast<std::ptrdiff_t>(4 * width_);
        const std::size_t runs = is_dense ? 1 : last - first,
                          size = is_dense ? (last - first) * width_ : width_;
        std::uint32_t bits = 0;
        for (std::size_t run = 0; run < runs; ++run) {
            const char* const from = data_ + static_cast<std::ptrdiff_t>(first + run) * stride_;
            for (std::size_t i = 0; i < size; ++i) {
                std::uint32_t value;
                std::memcpy(&value, from + 4 * i, sizeof value);
                bits |= value;
            }
        }
        return swapped_ ? __builtin_bswap32(bits) : bits;
    }
    std::size_t length_at(std::size_t row) const {
        std::size_t length = width_;
        while (length != 0 && character(row, length - 1) == 0) --length;
        return length;
    }
    static constexpr char32_t first_surrogate = 0xd800, last_surrogate = 0xdfff, last_character = 0x10ffff;
    static void check(char32_t c, std::size_t row) {
        if ((c >= first_surrogate && c <= last_surrogate) || c > last_character)
            throw std::invalid_argument(no_utf8(row));
    }
    static char* put(char* to, char32_t c, std::size_t row) {
        const auto more = [&](unsigned shift) { *to++ = static_cast<char>(0x80 | (c >> shift & 0x3f)); };
        if (c < 0x80) {
            *to++ = static_cast<char>(c);
        } else if (c < 0x800) {
            *to++ = static_cast<char>(0xc0 | c >> 6), more(0);
        } else if (check(c, row); c < 0x10000) {
            *to++ = static_cast<char>(0xe0 | c >> 12), more(6), more(0);
        } else {
            *to++ = static_cast<char>(0xf0 | c >> 18), more(12), more(6), more(0);
        }
        return to;
    }

    const char* data_;
    std::ptrdiff_t stride_;
    std::size_t width_;
    bool swapped_;
};

// A format of the struct module: byte order, a count, and what there is of it.
struct element {
    bool swapped = false;
    std::size_t count = 1;
    std::string_view code{};
};
element element_of(const char* format) {
    element e;
    std::string_view rest = format ? format : "B";
    if (!rest.empty() && std::string_view("@=<>!").find(rest[0]) != std::string_view::npos) {
        const bool big = rest[0] == '>' || rest[0] == '!', little = rest[0] == '<';
        e.swapped = std::endian::native == std::endian::little ? big : little;
        rest.remove_prefix(1);
    }
    if (!rest.empty() && rest[0] >= '0' && rest[0] <= '9') {
        e.count = 0;
        while (!rest.empty() && rest[0] >= '0' && rest[0] <= '9') {
            e.count = 10 * e.count + static_cast<std::size_t>(rest[0] - '0');
            rest.remove_prefix(1);
        }
    }
    e.code = rest;
    return e;
}

[[noreturn]] void refuse_element(std::string_view code) {
    if (code == "?")
        raise(PyExc_TypeError, "booleans are no keys; write array.astype(int) if 0 and 1 are meant");
    if (code == "e" || code == "f" || code == "d" || code == "g")
        raise(PyExc_TypeError,
              "floating-point numbers are no keys: equal ones can have different bytes, and NaN equals "
              "nothing; round them to integers, or write them as text; integers that pandas made floats of, "
              "because values are missing, are integers again by astype(\"Int64\"), for skip_nulls=True");
    raise(PyExc_TypeError, "no keys are made of an array with elements of format \"" + std::string(code) +
                               "\"; integers, strings (S, U) and objects are");
}

std::unique_ptr<column> buffer_column(const Py_buffer& b) {
    if (b.ndim != 1)
        raise(PyExc_ValueError, "keys stand in one dimension, and this array has " + std::to_string(b.ndim) +
                                    "; array.ravel() has one");
    const element e = element_of(b.format);
    const auto size = static_cast<std::size_t>(b.shape[0]);
    const auto* const data = static_cast<const char*>(b.buf);
    const std::ptrdiff_t stride = b.strides ? b.strides[0] : b.itemsize;
    const auto bytes = static_cast<std::size_t>(b.itemsize);
    if (e.code == "s") return std::make_unique<padded_column>(size, data, stride, bytes);
    if (e.code == "w") return std::make_unique<wide_column>(size, data, stride, bytes / 4, e.swapped);
    constexpr std::string_view is_signed = "bhilqn", is_unsigned = "BHILQN";
    if (e.code.size() == 1 && e.count == 1 && std::has_single_bit(bytes) && bytes <= 8) {
        const bool with_sign = is_signed.find(e.code) != std::string_view::npos;
        if (with_sign || is_unsigned.find(e.code) != std::string_view::npos)
            return std::make_unique<integer_column>(
                size,
                integer_column::shape{data, stride, static_cast<unsigned>(bytes), with_sign, e.swapped});
    }
    refuse_element(e.code);
}

}  // namespace

std::optional<buffer_keys> buffer_keys::of(PyObject* object) {
    if (!PyObject_CheckBuffer(object)) return std::nullopt;
    Py_buffer buffer;
    if (PyObject_GetBuffer(object, &buffer, PyBUF_FORMAT | PyBUF_STRIDES) != 0) {
        // Dates and the like, of which NumPy makes no buffer: their elements say what they are.
        PyErr_Clear();
        return std::nullopt;
    }
    buffer_keys taken(buffer);
    if (element_of(buffer.format).code == "O") return std::nullopt;
    taken.parts_.push_back(buffer_column(buffer));
    return taken;
}

buffer_keys::buffer_keys(buffer_keys&& other) noexcept
    : held_(std::exchange(other.held_, Py_buffer{})), parts_(std::move(other.parts_)) {}
buffer_keys::~buffer_keys() {
    if (held_.obj) PyBuffer_Release(&held_);
}

}  // namespace posy::python
