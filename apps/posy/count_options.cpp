#include "count_options.hpp"

#include <fmt/core.h>

#include "numbers.hpp"
#include "posy/candidate_set.hpp"

namespace posy::tool {
namespace {

std::string between_0_and_1(const std::string& text) {
    const auto share = parse_number(text);
    return share && *share > 0 && *share < 1 ? std::string() : text + " is not between 0 and 1";
}

// What is counted, and under which key.
void add_field_options(command_line& command, count_options& o) {
    command.add_option(
        "--weight-field COLUMN", o.weight_field,
        "Column with the weight of the key, an unsigned integer: its number or name, or its path "
        "if --json-path is given (default: each key counts once)");
    command.add_option("--group-field COLUMN", o.group_field,
                       "Column with the group of the key; prints the --top keys of each group "
                       "(default: no groups)");
    command.add_option("--groups N", o.groups, "Number of groups to print, those with the highest counts")
        .needs("--group-field")
        .shows_default();
    command
        .add_option("--distinct-field COLUMN", o.distinct_field,
                    "Column with a value of the key; prints the --top keys with the most different values, "
                    "and how many (default: counts keys, not values)")
        .excludes("--weight-field")
        .excludes("--group-field");
    command.add_option("--prefix BITS", o.prefix,
                       "Keys are IP addresses, counted by networks of this prefix length, e.g. 24 (IPv6: "
                       "twice that) or 24/56 (default: keys are counted as they are)");
}

void add_sketch_options(command_line& command, count_options& o) {
    command
        .add_option("--epsilon SHARE", o.epsilon,
                    "Largest error as a share of the total count (default: 0.0001, or half of --threshold if "
                    "that is less)")
        .check(between_0_and_1);
    command.add_option("--delta PROBABILITY", o.delta, "Probability that an error is larger than --epsilon")
        .check(between_0_and_1)
        .shows_default();
    add_amount(command, "--memory SIZE", o.memory,
               "Memory for the counters in bytes, e.g. 64MiB (default: what the errors asked for take)")
        .excludes("--epsilon");
    command
        .add_option("--counter-bits BITS", o.counter_bits,
                    "Size of a counter: 32 hold 4294967295 (default: 64 with --weight-field, else 32)")
        .one_of({"32", "64"});
    command.add_flag("--conservative", o.conservative,
                     "Count by conservative update, which has smaller errors (default)");
    command
        .add_flag("--plain", o.plain,
                  "Count by plain update, so that united sketches are exactly the sketch of all keys")
        .excludes("--conservative");
}

void add_list_options(command_line& command, count_options& o) {
    add_amount(command, "--top N", o.top, "Number of most frequent keys to print; 0 for none")
        .shows_default();
    command
        .add_option("--threshold SHARE", o.threshold,
                    "Print all keys with at least this share of the total count, between 0 and 1, instead of "
                    "the --top most frequent (default: none)")
        .check(between_0_and_1)
        .excludes("--top");
    command.add_option("-o,--output FILE", o.output,
                       "File for the sketch; - for standard output, and then nothing else is printed "
                       "(default: not saved)");
    command.add_option(
        "--every TIME", o.every,
        "Print the counts so far at this interval, too, e.g. 10s, with an empty line behind them "
        "(default: only at the end)");
    command.add_flag("--json", o.json, "Print a JSON object with the keys, the total and the error bound");
    const std::vector<std::string> counting{
        "--weight-field", "--group-field",  "--distinct-field", "--epsilon",  "--delta",
        "--memory",       "--counter-bits", "--conservative",   "--plain",    "--output",
        "--every",        "--hash",         "--seed",           "--seed-file"};
    for (const std::string& name : counting) command.find(name).excludes("--ask").excludes("--list");
    for (const char* name : {"--prefix", "--field", "--csv", "--tsv", "--header", "--delimiter",
                             "--json-path", "--words", "--trim", "--integers", "--skip-missing"})
        command.find(name).excludes("--list");  // which reads no keys
    for (const char* name : {"--top", "--threshold", "--json"}) command.find(name).excludes("--ask");
    for (const char* name : {"--group-field", "--distinct-field"})
        command.find(name).excludes("--threshold").excludes("--output");
}

// After all others, which some of these exclude.
void add_spectral_options(command_line& command, count_options& o) {
    const option spectral = command.add_flag(
        "--spectral", o.spectral, "Count in a spectral filter: most estimates are exact; needs --items");
    for (const char* other : {"--ask", "--list", "--epsilon", "--delta", "--top", "--threshold", "--every",
                              "--group-field", "--distinct-field"})
        spectral.excludes(other);
    add_amount(
        command, "-n,--items N", o.items,
        "Number of different keys that --spectral plans for, e.g. 20k (no default; --spectral needs it)")
        .needs("--spectral");
    command
        .add_option("--wrong SHARE", o.wrong,
                    "Largest share of the keys whose estimate by --spectral is too high (default: 0.01)")
        .needs("--spectral")
        .excludes("--memory")
        .check(between_0_and_1);
    command
        .add_flag(
            "--recurring", o.recurring,
            "With --spectral: smaller errors for very skewed counts, in 50 % more memory; an estimate can "
            "rarely be too low, and filters of this kind cannot be united")
        .needs("--spectral")
        .excludes("--conservative")
        .excludes("--plain");
}

}  // namespace

void count_options::add_to(command_line& command) {
    keys.add_to(command);
    hash.add_to(command);
    command.add_option("--ask FILE", ask,
                       "Count nothing; print the estimates that the sketch in this file, or at this URL, has "
                       "for the keys (default: none)");
    command
        .add_option("--list FILE", saved,
                    "Count nothing; print the most frequent keys of the sketch in this file, or at this URL "
                    "(default: none)")
        .excludes("--ask");
    reading.add_to(command);
    add_field_options(command, *this);
    add_sketch_options(command, *this);
    add_list_options(command, *this);
    add_spectral_options(command, *this);
}

void count_options::check() const {
    const bool has_columns = !keys.field.empty() || !keys.json_path.empty();
    for (const auto& [option, column] : {std::pair("--weight-field", weight_field),
                                         {"--group-field", group_field},
                                         {"--distinct-field", distinct_field}})
        if (!column.empty() && !has_columns)
            throw wrong_use(std::string(option) +
                            " needs --field or --json-path, which say where the key is");
    if (!prefix.empty() && (keys.words || keys.integers || keys.several_fields()))
        throw wrong_use(
            "--prefix counts addresses, so it does not go with --words, --integers or several "
            "fields");
    if (top == 0 && (!every.empty() || !group_field.empty() || !distinct_field.empty()))
        throw wrong_use("--top 0 keeps no keys to print");
    constexpr std::uint64_t most = candidate_set::max_room / spare;
    if (top > most) throw wrong_use(fmt::format("--top is at most {}", most));
    if (groups == 0) throw wrong_use("--groups is at least 1");
    if (!every.empty() && parse_duration("--every", every).count() == 0)
        throw wrong_use("--every " + every + ": the interval must be longer than 0, e.g. 10s");
    if (!saved.empty() && !keys.files.empty())
        throw wrong_use(
            "--list prints the keys of a saved sketch and reads no others; look keys up with --ask");
}

}  // namespace posy::tool
