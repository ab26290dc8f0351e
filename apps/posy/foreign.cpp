#include "foreign.hpp"

#include <fmt/core.h>
#include <sys/stat.h>

#include <filesystem>

#include "info_sheet.hpp"
#include "input_stream.hpp"
#include "posy/base/file.hpp"
#include "posy/base/names.hpp"
#include "source.hpp"
#include "tool.hpp"

namespace posy::tool {
namespace {

// The most that a file may hold, compressed or not: as of a message from a stranger.
std::size_t most_bytes(const std::string& path) {
    std::error_code not_a_file;
    const auto size = std::filesystem::file_size(path, not_a_file);
    return not_a_file ? read_limits().max_bytes : read_limits().most(size);
}
constexpr std::size_t key_digits = 32;  // the key is the first 16 bytes of the hash

// The first bytes of a file, without taking them from what reads it next. None of what is no file.
std::string first_bytes(const std::string& path) {
    struct stat about {};
    if (path == "-" || is_url(path) || stat(path.c_str(), &about) != 0 || !S_ISREG(about.st_mode)) return {};
    const auto file = take(base::open_for_reading(path), path);
    std::string first(8, '\0');
    const auto got = pread(file.get(), first.data(), first.size(), 0);
    first.resize(got < 0 ? 0 : static_cast<std::size_t>(got));
    return first;
}

hash_seed key_of(const std::string& hex) {
    std::array<std::byte, 16> bytes{};
    if (hex.size() < key_digits || hex.find_first_not_of("0123456789abcdefABCDEF") != std::string::npos)
        throw failure(
            "--block-hash: at least 32 hexadecimal digits, as the bytes of the hash stand in a block");
    for (std::size_t i = 0; i < bytes.size(); ++i)
        bytes[i] = static_cast<std::byte>(std::stoi(hex.substr(2 * i, 2), nullptr, 16));
    return {load_little<std::uint64_t>(bytes.data()), load_little<std::uint64_t>(bytes.data() + 8)};
}

std::unique_ptr<foreign_filter> load_column(const std::string& path, const std::string& column,
                                            bool takes_column) {
    if (column.empty())
        throw failure(path + (takes_column ? ": a Parquet file; --column says which filter of it"
                                           : ": a Parquet file, whose filters are written with its rows and "
                                             "cannot be united; 'posy query --column' asks them"));
    const auto file = take(base::open_for_reading(path), path);
    const auto mapped =
        take(base::mapping::of(file.get(), 0, base::regular_size(file.get()).value_or(0)), path);
    return take(foreign_filter::of_parquet_column(mapped.bytes(), column), path);
}

}  // namespace

void foreign_options::add_to(command_line& command, const std::string& what) {
    command.add_option("--format FORMAT", format, what).one_of(names_of<dialect>());
    command
        .add_option("--block-hash HEX", block_hash,
                    "With bip158: the hash of the block, whose first 16 bytes are the key of the set")
        .needs("--format");
}

void foreign_options::add_column_to(command_line& command) {
    takes_column = true;
    command.add_option("--column NAME", column,
                       "The column of a Parquet file whose filters are asked; a.b is b in a structure");
}

void foreign_options::add_choices_to(command_line& command) {
    command
        .add_flag(
            "--jenkins", jenkins,
            "With hadoop, hadoop-counting, hadoop-dynamic and hadoop-retouched: Jenkins' hash in place of "
            "Murmur")
        .needs("--format");
}

std::optional<dialect> foreign_options::asked_for() const { return named<dialect>(format); }

dialect_options foreign_options::to_dialect_options() const {
    dialect_options o;
    if (!block_hash.empty() && asked_for() != dialect::bip158)
        throw failure("--block-hash: of all formats only bip158 has a key");
    if (!block_hash.empty()) o.key = key_of(block_hash);
    if (block_hash.empty() && asked_for() == dialect::bip158)
        throw failure(
            "--format bip158: the key of a set is the hash of its block; give it with --block-hash");
    return o;
}

dialect_options foreign_options::to_dialect_options(std::optional<hash_seed> seed) const {
    dialect_options o = to_dialect_options();
    if (jenkins && !format.starts_with(name_of(dialect::hadoop)))
        throw failure("--jenkins: only the formats of Hadoop have that hash");
    o.jenkins = jenkins;
    if (!seed) return o;
    if (asked_for() != dialect::spark_v2) throw failure("--seed: of all formats only spark-v2 has a seed");
    if (seed->high != 0 || seed->low >> 32 != 0) throw failure("--seed: that of spark-v2 is below 2^32");
    o.seed = static_cast<std::uint32_t>(seed->low);
    return o;
}

std::unique_ptr<foreign_filter> load_foreign(const std::string& path, const foreign_options& o) {
    const std::string name = display_name(path);
    auto which = o.asked_for();
    const std::string first = which ? "" : first_bytes(path);
    if (foreign_filter::is_parquet_file(as_byte_view(first)))
        return load_column(path, o.column, o.takes_column);
    if (!o.column.empty())
        throw failure(name + ": --column is for a Parquet file that is given by name, without --format");
    if (!which && (first.empty() || is_posy(first))) return nullptr;
    const std::string bytes = read_all(path, most_bytes(path));
    if (!which) which = foreign_filter::recognise(as_byte_view(bytes));
    if (!which && !foreign_filter::why_unknown(as_byte_view(bytes))) {
        if (std::string_view("POSY").starts_with(bytes.substr(0, 4))) return nullptr;
        throw failure(name +
                      ": at byte 0: not a Posy message (it does not start with \"POSY\"); if it is a filter "
                      "of another program, name its format with --format (docs/dialects.md)");
    }
    return take(foreign_filter::from_bytes(as_byte_view(bytes), which, o.to_dialect_options()), name);
}

void refuse_foreign(const std::string& path) {
    refuse_foreign(path, ", which this command does not take; query, info, union and convert do");
}

void refuse_foreign(const std::string& path, const std::string& why) {
    const std::string first = first_bytes(path);
    if (first.empty() || is_posy(first)) return;
    if (foreign_filter::is_parquet_file(as_byte_view(first)))
        throw failure(path + ": a Parquet file; 'posy query' asks the filters of its columns");
    constexpr std::size_t of_text = std::size_t{64}
                                    << 20;  // a longer file is no filter that a word list is taken for
    const auto size = std::filesystem::file_size(path);
    if (size > of_text) return;
    if (const auto which = foreign_filter::recognise(as_byte_view(read_all(path, most_bytes(path)))))
        throw failure(fmt::format("{}: a filter of the format {}{}", path, name_of(*which), why));
}

error with_hint_at_format(error why, const std::string& path) {
    if (path == "-" && why.kind == error_kind::damaged && why.offset == 0)
        why.message +=
            "; if it is a filter of another program, query, info, union and convert read it from a "
            "pipe with --format (docs/dialects.md)";
    return why;
}

void save_foreign(const std::string& path, byte_view bytes) {
    if (path == "-") return print({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
    auto file = take(base::atomic_file::create(path), path);
    take(base::write_fully(file.get(), bytes), path);
    take(file.commit(), path);
}

std::string describe(const foreign_filter& filter, const std::string& name, bool json) {
    const auto about = filter.about();
    sheet s;
    s.add_name("file", name);
    s.add("kind", name_of(filter.speaks()), "kind",
          "filter of the format " + std::string(name_of(filter.speaks())));
    s.add_number("bits", about.bits, "bits");
    s.add_number("hashes", about.hashes, "hashes");
    s.add("hash", about.hash, "hash", about.hash);
    if (about.planned) {
        s.add("planned_items", about.planned->items, "items planned",
              (about.planned->stated ? "" : "about ") + count(static_cast<double>(about.planned->items)) +
                  (about.planned->stated ? "" : ", by its hashes"));
    }
    if (about.items) s.add_number("items", *about.items, "items");
    if (about.different_items) s.add_estimate(*about.different_items);
    s.add("fill", static_cast<double>(about.ones) / static_cast<double>(about.bits), "fill",
          fixed(100 * static_cast<double>(about.ones) / static_cast<double>(about.bits), 2) + " %");
    s.add_rate("false_positive_rate", about.false_positive_rate, "false-positive rate");
    if (about.planned)
        s.add("planned_rate", about.planned->rate, "  planned",
              (about.planned->stated ? "" : "about ") + rate(about.planned->rate));
    if (const auto bytes = filter.to_bytes()) s.add_bytes("message_bytes", bytes->size(), "size, unpacked");
    return s.print(json);
}

}  // namespace posy::tool
