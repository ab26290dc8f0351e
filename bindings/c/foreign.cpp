// Filters of other programs.
#include "handles.hpp"
#include "keys.hpp"
#include "posy/base/file.hpp"

namespace {

using namespace posy::c;

// C counts the dialects from 1: 0 is none.
std::optional<posy::dialect> dialect_of(int number) {
    if (number == 0) return std::nullopt;
    if (number < 0 || number > 256 || !is_member(static_cast<posy::dialect>(number - 1)))
        throw posy::exception(posy::error::invalid("dialect is " + std::to_string(number) +
                                                   ", which is none of the constants for it"));
    return static_cast<posy::dialect>(number - 1);
}
int number_of(posy::dialect which) { return static_cast<int>(which) + 1; }

posy::dialect_options options_of(const posy_dialect_options* from) {
    if (!from) return {};
    const auto options = read(from, "options");
    posy::dialect_options all{.seed = options.seed, .jenkins = options.jenkins != 0};
    if (options.has_key != 0) all.key = posy::hash_seed{options.key_low, options.key_high};
    return all;
}

// Calls use(bytes) with the bytes of a file, and names the file in errors.
template <class Use>
auto with_file(const char* path, const Use& use) {
    using namespace posy::base;
    const auto open = [&]() -> decltype(use(posy::byte_view{})) {
        auto file = open_for_reading(path);
        if (!file) return file.error();
        const auto size = regular_size(file->get());
        if (!size) return posy::error::invalid("it is empty, or no regular file");
        const auto mapped = mapping::of(file->get(), 0, *size);
        if (!mapped) return mapped.error();
        return use(mapped->bytes());
    };
    auto used = open();
    if (!used) throw posy::exception(used.error().behind(path));
    return std::move(*used);
}

std::vector<std::byte> bytes_of(const posy_foreign& from, int dialect) {
    const auto as = dialect_of(dialect);
    return as ? *from.body->to_bytes(*as) : *from.body->to_bytes();
}

posy::byte_view bytes_of_key(std::string_view key) { return posy::as_byte_view(key); }

// A column of a Parquet file has keys of its type alone.
bool has(const posy::foreign_filter& filter, posy::byte_view key) {
    *filter.check_kind(false);
    return filter.may_contain(key);
}
bool has(const posy::foreign_filter& filter, std::uint64_t key) {
    *filter.check_kind(true);
    return filter.may_contain_integer(key);
}

void insert(posy::foreign_filter& into, posy::byte_view key) { *into.insert(key); }
void insert(posy::foreign_filter& into, std::uint64_t key) { *into.insert(posy::key_bytes(key)); }

// Calls use(key, its index) for all keys: integers, or the bytes of others.
template <class Use>
void for_each_key(const posy_keys& keys, const Use& use) {
    for (std::size_t i = 0; i < keys.count; ++i) {
        if (are_integers(keys))
            use(integers(keys)[i], i);
        else
            use(bytes_of_key(key_at(keys, i)), i);
    }
}

}  // namespace

const char* posy_dialect_name(int dialect) {
    if (dialect < 1 || dialect > 256) return nullptr;
    return name_of(static_cast<posy::dialect>(dialect - 1)).data();  // a literal
}

int posy_dialect_named(const char* name) {
    const auto found = name ? posy::named<posy::dialect>(name) : std::nullopt;
    return found ? number_of(*found) : 0;
}

posy_status posy_foreign_make(int dialect, uint64_t items, double rate, const posy_dialect_options* options,
                              posy_foreign** foreign, posy_error* error) {
    return call(error, [&] {
        posy_foreign*& made = place_for(foreign, "foreign");
        const auto which = dialect_of(dialect);
        require(which.has_value(), "dialect is 0; name the one to make");
        made = new posy_foreign{*posy::foreign_filter::make(*which, items, rate, options_of(options))};
    });
}

posy_status posy_foreign_from_bytes(const void* bytes, size_t size, int dialect,
                                    const posy_dialect_options* options, posy_foreign** foreign,
                                    posy_error* error) {
    return call(error, [&] {
        posy_foreign*& made = place_for(foreign, "foreign");
        made = new posy_foreign{*posy::foreign_filter::from_bytes(bytes_given(bytes, size, "bytes"),
                                                                  dialect_of(dialect), options_of(options))};
    });
}

