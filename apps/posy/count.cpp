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
#include <cmath>
#include <functional>
#include <mutex>
#include <nlohmann/json.hpp>

#include "count_batch.hpp"
#include "count_report.hpp"
#include "numbers.hpp"
#include "ordered_blocks.hpp"
#include "periodically.hpp"
#include "posy/estimate.hpp"
#include "posy/theory.hpp"
#include "stop_signal.hpp"

namespace posy::tool {
namespace {

// For each group that is printed, and each key of it; groups are not united.
constexpr std::uint64_t spare_in_groups = 4;

void add(heavy_hitters& hitters, const count_batch& b) {
    if (b.weights.empty()) return hitters.add(b.keys, b.digests);
    for (std::size_t i = 0; i < b.weights.size(); ++i) hitters.add(b.keys[i], b.digests[i], b.weights[i]);
}

void add(count_min& sketch, const count_batch& b) {
    if (b.weights.empty()) return sketch.add(b.digests);
    for (std::size_t i = 0; i < b.weights.size(); ++i) sketch.add(b.digests[i], b.weights[i]);
}

void add(spectral_filter& filter, const count_batch& b) {
    for (std::size_t i = 0; i < b.digests.size(); ++i) filter.insert(b.digests[i], b.weight(i));
}

void add(group_hitters& hitters, const count_batch& b) {
    for (std::size_t i = 0; i < b.keys.size(); ++i)
        hitters.add({b.groups[i], b.of_groups[i], b.keys[i], b.digests[i]}, b.weight(i));
}

void add(distinct_hitters& hitters, const count_batch& b) {
    for (std::size_t i = 0; i < b.keys.size(); ++i) hitters.add(b.keys[i], b.digests[i], b.values[i]);
}

template <class Counts>
void count_keys_in(Counts& counts, const count_options& o, const std::function<void()>& show = {}) {
    std::mutex counting;
    const count_reader reader(o);
    const periodically shown(
        o.every.empty() ? std::chrono::microseconds(0) : parse_duration("--every", o.every), [&] {
            const std::lock_guard lock(counting);
            show();
        });
    for_each_block_in_order(o.keys, "counting", [&](const block& piece) {
        return [&, b = reader.read(counts.hash(), piece)] {
            const std::lock_guard lock(counting);
            add(counts, b);
        };
    });
}

count_min make_sketch(const count_options& o) {
    const hasher hash(o.hash.family(), o.hash.seed());
    const update_rule rule = o.plain ? update_rule::plain : update_rule::conservative;
    if (!o.memory.empty()) {
        const auto depth = static_cast<unsigned>(theory::count_min_depth(o.delta));
        const std::uint64_t least = depth * bytes_of(o.width());
        if (parse_amount(o.memory) < least)
            throw failure(fmt::format("count: --memory {}: {} rows of one counter each take {} bytes",
                                      o.memory, depth, least));
        return take(count_min::with_bytes(hash, parse_amount(o.memory), depth, rule, o.width()), "count");
    }
    constexpr double usual = 1e-4;  // with the usual delta, 544 kB
    const double epsilon = o.epsilon.value_or(o.threshold ? std::min(usual, *o.threshold / 2) : usual);
    return take(count_min::with_guarantee(hash, epsilon, o.delta, rule, o.width()), "count");
}

// With an empty line behind it; an object is a line of its own.
void print_so_far(const count_options& o, std::string text) {
    if (!o.json) text += o.keys.record_end();
    print(text);
}

// Prints what was found and saves; with -o - the sketch is the output.
void finish(const count_options& o, body_ref body, const count_min& sketch, const heavy_hitters::list& list) {
    if (!o.output.empty()) save_body(o.output, body);
    if (o.output != "-") print(text_of(o, sketch, list));
    warn_of_errors(sketch, list.keys);
    if (sketch.total() == 0) throw answer_is_no{};
}

// With a threshold, all that are above it.
heavy_hitters::list list_of(const count_options& o, const heavy_hitters& hitters) {
    return o.threshold ? hitters.report() : hitters.report(o.top);
}

void run(const count_options& o) {
    if (!o.output.empty()) check_output(o.output);
    count_min sketch = make_sketch(o);
    if (!o.threshold && o.top == 0) {
        count_keys_in(sketch, o);
        return finish(o, sketch, sketch, {});
    }
    auto hitters = take(o.threshold ? heavy_hitters::above(std::move(sketch), *o.threshold)
                                    : heavy_hitters::top(std::move(sketch), count_options::spare * o.top),
                        "count");
    count_keys_in(hitters, o, [&] { print_so_far(o, text_of(o, hitters.sketch(), list_of(o, hitters))); });
    finish(o, hitters, hitters.sketch(), list_of(o, hitters));
}

// Groups, or keys with different values: counted and printed, not saved.
template <class Hitters>
void run_unsaved(const count_options& o, Hitters hitters) {
    count_keys_in(hitters, o, [&] { print_so_far(o, text_of(o, hitters)); });
    print(text_of(o, hitters));
    if (hitters.sketch().total() == 0) throw answer_is_no{};
}

spectral_filter make_spectral(const count_options& o) {
    if (o.items.empty())
        throw failure("count: --spectral needs the number of different keys; give it with --items");
    wishes w{.items = parse_amount(o.items)};
    if (o.memory.empty()) {
        w.rate = o.wrong.value_or(0.01);
    } else {
        // The recurring minimum has 50 % more counters, and a bit per first counter, in whole words.
        const auto each = static_cast<double>(bytes_of(o.width()));
        const double counter = o.recurring ? 1.5 * each + 1.0 / 8 : each, words = o.recurring ? 12 : 0;
        w.bits_per_item = std::floor((static_cast<double>(parse_amount(o.memory)) - words) / counter) /
                          static_cast<double>(w.items);
    }
    geometry g = spectral_geometry(w, "count");
    g.hash = o.hash.family();
    g.seed = o.hash.seed();
    return take(spectral_filter::make(g,
                                      o.recurring ? spectral_method::recurring_minimum
                                      : o.plain   ? spectral_method::minimum_selection
                                                  : spectral_method::minimum_increase,
                                      o.width()),
                "count");
}

// More different keys than planned. The number is an estimate: beyond twice its 95 % range, so that one run
// in 10,000 warns by chance.
void warn_if_past_plan(const spectral_filter& filter, std::uint64_t planned) {
    const bloom_filter keys = take(filter.projection(), "count");
    const estimate different = estimate_items(keys);
    if (different.value - 2 * (different.value - different.low) <= static_cast<double>(planned)) return;
    fmt::print(
        stderr,
        "posy: {} or more different keys were counted, and --items planned for {}: some {:.2g} % of the "
        "estimates are too high; count again with a higher --items\n",
        tool::count(different.low), tool::count(static_cast<double>(planned)),
        100 * keys.false_positive_rate());
}

void warn_if_crowded(const spectral_filter& filter, const std::string& name) {
    constexpr double many = 0.1;
    const double wrong = take(filter.projection(), name).false_positive_rate();
    if (wrong > many)
        fmt::print(stderr,
                   "posy: {}: it has many keys for its size: some {:.2g} % of the estimates are too high\n",
                   name, 100 * wrong);
}

void run_spectral(const count_options& o) {
    if (o.output.empty() && !o.json)
        throw failure("count: a spectral filter keeps no keys to print; save it with -o and use --ask");
    if (!o.output.empty()) check_output(o.output);
    spectral_filter filter = make_spectral(o);
    count_keys_in(filter, o);
    warn_if_past_plan(filter, parse_amount(o.items));
    if (!o.output.empty()) save_body(o.output, filter);
    if (o.json && o.output != "-") {
        const geometry& g = filter.geometry();
        const auto keys = parse_amount(o.items);
        const nlohmann::ordered_json j{{"total", filter.items()},
                                       {"method", name_of(filter.method())},
                                       {"counters", g.bits},
                                       {"counter_bits", 8 * bytes_of(filter.counter_width())},
                                       {"hashes", g.hashes},
                                       {"layout", name_of(g.layout)},
                                       {"memory_bytes", filter.memory_bytes()},
                                       {"wrong", spectral_filter::expected_wrong(g, keys)}};
        print(j.dump(2) + "\n");
    }
    if (filter.items() == 0) throw answer_is_no{};
}

// Estimates from whatever `posy count -o` saved.
struct estimator {
    hasher hash;
    std::function<void(std::span<const digest>, std::span<std::uint64_t>)> estimate;
};

failure no_sketch(const any_body& body, const std::string& name) {
    return failure(name + ": this command needs a sketch that 'posy count -o' saved, and this is " +
                   kind_name(body));
}

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
    throw no_sketch(body, name);
}

void ask(const count_options& o) {
    o.keys.refuse_both_from_stdin(o.ask);
    const message m = load_message(o.ask, o.reading.limits());
    if (const auto* filter = std::get_if<spectral_filter>(&m.body))
        warn_if_crowded(*filter, display_name(o.ask));
    const estimator saved = estimator_in(m.body, display_name(o.ask));
    const count_reader reader(o);
    bool found = false;
    for_each_block_in_order(o.keys, "asking", [&](const block& piece) {
        const count_batch b = reader.read(saved.hash, piece);
        std::vector<std::uint64_t> estimates(b.keys.size());
        saved.estimate(b.digests, estimates);
        std::string text;
        for (std::size_t i = 0; i < estimates.size(); ++i) text += count_line(o, estimates[i], b.keys[i]);
        const bool any = std::ranges::any_of(estimates, [](std::uint64_t n) { return n > 0; });
        return [&found, any, text = std::move(text)] {
            print(text);
            found = found || any;
        };
    });
    if (!found) throw answer_is_no{};
}

// The keys of a saved sketch, or of a union of several. Says so if others may be as frequent.
void list(const count_options& o) {
    const message m = load_message(o.saved, o.reading.limits());
    const std::string name = display_name(o.saved);
    const auto* hitters = std::get_if<heavy_hitters>(&m.body);
    if (hitters == nullptr) {
        if (std::holds_alternative<count_min>(m.body) || std::holds_alternative<spectral_filter>(m.body))
            throw failure(name + ": this sketch was saved without keys, so it can only be asked (--ask)");
        throw no_sketch(m.body, name);
    }
    if (o.threshold && *o.threshold < hitters->phi())
        throw failure(
            fmt::format("{}: this sketch has kept the keys with a share of at least {}, and no others", name,
                        hitters->phi()));
    auto found = list_of(o, *hitters);
    const double least = o.threshold.value_or(0) * static_cast<double>(hitters->sketch().total());
    std::erase_if(found.keys,
                  [&](const heavy_hitter& each) { return static_cast<double>(each.count) < least; });
    print(text_of(o, hitters->sketch(), found));
    warn_of_errors(hitters->sketch(), found.keys);
    const std::uint64_t dropped = hitters->candidates().dropped();
    if (dropped > (found.keys.empty() ? 0 : found.keys.back().count))
        fmt::print(
            stderr,
            "posy: {}: keys seen up to {} times may be missing in this list; count with a higher --top "
            "to keep more of them\n",
            name, dropped);
    if (found.keys.empty()) throw answer_is_no{};
}

void count(const count_options& o) {
    const auto room = [](std::uint64_t shown, std::uint64_t times) {
        return std::min(shown, candidate_set::max_room) * times;
    };
    if (!o.ask.empty()) return ask(o);
    if (!o.saved.empty()) return list(o);
    if (o.spectral) return run_spectral(o);
    if (!o.distinct_field.empty())
        return run_unsaved(
            o, take(distinct_hitters::make(make_sketch(o), room(o.top, count_options::spare)), "count"));
    if (o.group_field.empty()) return run(o);
    const group_hitters::rooms rooms{room(o.groups, spare_in_groups), room(o.top, spare_in_groups)};
    run_unsaved(o, take(group_hitters::make(make_sketch(o), rooms), "count"));
}

}  // namespace

