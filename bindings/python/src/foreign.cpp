// posy.ForeignFilter: the filters of Spark, Guava, Hadoop, Parquet … bit for bit.
#include "foreign.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include "answers.hpp"
#include "classes.hpp"
#include "names.hpp"

namespace posy::python {
namespace {

using namespace nb::literals;

byte_view bytes_of_key(std::string_view key, std::array<std::byte, 8>&) { return as_byte_view(key); }
byte_view bytes_of_key(std::uint64_t key, std::array<std::byte, 8>& memory) {
    memory = key_bytes(key);
    return memory;
}
template <class Use>
auto with_bytes_of(auto key, const Use& use) {
    std::array<std::byte, 8> memory;
    return use(bytes_of_key(key, memory));
}

dialect_options options_of(std::uint32_t seed, bool jenkins, nb::handle key) {
    dialect_options o{.seed = seed, .jenkins = jenkins};
    if (key.is_none()) return o;
    const held_bytes bytes(key);
    if (bytes.view().size() != 16)
        throw exception(
            error::invalid("the key of a Golomb-coded set is 16 bytes: the first of the block's hash"));
    o.key = hash_seed{load_little<std::uint64_t>(bytes.view().data()),
                      load_little<std::uint64_t>(bytes.view().data() + 8)};
    return o;
}

nb::object look_up_foreign(const foreign_object& o, nb::handle source, bool skip_nulls) {
    const batch keys = counted_batch(source, skip_nulls);
    const answers<bool> found(*keys.size(), "bool");
    keys.each_key([&](auto key, std::size_t row) {
        found.at(row) = with_bytes_of(
            key, [&](byte_view bytes) { return o.briefly([&] { return o.body->may_contain(bytes); }); });
    });
    return found.array();
}

void insert_foreign(foreign_object& o, auto key) {
    with_bytes_of(key, [&](byte_view bytes) { o.briefly([&] { check_done(o.body->insert(bytes)); }); });
}

nb::dict facts_of(const foreign_object& o) {
    const auto facts = o.alone([&] { return o.body->about(); });
    nb::dict all;
    all["format"] = str_of(name_of(o.body->speaks()));
    all["bits"] = facts.bits;
    all["hashes"] = facts.hashes;
    all["ones"] = facts.ones;
    all["rate"] = facts.false_positive_rate;
    all["items"] = facts.items;
    all["integers"] = facts.integers;
    all["hash"] = facts.hash;
    return all;
}

void add_foreign_keys(nb::class_<foreign_object>& type) {
    type.def(
        "add",
        [](foreign_object& o, nb::handle key) {
            with_key(key.ptr(), {}, [&](auto bytes) { insert_foreign(o, bytes); });
        },
        "key"_a.none(), "Insert a key; an int is a long of Java's.");
    type.def(
        "update",
        [](foreign_object& o, nb::handle keys, bool skip_nulls) {
            batch(keys, skip_nulls).each_key([&](auto key, std::size_t) { insert_foreign(o, key); });
        },
        "keys"_a.none(), nb::kw_only(), "skip_nulls"_a = false, "Insert many keys.");
    type.def("__contains__", [](const foreign_object& o, nb::handle key) {
        return with_key(key.ptr(), {}, [&](auto bytes) {
            return with_bytes_of(
                bytes, [&](byte_view all) { return o.briefly([&] { return o.body->may_contain(all); }); });
        });
    });
    type.def("contains", look_up_foreign, "keys"_a.none(), nb::kw_only(), "skip_nulls"_a = false,
             "Look up many keys: an array of bools.");
}

void add_foreign_makers(nb::class_<foreign_object>& type) {
    type.def_static(
        "from_bytes",
        [](nb::handle source, std::optional<std::string> format, nb::handle key) {
            const held_bytes bytes(source);
            std::optional<dialect> which;
            if (format) which = member_named<dialect>("format", *format);
            return foreign_of_bytes(bytes.view(), which, options_of(0, false, key));
        },
        "data"_a, "format"_a = nb::none(), nb::kw_only(), "key"_a = nb::none(),
        "The filter of another program. format: needed where the bytes do not tell, for bip158 and leveldb.");
    type.def_static(
        "of_parquet_column",
        [](nb::handle source, const std::string& column) {
            const held_bytes bytes(source);
            return std::make_unique<foreign_object>(
                value_of(foreign_filter::of_parquet_column(bytes.view(), column)), hasher());
        },
        "file"_a, "column"_a, "The filters of a column, from the bytes of a Parquet file (an mmap will do).");
}

void add_foreign_whole(nb::class_<foreign_object>& type) {
    type.def(
        "__ior__",
        [](nb::handle_t<foreign_object> self, const foreign_object& other) {
            auto& into = self_of<foreign_object>(self.ptr());
            into.alone_with(other, [&] { check_done(into.body->unite(*other.body)); });
            return nb::borrow(self);
        },
        nb::is_operator());
    type.def(
        "to_bytes",
        [](const foreign_object& o) { return bytes_of(o.alone([&] { return o.body->to_bytes(); })); },
        "The bytes that its own program writes.");
    type.def("info", facts_of, "What is known of it.");
    type.def_prop_ro(
        "format", [](const foreign_object& o) { return str_of(name_of(o.body->speaks())); },
        "The name of its format.");
    type.def_prop_ro(
        "rate",
        [](const foreign_object& o) { return o.alone([&] { return o.body->about().false_positive_rate; }); },
        "The share of other keys that are taken for members now.");
    type.def("__repr__", [](const foreign_object& o) {
        return nb::str("<posy.ForeignFilter: {}, {} bits>")
            .format(str_of(name_of(o.body->speaks())), o.briefly([&] { return o.body->about().bits; }));
    });
    type.def("__reduce__", [](nb::handle_t<foreign_object> self) {
        auto& o = self_of<foreign_object>(self.ptr());
        return nb::make_tuple(nb::module_::import_("posy").attr("_foreign_from_bytes"),
                              nb::make_tuple(bytes_of(o.alone([&] { return o.body->to_bytes(); })),
                                             str_of(name_of(o.body->speaks()))));
    });
}

}  // namespace

std::unique_ptr<foreign_object> foreign_of_bytes(byte_view bytes, std::optional<dialect> as,
                                                 const dialect_options& options) {
    return std::make_unique<foreign_object>(value_of(foreign_filter::from_bytes(bytes, as, options)),
                                            hasher());
}

void add_foreign(nb::module_& m) {
    nb::class_<foreign_object> type(
        m, "ForeignFilter",
        "A filter in the format of another program: spark-v1, spark-v2, guava-32, guava-64, hadoop, parquet, "
        "squid, dcso, redis, bip158, leveldb …\n\n"
        ">>> theirs = posy.ForeignFilter(\"spark-v1\", 1000, 0.01)\n>>> theirs.add(\"anna\")\n"
        ">>> \"anna\" in posy.from_bytes(theirs.to_bytes())\nTrue\n");
    type.def(
        "__init__",
        [](foreign_object* self, std::string_view format, std::uint64_t items, double rate,
           std::uint32_t seed, bool jenkins, nb::handle key) {
            const auto which = member_named<dialect>("format", format);
            new (self) foreign_object(
                value_of(foreign_filter::make(which, items, rate, options_of(seed, jenkins, key))), hasher());
        },
        "format"_a, "items"_a, "rate"_a = 0.01, nb::kw_only(), "seed"_a = 0, "jenkins"_a = false,
        "key"_a = nb::none());
    add_foreign_makers(type);
    add_foreign_keys(type);
    add_foreign_whole(type);
}

}  // namespace posy::python
