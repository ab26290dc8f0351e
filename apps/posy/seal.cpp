// posy seal: a set that will not change, in the fewest bits.
#include <fmt/core.h>
#include <unistd.h>

#include <bit>
#include <mutex>

#include "filter_options.hpp"
#include "keys.hpp"
#include "numbers.hpp"
#include "posy/theory.hpp"
#include "tool.hpp"

namespace posy::tool {
namespace {

struct options {
    key_options keys;
    hash_options hash;
    std::string output;
    double rate = 0.01;
    bool values = false;
    std::string value_field;
    unsigned value_bits = 0;
};

struct input {
    std::vector<digest> digests;
    std::vector<std::uint64_t> values;  // of a map
};

input read(const options& o, const hasher& hash) {
    input all;
    std::mutex one_at_a_time;
    for_each_block(o.keys, "reading", [&](const block& piece) {
        input mine;
        for_each_key(o.keys, piece, [&](std::string_view key, std::string_view record) {
            if (o.values) {
                const auto value = number_in(o.keys, piece, record, o.value_field);
                if (!value) return;
                mine.values.push_back(*value);
            }
            mine.digests.push_back(o.keys.hash(hash, key));
        });
        const std::lock_guard lock(one_at_a_time);
        all.digests.insert(all.digests.end(), mine.digests.begin(), mine.digests.end());
        all.values.insert(all.values.end(), mine.values.begin(), mine.values.end());
    });
    return all;
}

void report(std::uint64_t items, std::size_t size, double f) {
    if (!isatty(STDERR_FILENO)) return;
    fmt::print(stderr, "{} items in {}, {:.2f} bits each, false-positive rate {}\n",
               count(static_cast<double>(items)), bytes(size),
               8 * static_cast<double>(size) / static_cast<double>(std::max<std::uint64_t>(items, 1)),
               rate(f));
}

template <class Sealed>
void save_sealed(const options& o, const Sealed& sealed) {
    save_body(o.output, sealed);
    report(sealed.items(), sealed.bytes().size(), sealed.false_positive_rate());
}

void run(options o) {
    check_output(o.output);
    if (!o.value_field.empty() || o.value_bits != 0) o.values = true;
    if (o.values && o.value_field.empty()) {
        if (!o.keys.field.empty() && o.keys.field != "1")
            throw wrong_use("the column of the values is missing: give it with --value-field");
        o.value_field = "2";
    }
    if (o.values && o.keys.field.empty() && o.keys.json_path.empty()) o.keys.field = "1";
    o.keys.also_reads(o.value_field);
    const hasher hash(o.hash.family(), o.hash.seed());
    take(check(geometry{512, 1, layout_id::blocked, hash.family(), hash.seed()}), "seal");
    const input all = read(o, hash);
    const unsigned threads = o.keys.thread_count();
    if (!o.values)
        return save_sealed(o, take(sealed_filter::make(hash, all.digests, {o.rate, threads}), "seal"));
    if (o.value_bits == 0) {
        o.value_bits = 1;
        for (const std::uint64_t value : all.values)
            o.value_bits = std::max(o.value_bits, static_cast<unsigned>(std::bit_width(value)));
    }
    save_sealed(
        o, take(bloomier_map::make(hash, all.digests, all.values, {o.value_bits, o.rate, threads}), "seal"));
}

}  // namespace

void add_seal(command_line& app) {
    const auto o = std::make_shared<options>();
    command_line command = add_command(
        app, "seal", "Seal a set that will not change: the smallest message there is for it",
        "  posy seal urls.txt --fpr 0.01 -o urls.posy\n"
        "  posy seal prices.csv --values -o prices.posy       a map: field 1 is the key, field 2 its value\n"
        "  posy query prices.posy items.txt                   prints item and value\n"
        "A sealed set cannot be added to, united, folded or sent as a delta: seal the new set instead.");
    o->keys.add_to(command);
    o->hash.add_to(command);
    command.add_option("-o,--output FILE", o->output, "File to write; - for standard output").required();
    command.add_option("-f,--fpr RATE", o->rate, "False-positive rate, from 2^-32 to below 1")
        .shows_default();
    command.add_flag("--values", o->values, "Build a map from keys to unsigned integers");
    command.add_option(
        "--value-field COLUMN", o->value_field,
        "Column that is the value: its number or name, or its path if --json-path is given (default: 2, "
        "if the key is in column 1)");
    command
        .add_option("--value-bits BITS", o->value_bits,
                    "Bits per value, 1 to 64 (default: as many as the largest value needs)")
        .between(1, 64);
    command.runs([o] { run(*o); });
}

}  // namespace posy::tool
