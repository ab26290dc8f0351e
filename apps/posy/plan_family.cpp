#include "plan_family.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "filter_options.hpp"
#include "numbers.hpp"
#include "posy/count_min.hpp"
#include "posy/intersection_plan.hpp"
#include "posy/message_size.hpp"
#include "posy/reconcile/plan.hpp"
#include "posy/sealed_filter.hpp"
#include "posy/spectral_filter.hpp"
#include "posy/theory.hpp"
#include "posy/window_filter.hpp"
#include "tool.hpp"

namespace posy::tool {
namespace {

std::string row(const std::string& what, const std::string& value) {
    return fmt::format("{:<22}{}\n", what, value);
}

// "0.001,0.05" → 0.001 and 0.05; "64MiB" → 64MiB and 0.01, the usual odds of `posy count`.
std::pair<std::string, double> sketch_wish(const std::string& text) {
    const std::size_t comma = text.find(',');
    const double odds = comma == std::string::npos ? 0.01 : parse_share(text.substr(comma + 1)).value_or(0);
    if (!(odds > 0 && odds < 1))
        throw failure("plan: --sketch " + text + ": after the comma, give a probability between 0 and 1");
    return {text.substr(0, comma), odds};
}

// The exact way starts with symbols, the whole set or a part of it, as the sketches say.
std::string way_of(const reconcile::forecast& f) {
    if (f.listed > 0.995) return "the whole set";
    if (f.listed < 0.005) return "symbols";
    return fmt::format("whole set in {:.0f} %, else symbols", 100 * f.listed);
}

}  // namespace

void family_options::add_to(command_line& command) {
    command.add_option(
        "--window N", generations_,
        "Also plan a filter of recently seen keys with this number of generations; --items is then the "
        "number of keys per window, where a key counts once in each generation that sees it (default: none)");
    command.add_option("--value-bits BITS", value_bits_,
                       "Also plan a Bloomier map with values of this many bits, 1 to 64 (default: none)");
    add_amount(command, "--difference N", difference_,
               "Also plan the reconciliation of two such sets that differ by this many items, e.g. 1k "
               "(default: none)");
    add_amount(command, "--items-there N", items_there_,
               "With --difference: number of items in the other set (default: --items)")
        .needs("--difference");
    add_amount(command, "--intersect N", intersect_,
               "Also plan the filter by which a machine with this many items finds those in both sets, e.g. "
               "1k, and names them in 64 bits each (default: none)");
    command.add_flag(
        "--spectral", spectral_,
        "Also plan a spectral filter, which estimates how often each of --items different keys came");
    command.add_option(
        "--sketch SKETCH", sketch_,
        "Also plan a Count-Min sketch, by its largest error as a share of the total or by its memory in "
        "bytes, and after a comma the probability of a larger error (default: 0.01): 0.0001,0.01 "
        "or 64MiB,0.01");
}

std::string family_options::describe(const plan* filter, std::optional<double> wished,
                                     nlohmann::ordered_json& json) const {
    std::optional<plan> beside;
    if (filter) beside = *filter;
    if (beside && wished) beside->false_positive_rate = *wished;
    std::string text;
    if (beside && generations_) text += "\n" + window(*beside, json["window"]);
    if (beside && value_bits_) text += "\n" + map(*beside, json["map"]);
    if (beside && !difference_.empty()) text += "\n" + reconciliation(*beside, json["reconciliation"]);
    if (beside && !intersect_.empty()) text += "\n" + intersection(*beside, json["intersection"]);
    if (beside && spectral_) text += "\n" + spectral(*beside, json["spectral"]);
    if (!sketch_.empty()) text += "\n" + sketch(json["sketch"]);
    return beside ? text : text.substr(1);
}

// The rates if keys come evenly: when a slot begins, its filter empty, and when it ends. And the most
// that the rate is for any pattern: the promise.
std::string family_options::window(const plan& beside, nlohmann::ordered_json& json) const {
    const unsigned g = *generations_;
    const plan one = take(
        window_filter::plan_generation({beside.items, beside.false_positive_rate}, g, beside.layout), "plan");
    // Some of the last g slots have one key more than the others.
    const std::uint64_t few = beside.items / g;
    const double less = few == 0 ? 0 : take(predict(few, one.geometry()), "plan").false_positive_rate;
    const auto rate_of = [&](std::uint64_t full, std::uint64_t less_full) {
        return -std::expm1(static_cast<double>(full) * std::log1p(-one.false_positive_rate) +
                           static_cast<double>(less_full) * std::log1p(-less));
    };
    const std::uint64_t fuller = beside.items % g;
    const double low = rate_of(fuller, g - fuller), high = rate_of(fuller + 1, g - fuller);
    const double most = beside.false_positive_rate, longest = 1 + 1.0 / g;
    const std::uint64_t memory = (g + 1) * one.memory_bytes();
    const std::uint64_t most_memory = window_filter::most_arrays(g) * one.memory_bytes();
    json = {{"generations", g},
            {"bits_per_array", one.bits},
            {"hashes", one.hashes},
            {"memory_bytes", memory},
            {"memory_bytes_at_worst", most_memory},
            {"remembered_at_least_windows", 1},
            {"forgotten_after_windows", longest},
            {"false_positive_rate_low", low},
            {"false_positive_rate", high},
            {"false_positive_rate_at_worst", most}};
    return row("window", fmt::format("{} filters of {} bits and {} hashes", g + 1,
                                     count(static_cast<double>(one.bits)), one.hashes)) +
           row("  memory", fmt::format("{} ({:.4g} bits per item)", bytes(memory),
                                       beside.per_item(8 * static_cast<double>(memory)))) +
           row("    at worst", fmt::format("{}, if keys come in bursts", bytes(most_memory))) +
           row("  remembered for", fmt::format("1 to {:.4g} times the window", longest)) +
           row("  false-positive rate",
               fmt::format("{:.3g} when a slot begins, {:.3g} when it ends, expected to stay below {:.3g}",
                           low, high, most));
}

std::string family_options::map(const plan& beside, nlohmann::ordered_json& json) const {
    const double bits =
        theory::sealed_bits(static_cast<double>(beside.items), beside.false_positive_rate, *value_bits_);
    if (*value_bits_ == 0 || *value_bits_ > 64) throw failure("plan: --value-bits: values have 1 to 64 bits");
    if (!std::isfinite(bits))
        throw failure(fmt::format(
            "plan: --value-bits: no Bloomier map has a rate of {:.3g}; ask for another with --fpr",
            beside.false_positive_rate));
    const double found = theory::sealed_rate(static_cast<double>(beside.items), beside.false_positive_rate);
    const message_size size = expected_sealed_message(bits);
    json = {{"value_bits", *value_bits_},    {"false_positive_rate", found},
            {"message_bits", bits},          {"message_bits_per_item", beside.per_item(bits)},
            {"message_bytes", size.total()}, {"frame_bytes", size.frame}};
    return row("Bloomier map", fmt::format("{} ({:.4g} bits per item, {} of them the value)",
                                           bytes(static_cast<std::uint64_t>(bits / 8)), beside.per_item(bits),
                                           *value_bits_)) +
           row("  with its frame", tool::bytes(size.total())) + row("  a value for others", rate(found));
}

// The filter of --items goes there, and the names of what it lets through come back.
std::string family_options::intersection(const plan& beside, nlohmann::ordered_json& json) const {
    constexpr double name_bits = 64;
    const std::uint64_t there = parse_amount(intersect_);
    const auto p = plan_intersection(beside.items, there, name_bits);
    const auto names = static_cast<std::uint64_t>(name_bits / 8) * std::min(beside.items, there);
    const auto total = static_cast<std::uint64_t>(p.total_bits / 8);
    json = {{"items_there", there},
            {"filter_bits", p.bits},
            {"hashes", p.hashes},
            {"false_positive_rate", p.rate},
            {"false_positives", p.false_positives},
            {"message_bytes", total},
            {"names_bytes", names}};
    const std::string filter = p.bits == 0 ? "none: names are fewer bytes"
                                           : fmt::format("filter of {} bits and {} hashes",
                                                         count(static_cast<double>(p.bits)), p.hashes);
    return row("intersection", filter) +
           row("  false positives", fmt::format("{} of {} names", count(std::round(p.false_positives)),
                                                count(static_cast<double>(there)))) +
           row("  filter and these", bytes(total)) + row("  names of the fewer", bytes(names));
}

std::string family_options::reconciliation(const plan& beside, nlohmann::ordered_json& json) const {
    const std::uint64_t there = items_there_.empty() ? beside.items : parse_amount(items_there_);
    const auto sizes = take(reconcile::set_sizes::of(beside.items, there, parse_amount(difference_)), "plan");
    // The hash of `posy reconcile`, whose seed is in each message.
    const hasher hash = take(reconcile::fresh_hasher(), "plan");
    std::vector<std::vector<std::string>> rows{
        {"reconciliation", "bytes", "±", "at most", "round trips", "found %", "by"}};
    for (const auto how : {reconcile::method::exact, reconcile::method::filter, reconcile::method::tree}) {
        const auto f =
            take(reconcile::expect(sizes, {.method = how}, reconcile::digest_width::half, hash), "plan");
        const bool exact = how == reconcile::method::exact;
        const std::string name(name_of(how));
        const auto whole = [](double amount) { return count(std::round(amount)); };
        rows.push_back({name, whole(f.bytes), whole(f.deviation), whole(f.most),
                        fmt::format("{:.1f}", f.round_trips), fmt::format("{:.2f}", 100 * f.found),
                        exact ? way_of(f) : "10 bits per item"});
        json[name] = {{"bytes", f.bytes},     {"deviation", f.deviation},
                      {"most_bytes", f.most}, {"round_trips", f.round_trips},
                      {"found", f.found},     {"found_deviation", f.found_deviation}};
        if (exact) json[name]["whole_set"] = f.listed;
    }
    return table(rows);
}

// What `posy count --spectral` makes for this number of keys and this rate of wrong answers.
std::string family_options::spectral(const plan& beside, nlohmann::ordered_json& json) const {
    const geometry g =
        spectral_geometry({.items = beside.items, .rate = beside.false_positive_rate}, "plan: --spectral");
    const auto memory_by = [&](spectral_method method) { return spectral_filter::memory_bytes(g, method); };
    const std::uint64_t memory = memory_by(spectral_method::minimum_increase);
    const std::uint64_t recurring = memory_by(spectral_method::recurring_minimum);
    const double wrong = spectral_filter::expected_wrong(g, beside.items);
    const double absent = spectral_filter::expected_wrong(g, beside.items + 1);
    json = {{"counters", g.bits},
            {"hashes", g.hashes},
            {"layout", name_of(g.layout)},
            {"memory_bytes", memory},
            {"memory_bytes_recurring", recurring},
            {"wrong", wrong},
            {"wrong_absent_keys", absent}};
    return row("spectral filter",
               fmt::format("{} counters, {} hashes", count(static_cast<double>(g.bits)), g.hashes)) +
           row("  memory", fmt::format("{}; with recurring minimum {}", bytes(memory), bytes(recurring))) +
           row("  wrong estimates", fmt::format("{} with --plain, fewer otherwise", rate(wrong))) +
           row("  absent keys seen", rate(absent));
}

std::string family_options::sketch(nlohmann::ordered_json& json) const {
    const auto [size, odds] = sketch_wish(sketch_);
    const double depth = theory::count_min_depth(odds);
    const auto epsilon = parse_share(size);
    const bool share = epsilon && *epsilon < 1;
    if (share && !(*epsilon > 0))
        throw failure("plan: --sketch " + sketch_ + ": give an error above 0, or a memory such as 64MiB");
    const double width =
        share ? theory::count_min_width(*epsilon)
              : std::floor(static_cast<double>(parse_amount(size)) / sizeof(std::uint32_t) / depth);
    if (width < 1 || width * depth > static_cast<double>(count_min::max_counters) ||
        depth > count_min::max_depth)
        throw failure("plan: --sketch " + sketch_ +
                      ": a sketch has at most 2^32 counters in at most 32 rows");
    const auto counters = static_cast<std::uint64_t>(width * depth);
    const auto rows = static_cast<unsigned>(depth);
    json = {{"width", static_cast<std::uint64_t>(width)},
            {"depth", rows},
            {"memory_bytes", counters * sizeof(std::uint32_t)},
            {"epsilon", theory::count_min_epsilon(width)},
            {"delta", theory::count_min_delta(rows)}};
    return row("sketch", fmt::format("{} counters in {} rows", count(static_cast<double>(counters)), rows)) +
           row("  memory", bytes(counters * sizeof(std::uint32_t))) +
           row("  estimates", fmt::format("never too low, and too high by more than {:.4g} of the total",
                                          theory::count_min_epsilon(width))) +
           row("", fmt::format("only with probability {:.3g}", theory::count_min_delta(rows)));
}

}  // namespace posy::tool
