#include "arrow.hpp"

#include <cstring>
#include <limits>
#include <stdexcept>
#include <utility>

#include "call.hpp"
#include "key.hpp"

namespace posy::python {
namespace {

// The three structures of the interface, as it specifies them.
struct arrow_schema {
    const char* format;
    const char* name;
    const char* metadata;
    std::int64_t flags;
    std::int64_t n_children;
    arrow_schema** children;
    arrow_schema* dictionary;
    void (*release)(arrow_schema*);
    void* private_data;
};
struct arrow_array {
    std::int64_t length;
    std::int64_t null_count;
    std::int64_t offset;
    std::int64_t n_buffers;
    std::int64_t n_children;
    const void** buffers;
    arrow_array** children;
    arrow_array* dictionary;
    void (*release)(arrow_array*);
    void* private_data;
};
struct arrow_stream {
    int (*get_schema)(arrow_stream*, arrow_schema*);
    int (*get_next)(arrow_stream*, arrow_array*);
    const char* (*get_last_error)(arrow_stream*);
    void (*release)(arrow_stream*);
    void* private_data;
};

// A structure that is released at its end.
template <class T>
struct owned : T {
    owned() : T{} {}
    owned(owned&& other) noexcept : T(other) { other.release = nullptr; }
    owned& operator=(owned&&) = delete;
    ~owned() {
        if (this->release) this->release(this);
    }
};

// Text and bytes behind offsets of 32 or 64 bits.
template <class Offset>
class offset_column final : public column_of<offset_column<Offset>, std::string_view> {
  public:
    offset_column(std::size_t size, const Offset* offsets, const char* bytes, row_mask mask)
        : column_of<offset_column, std::string_view>(size), offsets_(offsets), bytes_(bytes), mask_(mask) {
        this->all_there = !mask.bits;
    }
    bool has(std::size_t row) const { return mask_[row]; }
    std::string_view at(std::size_t row) const {
        return {bytes_ + offsets_[row], static_cast<std::size_t>(offsets_[row + 1] - offsets_[row])};
    }

  private:
    const Offset* offsets_;
    const char* bytes_;
    row_mask mask_;
};

// "German" strings: 16 bytes each, in which short ones stand; the others name a buffer and a place in it.
class view_column final : public column_of<view_column, std::string_view> {
  public:
    view_column(std::size_t size, const char* views, const void** data, row_mask mask)
        : column_of(size), views_(views), data_(data), mask_(mask) {
        all_there = !mask.bits;
    }
    bool has(std::size_t row) const { return mask_[row]; }
    std::string_view at(std::size_t row) const {
        constexpr std::int32_t inside = 12;
        std::int32_t part[4];  // length, prefix, buffer, place
        std::memcpy(part, views_ + 16 * row, sizeof part);
        const auto size = static_cast<std::size_t>(part[0]);
        if (part[0] <= inside) return {views_ + 16 * row + 4, size};
        return {static_cast<const char*>(data_[part[2]]) + part[3], size};
    }

  private:
    const char* views_;
    const void** data_;
    row_mask mask_;
};

class fixed_column final : public column_of<fixed_column, std::string_view> {
  public:
    fixed_column(std::size_t size, const char* bytes, std::size_t width, row_mask mask)
        : column_of(size), bytes_(bytes), width_(width), mask_(mask) {
        all_there = !mask.bits;
    }
    bool has(std::size_t row) const { return mask_[row]; }
    std::string_view at(std::size_t row) const { return {bytes_ + width_ * row, width_}; }

  private:
    const char* bytes_;
    std::size_t width_;
    row_mask mask_;
};

// No row has a key.
class null_column final : public column {
  public:
    using column::column;
    std::size_t first_missing() const override { return 0; }
    piece read(std::size_t, std::size_t, scratch&) const override { return {.some = true}; }
};

[[noreturn]] [[gnu::cold]] void refuse_place(std::size_t row, std::uint64_t value, std::size_t values) {
    throw std::invalid_argument(
        "row " + std::to_string(row) + " of an Arrow dictionary array names the value " +
        std::to_string(static_cast<std::int64_t>(value)) + ", and its dictionary has " +
        std::to_string(values) + " values; array.validate(full=True) tells more");
}

// Rows that name a value of a dictionary, which is read once. Values that are themselves rows of a dictionary
// are keys like others.
template <class Key>
class dictionary_column final : public column_of<dictionary_column<Key>, Key> {
  public:
    // `all` is what was read of the values, and all.of_words says which Key they have.
    dictionary_column(std::unique_ptr<integer_column> places, std::unique_ptr<column> values,
                      const piece& all)
        : column_of<dictionary_column, Key>(places->size()),
          places_(std::move(places)),
          values_(std::move(values)),
          there_(values_->size()),
          keys_(values_->size()) {
        for (std::size_t i = 0; i < all.size(); ++i) {
            const std::size_t value = all.some ? all.rows[i] : i;
            if constexpr (std::same_as<Key, std::uint64_t>)
                keys_[value] = all.words[i];
            else
                keys_[value] = all.texts[i];
            there_[value] = true;
        }
        this->all_there = places_->all_there && !all.some;
    }
    bool has(std::size_t row) const { return places_->has(row) && there_[place(row)]; }
    Key at(std::size_t row) const { return keys_[place(row)]; }
    bool has_sign() const override { return values_->has_sign(); }