posy_status posy_foreign_load(const char* path, int dialect, const posy_dialect_options* options,
                              posy_foreign** foreign, posy_error* error) {
    return call(error, [&] {
        posy_foreign*& made = place_for(foreign, "foreign");
        const auto as = dialect_of(dialect);
        const auto open = options_of(options);
        made = new posy_foreign{with_file(&given(path, "path"), [&](posy::byte_view bytes) {
            return posy::foreign_filter::from_bytes(bytes, as, open);
        })};
    });
}

posy_status posy_foreign_load_parquet(const char* path, const char* column, posy_foreign** foreign,
                                      posy_error* error) {
    return call(error, [&] {
        posy_foreign*& made = place_for(foreign, "foreign");
        const std::string name = &given(column, "column");
        made = new posy_foreign{with_file(&given(path, "path"), [&](posy::byte_view bytes) {
            return posy::foreign_filter::of_parquet_column(bytes, name);
        })};
    });
}

void posy_foreign_free(posy_foreign* foreign) { delete foreign; }

posy_status posy_foreign_insert(posy_foreign* foreign, const void* key, size_t size, posy_error* error) {
    return call(error, [&] { *given(foreign, "foreign").body->insert(bytes_of_key(key_given(key, size))); });
}

posy_status posy_foreign_insert_u64(posy_foreign* foreign, uint64_t key, posy_error* error) {
    return call(error, [&] { insert(*given(foreign, "foreign").body, key); });
}

posy_status posy_foreign_insert_many(posy_foreign* foreign, const posy_keys* keys, posy_error* error) {
    return call(error, [&] {
        auto& into = *given(foreign, "foreign").body;
        for_each_key(checked(keys), [&](auto key, std::size_t) { insert(into, key); });
    });
}

int posy_foreign_may_contain(const posy_foreign* foreign, const void* key, size_t size) {
    return ask([&] { return has(*given(foreign, "foreign").body, bytes_of_key(key_given(key, size))); });
}

int posy_foreign_may_contain_u64(const posy_foreign* foreign, uint64_t key) {
    return ask([&] { return has(*given(foreign, "foreign").body, key); });
}

posy_status posy_foreign_may_contain_many(const posy_foreign* foreign, const posy_keys* keys, bool* answers,
                                          size_t* yes, posy_error* error) {
    return call(error, [&] {
        const auto& in = *given(foreign, "foreign").body;
        const auto& all = checked(keys);
        const auto places = answers_for(all, answers, "answers");
        std::size_t count = 0;
        for_each_key(all, [&](auto key, std::size_t i) { count += places[i] = has(in, key); });
        if (yes) *yes = count;
    });
}

posy_status posy_foreign_unite(posy_foreign* into, const posy_foreign* from, posy_error* error) {
    return call(error, [&] { *given(into, "into").body->unite(*given(from, "from").body); });
}

posy_status posy_foreign_info_of(const posy_foreign* foreign, posy_foreign_info* info, posy_error* error) {
    return call(error, [&] {
        const auto& of = *given(foreign, "foreign").body;
        const auto facts = of.about();
        write(info, "info",
              {.struct_size = 0,
               .dialect = static_cast<std::uint32_t>(number_of(of.speaks())),
               .hashes = facts.hashes,
               .bits = facts.bits,
               .ones = facts.ones,
               .items = facts.items.value_or(POSY_UNKNOWN),
               .false_positive_rate = facts.false_positive_rate});
    });
}

posy_status posy_foreign_to_bytes(const posy_foreign* foreign, int dialect, void** bytes, size_t* size,
                                  posy_error* error) {
    return call(error, [&] {
        const auto& from = given(foreign, "foreign");
        given(bytes, "bytes");
        given(size, "size");
        hand_out(bytes_of(from, dialect), bytes, size);
    });
}

posy_status posy_foreign_save(const posy_foreign* foreign, const char* path, int dialect, posy_error* error) {
    return call(error, [&] {
        const auto bytes = bytes_of(given(foreign, "foreign"), dialect);
        const auto write_all = [&]() -> posy::result<void> {
            auto file = posy::base::atomic_file::create(&given(path, "path"));
            if (!file) return file.error();
            if (auto written = posy::base::write_fully(file->get(), bytes); !written) return written;
            return file->commit();
        };
        if (const auto saved = write_all(); !saved) throw posy::exception(saved.error().behind(path));
    });
}
