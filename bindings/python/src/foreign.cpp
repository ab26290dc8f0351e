// posy.ForeignFilter: the filters of Spark, Guava, Hadoop, Parquet … bit for bit.
#include "foreign.hpp"

#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <array>

#include "classes.hpp"
#include "foreign_keys.hpp"
#include "names.hpp"
#include "posy/base/file.hpp"
#include "whole.hpp"

namespace posy::python {
namespace {

using namespace nb::literals;

dialect_options options_of(std::uint32_t seed, bool jenkins, nb::handle key) {
    dialect_options o{.seed = seed, .jenkins = jenkins};
    if (key.is_none()) return o;
    if (PyUnicode_Check(key.ptr()))
        raise(PyExc_TypeError,
              "key is 16 bytes, the first of the block's hash, not str; bytes.fromhex(hash)[:16] has them");
    const held_bytes bytes(key);
    if (bytes.view().size() != 16)
        throw exception(
            error::invalid("the key of a Golomb-coded set is 16 bytes: the first of the block's hash"));
    o.key = hash_seed{load_little<std::uint64_t>(bytes.view().data()),
                      load_little<std::uint64_t>(bytes.view().data() + 8)};
    return o;
}

nb::dict facts_of(const foreign_object& o) {
    const auto facts = o.alone([&] { return o.body->about(); });
    const key_kind kind = o.body->keys();
    nb::dict all;
    all["format"] = str_of(name_of(o.body->speaks()));
    all["bits"] = facts.bits;
    all["hashes"] = facts.hashes;
    all["ones"] = facts.ones;
    all["rate"] = facts.false_positive_rate;
    all["items"] = facts.items;
    all["integers"] = kind == key_kind::any ? nb::none() : nb::cast(kind == key_kind::integers);
    all["hash"] = facts.hash;
    return all;
}

template <class T>
T value_of_file(const std::filesystem::path& path, result<T> made) {
    if (!made) throw file_exception(path, made.error());
    return *std::move(made);
}

std::unique_ptr<foreign_object> object_of(std::unique_ptr<foreign_filter> filter) {
    return std::make_unique<foreign_object>(std::move(filter), hasher());
}

std::optional<dialect> format_named(const std::optional<std::string>& name) {
    return name ? std::optional(member_named<dialect>("format", *name)) : std::nullopt;
}

std::unique_ptr<foreign_object> load_foreign(const std::filesystem::path& path,
                                             const std::optional<std::string>& format, nb::handle key) {
    const auto which = format_named(format);
    const dialect_options options = options_of(0, false, key);
    const nb::gil_scoped_release released;
    const auto piped = whole_pipe(path);
    return object_of(
        value_of_file(path, foreign_filter::from_bytes(piped ? *piped : whole_file(path), which, options)));
}

// From bytes, or from a file that is mapped while its filters are read.
std::unique_ptr<foreign_object> load_column(nb::handle source, const std::string& column) {
    if (PyObject_CheckBuffer(source.ptr()) != 0) {
        const held_bytes bytes(source);
        return object_of(value_of(foreign_filter::of_parquet_column(bytes.view(), column)));
    }
    const auto path = nb::cast<std::filesystem::path>(nb::module_::import_("pathlib").attr("Path")(source));
    const nb::gil_scoped_release released;
    first_bytes(path);  // OSError if it cannot be read
    const auto file = value_of_file(path, base::open_for_reading(path));
    const auto size = base::regular_size(file.get());
    if (!size) throw file_exception(path, error::invalid("it is empty, or no regular file"));
    const auto mapped = value_of_file(path, base::mapping::of(file.get(), 0, *size));
    return object_of(value_of_file(path, foreign_filter::of_parquet_column(mapped.bytes(), column)));
}

std::vector<std::byte> bytes_in(const foreign_object& o, std::optional<dialect> to) {
    return o.alone([&] { return value_of(to ? o.body->to_bytes(*to) : o.body->to_bytes()); });
}

void save_foreign(const foreign_object& o, const std::filesystem::path& path,
                  const std::optional<std::string>& format) {
    const auto bytes = bytes_in(o, format_named(format));
    const nb::gil_scoped_release released;
    const auto write_all = [&]() -> result<void> {
        auto file = base::atomic_file::create(path);
        if (!file) return file.error();
        if (auto written = base::write_fully(file->get(), bytes); !written) return written;
        return file->commit();
    };
    if (const auto saved = write_all(); !saved) throw file_exception(path, saved.error());
}

void add_foreign_files(nb::class_<foreign_object>& type) {
    type.def_static(
        "from_bytes",
        [](nb::handle source, const std::optional<std::string>& format, nb::handle key) {
            const held_bytes bytes(source);
            return foreign_of_bytes(bytes.view(), format_named(format), options_of(0, false, key));
        },
        "data"_a, "format"_a = nb::none(), nb::kw_only(), "key"_a = nb::none(),
        "The filter of another program. format: needed where the bytes do not tell, for bip158 and leveldb. "
        "key: of "
        "bip158, the first 16 bytes of the block's hash. Compressed bytes must be decompressed before.");
    type.def_static("load", load_foreign, "path"_a, "format"_a = nb::none(), nb::kw_only(),
                    "key"_a = nb::none(), "Read a file or a pipe; format and key as in from_bytes().");
    type.def_static(
        "of_parquet_column", load_column, "file"_a, "column"_a,
        "The filters of a column, of all row groups together; a.b is b in a structure. file: a path, or the "
        "bytes "
        "of a Parquet file. They are only asked, for keys of the column's type: text or bytes, ints, or the "
        "numbers of FLOAT and DOUBLE. They can be pickled; to_bytes() writes the filter of a column of text, "
        "bytes "
        "or INT64 with one row group.");
    type.def(
        "to_bytes",
        [](const foreign_object& o, const std::optional<std::string>& format) {
            return bytes_of(bytes_in(o, format_named(format)));
        },
        "format"_a = nb::none(),
        "The bytes that its own program writes, or in another format that has the same bits: hadoop of the "
        "other "
        "formats of Hadoop.");
    type.def("save", save_foreign, "path"_a, "format"_a = nb::none(),
             "Write to_bytes() to a file, all of it or nothing.");
}

nb::object reduced_foreign(nb::handle_t<foreign_object> self) {
    auto& o = self_of<foreign_object>(self.ptr());
    const auto image = o.alone([&] { return o.body->to_image(); });
    nb::object key = nb::none();
    if (image.key) {
        std::array<std::byte, 16> bytes{};
        store_little(bytes.data(), image.key->low);
        store_little(bytes.data() + 8, image.key->high);
        key = bytes_of(bytes);
    }
    // A function of Python's own: pickle does not know those of nanobind.
    return nb::make_tuple(
        nb::module_::import_("posy").attr("_foreign_from_bytes"),
        nb::make_tuple(bytes_of(image.bytes), str_of(name_of(image.dialect)), key, image.column));
}

// By its bits, or counted; none where nothing tells.
std::optional<estimate> items_of_foreign(const foreign_object& o) {
    const auto facts = o.alone([&] { return o.body->about(); });
    if (facts.different_items || !facts.items) return facts.different_items;
    const auto counted = static_cast<double>(*facts.items);
    return estimate{counted, counted, counted};
}

void add_foreign_union(nb::class_<foreign_object>& type) {
    type.def(
        "__ior__",
        [](nb::handle_t<foreign_object> self, const foreign_object& other) {
            auto& into = self_of<foreign_object>(self.ptr());
            into.alone_with(other, [&] { check_done(into.body->unite(*other.body)); });
            return nb::borrow(self);
        },
        nb::is_operator());
    type.def(
        "__or__",
        [](const foreign_object& a, const foreign_object& b) {
            return a.alone_with(b, [&] {
                auto both = a.body->copy();
                check_done(both->unite(*b.body));
                return object_of(std::move(both));
            });
        },
        nb::is_operator());
}

void add_foreign_whole(nb::class_<foreign_object>& type) {
    add_foreign_union(type);
    type.def(
        "__eq__",
        [](const foreign_object& a, const foreign_object& b) {
            return a.alone_with(b, [&] { return a.body->to_image() == b.body->to_image(); });
        },
        nb::is_operator());
    type.attr("__hash__") = nb::none();
    const auto copied = [](const foreign_object& o) {
        return o.alone([&] { return object_of(o.body->copy()); });
    };
    type.def("copy", copied, "A filter of its own with the same bits.");
    type.def("__copy__", copied);
    type.def("__deepcopy__", [copied](const foreign_object& o, nb::handle) { return copied(o); });
    type.def("info", facts_of, "What is known of it.");
    type.def_prop_ro(
        "format", [](const foreign_object& o) { return str_of(name_of(o.body->speaks())); },
        "The name of its format.");
    type.def_prop_ro(
        "rate",
        [](const foreign_object& o) { return o.alone([&] { return o.body->about().false_positive_rate; }); },
        "The share of other keys that are taken for members now.");
    type.def_prop_ro(
        "bits", [](const foreign_object& o) { return o.alone([&] { return o.body->about().bits; }); },
        "How many bits all its arrays have.");
    type.def_prop_ro(
        "hashes", [](const foreign_object& o) { return o.alone([&] { return o.body->about().hashes; }); },
        "How many bits a key has.");
    type.def_prop_ro(
        "items", items_of_foreign,
        "How many different keys were inserted: an Estimate, or None where its bits do not tell.");
    type.def("__repr__", [](const foreign_object& o) {
        return nb::str("<posy.ForeignFilter: {}, {} bits>")
            .format(str_of(name_of(o.body->speaks())), o.briefly([&] { return o.body->about().bits; }));
    });
    type.def("__reduce__", reduced_foreign);
}

}  // namespace

std::unique_ptr<foreign_object> foreign_of_bytes(byte_view bytes, std::optional<dialect> as,
                                                 const dialect_options& options) {
    return object_of(value_of(foreign_filter::from_bytes(bytes, as, options)));
}

void add_foreign(nb::module_& m) {
    nb::class_<foreign_object> type(
        m, "ForeignFilter",
        "A filter in the format of another program: spark-v1, spark-v2, guava-32, guava-64, hadoop, parquet, "
        "squid, dcso, redis, bip158, leveldb, rocksdb, cassandra …\n\n"
        ">>> theirs = posy.ForeignFilter(\"spark-v1\", 1000, 0.01)\n>>> theirs.add(\"anna\")\n"
        ">>> \"anna\" in posy.from_bytes(theirs.to_bytes())\nTrue\n\n"
        "rate: of false positives, when it has its items. seed: of spark-v2 alone. jenkins: of the formats "
        "of "
        "Hadoop alone, their other hash. key: of bip158 alone, and needed there, the first 16 bytes of the "
        "block's hash.");
    type.def(
        "__init__",
        [](foreign_object* self, std::string_view format, whole<"items"> items, double rate,
           whole_32<"seed"> seed, bool jenkins, nb::handle key) {
            const auto which = member_named<dialect>("format", format);
            new (self) foreign_object(
                value_of(foreign_filter::make(which, items, rate, options_of(seed, jenkins, key))), hasher());
        },
        "format"_a, "items"_a, "rate"_a = 0.01, nb::kw_only(), "seed"_a = 0, "jenkins"_a = false,
        "key"_a = nb::none());
    add_foreign_files(type);
    add_foreign_keys(type);
    add_foreign_whole(type);
}

}  // namespace posy::python