  private:
    // Arrow checks no indices. Nor are they all looked at before keys are inserted, which would cost as much
    // as a lookup.
    std::size_t place(std::size_t row) const {
        const std::uint64_t value = places_->at(row);
        if (value >= keys_.size()) [[unlikely]]
            refuse_place(row, value, keys_.size());
        return value;
    }

    std::unique_ptr<integer_column> places_;
    std::unique_ptr<column> values_;
    std::vector<bool> there_;
    std::vector<Key> keys_;
};

constexpr auto booleans_are_none =
    "booleans are no keys; cast the column to an integer type if 0 and 1 are meant";

[[noreturn]] void refuse_type(std::string_view format) {
    std::string what = "no keys are made of an Arrow column of format \"" + std::string(format) + "\"";
    if (format == "b")
        what = booleans_are_none;
    else if (format == "e" || format == "f" || format == "g")
        what =
            "floating-point numbers are no keys: equal ones can have different bytes; round them to "
            "integers, or cast to strings";
    else if (format.starts_with("+s"))
        what = "a table or a column of structs: choose one of its columns";
    else if (format.starts_with("t"))
        what += " (a time or a date): cast it to int64 or to strings, whichever the other side does";
    else
        what += "; cast it to strings, binaries or integers";
    raise(PyExc_TypeError, what);
}

// The name of a column's extension type. Metadata are a count, and as many keys and values with their sizes.
std::string_view extension_of(const char* metadata) {
    if (!metadata) return {};
    const auto number = [&] {
        std::int32_t value;
        std::memcpy(&value, std::exchange(metadata, metadata + sizeof value), sizeof value);
        return value;
    };
    const auto text = [&] {
        const auto size = static_cast<std::size_t>(number());
        return std::string_view(std::exchange(metadata, metadata + size), size);
    };
    for (std::int32_t left = number(); left > 0; --left) {
        const std::string_view key = text(), value = text();
        if (key == "ARROW:extension:name") return value;
    }
    return {};
}

// An extension gives its storage another meaning: eight bits may be a boolean, 16 bytes a UUID, of which
// others take the text. JSON alone is the text that it is stored as.
void check_extension(const arrow_schema& schema) {
    const std::string_view name = extension_of(schema.metadata);
    if (name.empty() || name == "arrow.json") return;
    if (name == "arrow.bool8") raise(PyExc_TypeError, booleans_are_none);
    raise(PyExc_TypeError, "no keys are made of an Arrow column of the extension type " + std::string(name) +
                               "; cast it to strings, or to its storage type if that is what the other side "
                               "takes for keys");
}

std::optional<integer_column::shape> integers_of(std::string_view format) {
    static constexpr std::string_view all = "cCsSiIlL";
    if (format.size() != 1 || all.find(format[0]) == all.npos) return std::nullopt;
    const std::size_t which = all.find(format[0]);
    const unsigned width = 1U << which / 2;
    return integer_column::shape{
        .stride = static_cast<std::ptrdiff_t>(width), .width = width, .is_signed = which % 2 == 0};
}

// What a row starts at: pointers may be null where there are no bytes.
template <class T>
const T* buffer_of(const arrow_array& array, std::int64_t which, std::size_t first = 0) {
    if (which >= array.n_buffers)
        raise(PyExc_ValueError, "an Arrow array without the buffers that its type has");
    const auto* const start = static_cast<const T*>(array.buffers[which]);
    return start ? start + first : start;
}

row_mask mask_of(const arrow_array& array) {
    if (array.null_count == 0) return {};
    return {buffer_of<std::uint8_t>(array, 0), static_cast<std::size_t>(array.offset)};
}

// An empty array may have no offsets at all.
template <class Offset>
std::unique_ptr<column> behind_offsets(const arrow_array& array, std::size_t size, std::size_t first) {
    static constexpr Offset nothing[1] = {0};
    const Offset* const offsets = buffer_of<Offset>(array, 1, first);
    if (!offsets && size != 0) raise(PyExc_ValueError, "an Arrow array without offsets");
    return std::make_unique<offset_column<Offset>>(size, offsets ? offsets : nothing,
                                                   buffer_of<char>(array, 2), mask_of(array));
}

std::unique_ptr<integer_column> integer_column_of(const arrow_array& array, integer_column::shape shape) {
    shape.data = buffer_of<char>(array, 1, static_cast<std::size_t>(array.offset) * shape.width);
    return std::make_unique<integer_column>(static_cast<std::size_t>(array.length), shape, mask_of(array));
}

std::unique_ptr<column> column_from(const arrow_schema& schema, const arrow_array& array);

std::unique_ptr<column> dictionary_from(const arrow_schema& schema, const arrow_array& array) {
    const auto places = integers_of(schema.format);
    if (!places || !array.dictionary)
        raise(PyExc_ValueError, "an Arrow dictionary without integers that name its values");
    auto values = column_from(*schema.dictionary, *array.dictionary);
    auto rows = integer_column_of(array, *places);
    scratch memory;
    const piece all = values->read(0, values->size(), memory);
    if (all.of_words)
        return std::make_unique<dictionary_column<std::uint64_t>>(std::move(rows), std::move(values), all);
    return std::make_unique<dictionary_column<std::string_view>>(std::move(rows), std::move(values), all);
}

std::unique_ptr<column> column_from(const arrow_schema& schema, const arrow_array& array) {
    const std::string_view format = schema.format;
    check_extension(schema);
    if (array.length < 0 || array.offset < 0) raise(PyExc_ValueError, "an Arrow array of a negative length");
    const auto size = static_cast<std::size_t>(array.length), first = static_cast<std::size_t>(array.offset);
    if (schema.dictionary) return dictionary_from(schema, array);
    if (const auto integers = integers_of(format)) return integer_column_of(array, *integers);
    if (format == "u" || format == "z") return behind_offsets<std::int32_t>(array, size, first);
    if (format == "U" || format == "Z") return behind_offsets<std::int64_t>(array, size, first);
    if (format == "vu" || format == "vz")
        return std::make_unique<view_column>(size, buffer_of<char>(array, 1, 16 * first), array.buffers + 2,
                                             mask_of(array));
    if (format == "n") return std::make_unique<null_column>(size);
    if (format.starts_with("w:")) {
        const auto width = static_cast<std::size_t>(std::strtoull(schema.format + 2, nullptr, 10));
        return std::make_unique<fixed_column>(size, buffer_of<char>(array, 1, width * first), width,
                                              mask_of(array));
    }
    refuse_type(format);
}

// The pointer in a capsule of this name.
template <class T>
T& in_capsule(PyObject* capsule, const char* name) {
    auto* const there = static_cast<T*>(PyCapsule_GetPointer(capsule, name));
    if (!there) throw nb::python_error();
    if (!there->release) raise(PyExc_ValueError, "the Arrow data was released already");
    return *there;
}

// A method of this name, if there is one. Types have methods, too, and are no data.
nb::object method_of(PyObject* object, const char* name) {
    if (PyType_Check(object)) return {};
    PyObject* const found = PyObject_GetAttrString(object, name);
    if (!found) {
        if (!PyErr_ExceptionMatches(PyExc_AttributeError)) throw nb::python_error();
        PyErr_Clear();
    }
    return nb::steal(found);
}

}  // namespace

struct arrow_keys::held {
    std::vector<nb::object> capsules{};
    owned<arrow_schema> schema{};
    std::vector<owned<arrow_array>> arrays{};
    columns parts{};

