// posy build: build a filter from keys, on all cores.
#include <fmt/core.h>
#include <unistd.h>

#include <mutex>

#include "filter_options.hpp"
#include "foreign.hpp"
#include "keys.hpp"
#include "numbers.hpp"
#include "ordered_blocks.hpp"
#include "posy/base/names.hpp"
#include "posy/parallel.hpp"
#include "posy/plan.hpp"
#include "streaming.hpp"
#include "tool.hpp"

namespace posy::tool {
namespace {

struct options {
    key_options keys;
    filter_options shape;
    hash_options hash = hash_options::of_plan();
    foreign_options foreign;
    std::string output;
    bool counting = false, growing = false, streaming = false;
    unsigned counter_bits = 4;
};

using trained = std::variant<bloom_filter, counting_filter, growing_filter>;

trained make(const options& o, std::uint64_t items, std::optional<hash_family> hash, hash_seed seed) {
    // An empty set has the smallest filter there is, and it is a valid one.
    wishes want = o.shape.to_wishes(std::max<std::uint64_t>(items, 1));
    want.hash = hash;
    const plan p = take(choose(want), "build");
    const geometry g = p.geometry(p.hash, seed);
    const auto planned = [&](auto filter) {
        filter.set_planned(p.promise());
        return trained(std::move(filter));
    };
    if (o.counting) return planned(take(counting_filter::make(g, o.counter_bits), "build"));
    return planned(take(bloom_filter::make(g), "build"));
}

void fill(trained& filter, const options& o) {
    if (auto* plain = std::get_if<bloom_filter>(&filter)) {
        insert_keys(*plain, o.keys, plain->hash(), "building");
        return;
    }
    std::mutex one_at_a_time;
    auto& counting = std::get<counting_filter>(filter);
    for_each_batch(o.keys, counting.hash(), "building", [&](std::span<const digest> batch) {
        const std::lock_guard lock(one_at_a_time);
        counting.insert(batch);
    });
}

// The hash of keys that come before it is known how many there are.
hasher hash_of_pipe(const options& o, hash_seed seed) {
    constexpr double many = 1 << 30;
    const double rate = o.shape.to_wishes().rate.value_or(growing_filter::options().rate);
    return hasher(o.hash.given().value_or(fastest_hash(many, rate)), seed);
}

// A pipe can be read only once, and its number of keys is unknown. If only a rate was asked for, a growing
// filter takes the keys as they come and is folded down at the end: to a plain filter if one array was
// enough, else to a few arrays. With --growing it stays as it is, so that it can take more keys later.
trained grow(const options& o, hash_seed seed) {
    const wishes want = o.shape.to_wishes();
    const hasher hash = hash_of_pipe(o, seed);
    growing_filter::options how;
    how.rate = want.rate.value_or(how.rate);
    how.layout = want.layout.value_or(how.layout);
    how.hashes = want.hashes;
    how.hash = hash;
    auto filter = take(growing_filter::make(how), "build");
    std::mutex one_at_a_time;
    for_each_batch(o.keys, hash, "building", [&](std::span<const digest> batch) {
        const std::lock_guard lock(one_at_a_time);
        take(filter.insert(batch), "build");
    });
    if (o.growing) return filter;
    if (auto plain = filter.fold_down()) return std::move(*plain);
    take(filter.shrink(), "build");
    return filter;
}

// Otherwise the digests are kept, 16 bytes per key, and the filter is sized when all have come.
trained build_from_pipe(const options& o, hash_seed seed) {
    if (o.shape.only_rate() && !o.counting) return grow(o, seed);
    std::vector<digest> all;
    std::mutex one_at_a_time;
    const hasher hash = hash_of_pipe(o, seed);
    for_each_batch(o.keys, hash, "building", [&](std::span<const digest> batch) {
        const std::lock_guard lock(one_at_a_time);
        all.insert(all.end(), batch.begin(), batch.end());
    });
    trained filter = make(o, all.size(), hash.family(), seed);
    if (auto* plain = std::get_if<bloom_filter>(&filter)) {
        insert(*plain, all, o.keys.thread_count());
    } else {
        std::get<counting_filter>(filter).insert(std::span<const digest>(all));
    }
    return filter;
}

// More items help down to what the format can have at all.
void warn_if_rate_is_missed(const foreign_filter& filter, const options& o, double asked,
                            std::uint64_t inserted) {
    const double is = filter.about().false_positive_rate;
    if (is <= 2 * asked) return;
    const double least = std::min(is, foreign_filter::least_rate(filter.speaks(), inserted));
    const std::string what_to_do =
        least > asked
            ? fmt::format("the best that the format {} can have with these keys is {}, whatever its size",
                          name_of(filter.speaks()), rate(least))
            : "build it with more --items";
    fmt::print(stderr, "posy: {}: its false-positive rate is {} instead of {}; {}\n",
               display_name(o.output, true), rate(is), rate(asked), what_to_do);
}

// A filter of another program, filled in the order of the keys: some formats are chains.
void build_foreign(const options& o) {
    if (!o.shape.has_items() && !seekable(o.keys))
        throw failure("--format: keys from a pipe cannot be counted before; give their number with --items");
    const std::uint64_t counted = o.shape.has_items() ? 0 : std::max<std::uint64_t>(count_keys(o.keys), 1);
    const wishes want = o.shape.to_wishes(counted);
    const dialect_options with =
        o.foreign.to_dialect_options(o.hash.has_seed() ? std::optional(o.hash.seed()) : std::nullopt);
    const auto filter = take(
        foreign_filter::make(*o.foreign.asked_for(), want.items, want.rate.value_or(0.01), with), "build");
    std::uint64_t inserted = 0;
    for_each_block_in_order(o.keys, "building", [&](const block& piece) {
        std::vector<std::string> keys;
        for_each_key(o.keys, piece,
                     [&](std::string_view key, std::string_view) { keys.push_back(o.keys.bytes_of(key)); });
        return [&, keys = std::move(keys)] {
            for (const std::string& key : keys) take(filter->insert(as_byte_view(key)), "build");
            inserted += keys.size();
        };
    });
    const auto bytes = take(filter->to_bytes(), "build");
    if (const auto again = foreign_filter::from_bytes(bytes, filter->speaks(), with); !again)
        throw failure("build: the program would not read it: " + text_of(again.error()) +
                      "; give more --items");
    save_foreign(o.output, bytes);
    warn_if_rate_is_missed(*filter, o, want.rate.value_or(0.01), inserted);
}

void run(const options& o) {
    if (o.streaming && o.output != "-") throw failure("--streaming writes to standard output: -o -");
    check_output(o.output);
    if (o.foreign.asked_for()) return build_foreign(o);
    const hash_seed seed = o.hash.seed();
    if (o.growing && (!o.shape.only_rate() || o.counting))
        throw failure("--growing can only be combined with --fpr, --layout and --hashes");
    const bool known = o.shape.has_items(), sized = (known || seekable(o.keys)) && !o.growing;
    trained filter =
        sized ? make(o, known ? 0 : count_keys(o.keys), o.hash.given(), seed) : build_from_pipe(o, seed);
    if (sized) fill(filter, o);
    std::visit(
        [&](const auto& either) { o.streaming ? print_streaming(either) : save_body(o.output, either); },
        filter);

    if (const auto* plain = std::get_if<bloom_filter>(&filter)) warn_if_past_plan(*plain, o.output);
    if (const auto* counting = std::get_if<counting_filter>(&filter))
        warn_if_past_plan(counting->projection(), o.output);
    if (const auto* grown = std::get_if<growing_filter>(&filter); grown && isatty(STDERR_FILENO)) {
        fmt::print(stderr, "{} items, {} in {} arrays, false-positive rate {}\n",
                   count(static_cast<double>(grown->items())), bytes(grown->bits() / 8),
                   grown->arrays().size(), rate(grown->false_positive_rate()));
    } else if (isatty(STDERR_FILENO)) {
        const auto* counting = std::get_if<counting_filter>(&filter);
        const bloom_filter& plain = counting ? counting->projection() : std::get<bloom_filter>(filter);
        fmt::print(stderr, "{} items, {}, false-positive rate {}\n",
                   count(static_cast<double>(*plain.items())), bytes(plain.bits().words().size_bytes()),
                   rate(plain.false_positive_rate()));
    }
}

}  // namespace

void add_build(command_line& app) {
    const auto o = std::make_shared<options>();
    command_line command =
        add_command(app, "build", "Build a filter from keys",
                    "  posy build urls.txt -o urls.posy                       1 % false positives\n"
                    "  posy build a.txt b.txt --fpr 0.001 --layout spread -o f.posy\n"
                    "  posy build cities.csv --field 1 -o - | ssh host posy query - people.csv --field 3\n"
                    "  posy build --counting --items 1M -o cache.posy         keys can be removed\n"
                    "  find . -print0 | posy build --null --items 100k -o names.posy");
    o->keys.add_to(command);
    o->shape.add_to(command, "the number of keys");
    o->hash.add_to(command);
    o->foreign.add_to(
        command,
        "Build a filter of another program, with its hash and layout; of the options above only "
        "--items and --fpr go with it, and --seed with spark-v2");
    o->foreign.add_choices_to(command);
    command.add_option("-o,--output FILE", o->output, "File to write; - for standard output").required();
    command.add_flag("--counting", o->counting, "Keep a counter per bit, so that keys can be removed later");
    command.add_flag("--growing", o->growing,
                     "Build a growing filter: it keeps its rate for any number of keys, including those "
                     "added or united later");
    command.add_flag("--streaming", o->streaming,
                     "Print the filter as a line of text, for a mapper of Hadoop streaming: 'filter', a tab "
                     "and the message in base64");
    command.add_option("--counter-bits BITS", o->counter_bits, "Bits per counter with --counting, 4 or 8")
        .one_of({"4", "8"})
        .needs("--counting")
        .shows_default();
    for (const char* own : {"--bits-per-item", "--layout", "--hashes", "--hash", "--max-memory",
                            "--max-hashes", "--message-bits", "--minimize", "--delta-bits",
                            "--delta-fraction", "--counting", "--growing", "--streaming"})
        command.find("--format").excludes(own);
    command.runs([o] { run(*o); });
}

}  // namespace posy::tool