void add_count(command_line& app) {
    const auto o = std::make_shared<count_options>();
    command_line command = add_command(
        app, "count", "Count keys in a sketch and print the most frequent",
        "  posy count access.log --field 1 --delimiter ' '        the ten busiest clients\n"
        "  posy count --threshold 0.01 --words book.txt           words that are 1 % of all\n"
        "  posy count sales.csv --field 2 --weight-field 5        the largest sums\n"
        "  posy count log.csv --field 1 --prefix 24/56            the busiest networks\n"
        "  posy count log.csv --field url --group-field country   the top pages of each country\n"
        "  posy count flows.csv --field src --distinct-field dst  who talks to the most others\n"
        "  posy count --memory 64MiB --top 100 -o day.posy urls.txt\n"
        "  posy count --ask day.posy candidates.txt               how often were these seen\n"
        "  posy union hour-*.posy | posy count --list -           the top keys of the day\n"
        "  posy count --spectral --items 20k -o words.posy --words book.txt\n"
        "An estimate is never below the true count, and above it by more than epsilon times the total\n"
        "only with probability delta. A spectral filter needs the number of different keys, and its\n"
        "estimates are exact except for a share --wrong of the keys. The number of different values\n"
        "is exact up to 128, and then has a standard error of 3.25 %. The largest value of a counter\n"
        "(--counter-bits) stands for any count from there on. SIGINT and SIGTERM end the input: what was\n"
        "read until then is printed and saved.\n"
        "Exit status: 0 if a key was counted (--ask: was seen), 1 if none, 2 on an error.");
    o->add_to(command);
    command.runs([o] {
        o->check();
        for (const std::string& column : {o->weight_field, o->group_field, o->distinct_field})
            o->keys.also_reads(column);
        // What was read until a signal is printed and saved.
        if (o->ask.empty() && o->saved.empty()) o->keys.stop = stop_on_signal();
        count(*o);
    });
}

}  // namespace posy::tool