    void take_array(const nb::object& exported) {
        if (!PyTuple_Check(exported.ptr()) || PyTuple_GET_SIZE(exported.ptr()) != 2)
            raise(PyExc_TypeError, "__arrow_c_array__() did not return two capsules");
        capsules.push_back(exported);
        const auto& type = in_capsule<arrow_schema>(PyTuple_GET_ITEM(exported.ptr(), 0), "arrow_schema");
        parts.push_back(
            column_from(type, in_capsule<arrow_array>(PyTuple_GET_ITEM(exported.ptr(), 1), "arrow_array")));
    }

    void take_stream(const nb::object& exported) {
        capsules.push_back(exported);
        auto& stream = in_capsule<arrow_stream>(exported.ptr(), "arrow_array_stream");
        const auto check = [&](int code) {
            if (code == 0) return;
            const char* const why = stream.get_last_error(&stream);
            raise(PyExc_OSError, "the Arrow stream failed: " + std::string(why ? why : std::strerror(code)));
        };
        check(stream.get_schema(&stream, &schema));
        for (;;) {
            owned<arrow_array> next;
            check(stream.get_next(&stream, &next));
            if (!next.release) break;
            arrays.push_back(std::move(next));
        }
        for (const auto& array : arrays) parts.push_back(column_from(schema, array));
        // The type of an empty stream is looked at, too.
        const arrow_schema* values = &schema;
        while (values->dictionary) values = values->dictionary;
        if (arrays.empty()) column_from(*values, {.n_buffers = 3, .buffers = no_buffers});
    }

    static inline const void* no_buffers[3] = {};
};

std::optional<arrow_keys> arrow_keys::of(PyObject* object) {
    auto taken = std::make_unique<held>();
    if (const nb::object one = method_of(object, "__arrow_c_array__"); one.is_valid())
        taken->take_array(one());
    else if (const nb::object several = method_of(object, "__arrow_c_stream__"); several.is_valid())
        taken->take_stream(several());
    else
        return std::nullopt;
    return arrow_keys(std::move(taken));
}

arrow_keys::arrow_keys(std::unique_ptr<held> taken) : held_(std::move(taken)) {}
arrow_keys::arrow_keys(arrow_keys&&) noexcept = default;
arrow_keys::~arrow_keys() = default;
const columns& arrow_keys::parts() const { return held_->parts; }

}  // namespace posy::python
