// posy count: how often each key comes, and which come most often, in memory that does not grow with the
// keys.
//
// A Count-Min sketch and a list of candidates (posy/heavy_hitters.hpp). The conservative rule depends on the
// order of the keys, so blocks are counted in order: the same input gives the same sketch with any number of
// threads, which cut and hash the keys.
//
// Or a spectral filter, if the number of different keys is known and most counts are to be exact.
#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <deque>
#include <functional>
#include <mutex>
#include <nlohmann/json.hpp>

#include "filter_options.hpp"
#include "keys.hpp"
#include "numbers.hpp"
#include "ordered_blocks.hpp"
#include "periodically.hpp"
#include "posy/theory.hpp"
#include "tool.hpp"

namespace posy::tool {
namespace {

struct options {
    key_options keys;
    hash_options hash;
    reading_options reading;
    std::string memory, output, ask, items, every;
    std::string weight_field;  // empty: every key counts 1
    double delta = 0.01;
    std::optional<double> epsilon, threshold, wrong;
    std::uint64_t top = 10;
    bool plain = false, conservative = false, spectral = false, recurring = false, json = false;
};

// The keys of one block, ready to be counted or looked up.
struct batch {
    std::vector<std::string_view> keys;
    std::vector<digest> digests;
    std::vector<std::uint32_t> weights;  // none: all 1
    std::deque<std::string> copies;      // of keys that do not stand in the input as they are
};

std::optional<std::uint32_t> weight_of(const options& o, const block& piece, std::string_view record) {
    const auto text = text_in(o.keys, piece, record, o.weight_field);
    if (!text) return std::nullopt;
    std::uint32_t weight = 0;
    const char* end = text->data() + text->size();
    const auto [at, wrong] = std::from_chars(text->data(), end, weight);
    return wrong == std::errc{} && at == end ? std::optional(weight) : std::nullopt;
}

batch batch_of(const options& o, const hasher& hash, const block& piece) {
    batch b;
    const auto inside = [&](std::string_view key) {
        const std::less_equal<> before;
        return before(piece.text.data(), key.data()) &&
               before(key.data() + key.size(), piece.text.data() + piece.text.size());
    };
    for_each_key(o.keys, piece, [&](std::string_view key, std::string_view record) {
        if (!o.weight_field.empty()) {
            const auto weight = weight_of(o, piece, record);
            if (!weight)
                return o.keys.missing(
                    piece, record, fmt::format("a weight from 0 to 4294967295 in field {}", o.weight_field));
            b.weights.push_back(*weight);
        }
        b.digests.push_back(o.keys.hash(hash, key));
        b.keys.push_back(inside(key) ? key : b.copies.emplace_back(o.keys.shown(key)));
    });
    return b;
}

void add(heavy_hitters& hitters, const batch& b) {
    if (b.weights.empty()) return hitters.add(b.keys, b.digests);
    for (std::size_t i = 0; i < b.weights.size(); ++i) hitters.add(b.keys[i], b.digests[i], b.weights[i]);
}

void add(count_min& sketch, const batch& b) {
    if (b.weights.empty()) return sketch.add(b.digests);
    for (std::size_t i = 0; i < b.weights.size(); ++i) sketch.add(b.digests[i], b.weights[i]);
}

void add(spectral_filter& filter, const batch& b) {
    for (std::size_t i = 0; i < b.digests.size(); ++i)
        filter.insert(b.digests[i], b.weights.empty() ? 1 : b.weights[i]);
}

template <class Counts>
void count_keys_in(Counts& counts, const options& o, const std::function<void()>& show = {}) {
    std::mutex counting;
    const periodically shown(
        o.every.empty() ? std::chrono::microseconds(0) : parse_duration("--every", o.every), [&] {
            const std::lock_guard lock(counting);
            show();
        });
    for_each_block_in_order(o.keys, "counting", [&](const block& piece) {
        return [&, b = batch_of(o, counts.hash(), piece)] {
            const std::lock_guard lock(counting);
            add(counts, b);
        };
    });
}

count_min make_sketch(const options& o) {
    const hasher hash(o.hash.family(), o.hash.seed());
    const update_rule rule = o.plain ? update_rule::plain : update_rule::conservative;
    if (!o.memory.empty()) {
        const auto depth = static_cast<unsigned>(theory::count_min_depth(o.delta));
        return take(count_min::with_bytes(hash, parse_amount(o.memory), depth, rule), "count");
    }
    constexpr double usual = 1e-4;  // with the usual delta, 544 kB
    const double epsilon = o.epsilon.value_or(o.threshold ? std::min(usual, *o.threshold / 2) : usual);
    return take(count_min::with_guarantee(hash, epsilon, o.delta, rule), "count");
}

std::string to_json(const count_min& sketch, const heavy_hitters::list& list) {
    nlohmann::ordered_json j{{"total", sketch.total()},           {"epsilon", sketch.epsilon()},
                             {"delta", sketch.delta()},           {"error_bound", sketch.error_bound()},
                             {"probability", 1 - sketch.delta()}, {"memory_bytes", sketch.counters() * 4}};
    if (!list.keys.empty()) j["complete_from"] = list.complete_from;
    j["keys"] = nlohmann::ordered_json::array();
    for (const auto& [key, estimate] : list.keys) {
        const auto low = std::max(0.0, std::ceil(estimate - sketch.error_bound()));
        j["keys"].push_back({{"key", key}, {"estimate", estimate}, {"low", static_cast<std::uint64_t>(low)}});
    }
    return j.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

std::string line(const options& o, std::uint32_t estimate, std::string_view key) {
    return fmt::format("{}\t{}{}", estimate, key, o.keys.record_end());
}

std::string text_of(const options& o, const count_min& sketch, const heavy_hitters::list& list) {
    if (o.json) return to_json(sketch, list);
    std::string text;
    for (const auto& [key, estimate] : list.keys) text += line(o, estimate, key);
    return text;
}

// Prints what was found and saves; with -o - the sketch is the output.
void finish(const options& o, body_ref body, const count_min& sketch, const heavy_hitters::list& list) {
    if (!o.output.empty()) save_body(o.output, body);
    if (o.output != "-") print(text_of(o, sketch, list));
    if (sketch.total() == 0) throw answer_is_no{};
}

void run(const options& o) {
    if (!o.output.empty()) check_output(o.output);
    count_min sketch = make_sketch(o);
    if (!o.threshold && o.top == 0) {
        if (!o.every.empty())
            throw wrong_use("--every prints the most frequent keys, and --top 0 keeps none");
        count_keys_in(sketch, o);
        return finish(o, sketch, sketch, {});
    }
    auto hitters = take(o.threshold ? heavy_hitters::above(std::move(sketch), *o.threshold)
                                    : heavy_hitters::top(std::move(sketch), o.top),
                        "count");
    count_keys_in(hitters, o, [&] {
        print(text_of(o, hitters.sketch(), hitters.report()) +
              o.keys.record_end());  // an empty line behind it
    });
    finish(o, hitters, hitters.sketch(), hitters.report());
}

spectral_filter make_spectral(const options& o) {
    if (o.items.empty())
        throw failure("count: --spectral needs the number of different keys; give it with --items");
    wishes w{.items = parse_amount(o.items)};
    if (o.memory.empty()) {
        w.rate = o.wrong.value_or(0.01);
    } else {
        // The recurring minimum has 50 % more counters, and a bit per first counter, in whole words.
        const double counter = o.recurring ? 4 + 2 + 1.0 / 8 : 4, words = o.recurring ? 12 : 0;
        w.bits_per_item = std::floor((static_cast<double>(parse_amount(o.memory)) - words) / counter) /
                          static_cast<double>(w.items);
    }
    geometry g = spectral_geometry(w, "count");
    g.hash = o.hash.family();
    g.seed = o.hash.seed();
    return take(spectral_filter::make(g, o.recurring ? spectral_method::recurring_minimum
                                         : o.plain   ? spectral_method::minimum_selection
                                                     : spectral_method::minimum_increase),
                "count");
}

void run_spectral(const options& o) {
    if (o.output.empty() && !o.json)
        throw failure("count: a spectral filter keeps no keys to print; save it with -o and use --ask");
    if (!o.output.empty()) check_output(o.output);
    spectral_filter filter = make_spectral(o);
    count_keys_in(filter, o);
    if (!o.output.empty()) save_body(o.output, filter);
    if (o.json && o.output != "-") {
        const geometry& g = filter.geometry();
        const auto keys = parse_amount(o.items);
        const nlohmann::ordered_json j{{"total", filter.items()},
                                       {"method", name_of(filter.method())},
                                       {"counters", g.bits},
                                       {"hashes", g.hashes},
                                       {"layout", name_of(g.layout)},
                                       {"memory_bytes", spectral_filter::memory_bytes(g, filter.method())},
                                       {"wrong", spectral_filter::expected_wrong(g, keys)}};
        print(j.dump(2) + "\n");
    }
    if (filter.items() == 0) throw answer_is_no{};
}

// Estimates from whatever `posy count -o` saved.
struct estimator {
    hasher hash;
    std::function<void(std::span<const digest>, std::span<std::uint32_t>)> estimate;
};

estimator estimator_in(const any_body& body, const std::string& name) {
    const auto of_sketch = [](const count_min& s) {
        return estimator{s.hash(), [&s](auto digests, auto out) { s.estimate(digests, out); }};
    };
    if (const auto* hitters = std::get_if<heavy_hitters>(&body)) return of_sketch(hitters->sketch());
    if (const auto* sketch = std::get_if<count_min>(&body)) return of_sketch(*sketch);
    if (const auto* filter = std::get_if<spectral_filter>(&body)) {
        return {filter->hash(), [filter](auto digests, auto out) {
                    std::ranges::transform(digests, out.begin(),
                                           [&](const digest& d) { return filter->estimate(d); });
                }};
    }
    throw failure(name + ": this command needs a sketch that 'posy count -o' saved, and this is " +
                  kind_name(body));
}

void ask(const options& o) {
    o.keys.refuse_both_from_stdin(o.ask);
    const message m = load_message(o.ask, o.reading.limits());
    const estimator saved = estimator_in(m.body, display_name(o.ask));
    bool found = false;
    for_each_block_in_order(o.keys, "asking", [&](const block& piece) {
        const batch b = batch_of(o, saved.hash, piece);
        std::vector<std::uint32_t> estimates(b.keys.size());
        saved.estimate(b.digests, estimates);
        std::string text;
        for (std::size_t i = 0; i < estimates.size(); ++i) text += line(o, estimates[i], b.keys[i]);
        const bool any = std::ranges::any_of(estimates, [](std::uint32_t n) { return n > 0; });
        return [&found, any, text = std::move(text)] {
            print(text);
            found = found || any;
        };
    });
    if (!found) throw answer_is_no{};
}

std::string between_0_and_1(const std::string& text) {
    const auto share = parse_number(text);
    return share && *share > 0 && *share < 1 ? std::string() : text + " is not between 0 and 1";
}

// After --ask and --field.
void add_sketch_options(command_line& command, options& o) {
    command.add_option(
        "--weight-field COLUMN", o.weight_field,
        "Column with the weight of the key, an unsigned integer: its number or name, or its path "
        "if --json-path is given (default: each key counts once)");
    command
        .add_option("--epsilon SHARE", o.epsilon,
                    "Largest error as a share of the total count (default: 0.0001, or half of --threshold if "
                    "that is less)")
        .check(between_0_and_1);
    command.add_option("--delta PROBABILITY", o.delta, "Probability that an error is larger than --epsilon")
        .check(between_0_and_1)
        .shows_default();
    command
        .add_option("--memory SIZE", o.memory,
                    "Memory for the counters in bytes, e.g. 64MiB (default: what the errors asked for take)")
        .excludes("--epsilon");
    command.add_flag("--conservative", o.conservative,
                     "Count by conservative update, which has smaller errors (default)");
    command
        .add_flag("--plain", o.plain,
                  "Count by plain update, so that united sketches are exactly the sketch of all keys")
        .excludes("--conservative");
    command.add_option("--top N", o.top, "Number of most frequent keys to keep and print; 0 for none")
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
    for (const char* counting : {"--weight-field", "--epsilon", "--delta", "--memory", "--conservative",
                                 "--plain", "--top", "--threshold", "--output", "--every", "--json"})
        command.find(counting).excludes("--ask");
}

// After all others, which some of these exclude.
void add_spectral_options(command_line& command, options& o) {
    const option spectral = command.add_flag(
        "--spectral", o.spectral, "Count in a spectral filter: most estimates are exact; needs --items");
    for (const char* other : {"--ask", "--epsilon", "--delta", "--top", "--threshold", "--every"})
        spectral.excludes(other);
    command
        .add_option(
            "-n,--items N", o.items,
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

void add_count(command_line& app) {
    const auto o = std::make_shared<options>();
    command_line command = add_command(
        app, "count", "Count keys in a sketch and print the most frequent",
        "  posy count access.log --field 1 --delimiter ' '        the ten busiest clients\n"
        "  posy count --threshold 0.01 --words book.txt           words that are 1 % of all\n"
        "  posy count sales.csv --field 2 --weight-field 5        the largest sums\n"
        "  posy count --memory 64MiB --top 100 -o day.posy urls.txt\n"
        "  posy count --ask day.posy candidates.txt               how often were these seen\n"
        "  posy count --spectral --items 20k -o words.posy --words book.txt\n"
        "An estimate is never below the true count, and above it by more than epsilon times the total\n"
        "only with probability delta. A spectral filter needs the number of different keys, and its\n"
        "estimates are exact except for a share --wrong of the keys. The largest estimate, 4294967295,\n"
        "stands for any count from there on.\n"
        "Exit status: 0 if a key was counted (--ask: was seen), 1 if none, 2 on an error.");
    o->keys.add_to(command);
    o->hash.add_to(command);
    command.add_option("--ask FILE", o->ask,
                       "Count nothing; print the estimates that the sketch in this file, or at this URL, has "
                       "for the keys (default: none)");
    o->reading.add_to(command);
    add_sketch_options(command, *o);
    add_spectral_options(command, *o);
    command.runs([o] {
        if (!o->weight_field.empty() && o->keys.field.empty() && o->keys.json_path.empty())
            throw wrong_use("--weight-field needs --field or --json-path, which say where the key is");
        o->keys.also_reads(o->weight_field);
        !o->ask.empty() ? ask(*o) : o->spectral ? run_spectral(*o) : run(*o);
    });
}

}  // namespace posy::tool
