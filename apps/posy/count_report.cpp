#include "count_report.hpp"

#include <fmt/core.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "numbers.hpp"

namespace posy::tool {
namespace {

nlohmann::ordered_json head(const count_min& sketch) {
    return {{"total", sketch.total()},
            {"epsilon", sketch.epsilon()},
            {"delta", sketch.delta()},
            {"error_bound", sketch.error_bound()},
            {"probability", 1 - sketch.delta()},
            {"counter_bits", 8 * bytes_of(sketch.counter_width())},
            {"memory_bytes", sketch.memory_bytes()}};
}

// The true count may be anything from here on.
bool is_saturated(const count_min& sketch, std::uint64_t estimate) {
    return estimate >= largest_of(sketch.counter_width());
}

nlohmann::ordered_json rows(const count_min& sketch, const std::vector<heavy_hitter>& keys) {
    auto all = nlohmann::ordered_json::array();
    for (const auto& [key, estimate] : keys) {
        const auto error = static_cast<std::uint64_t>(std::floor(sketch.error_bound()));
        all.push_back({{"key", key}, {"estimate", estimate}, {"low", estimate - std::min(estimate, error)}});
        if (is_saturated(sketch, estimate)) all.back()["saturated"] = true;
    }
    return all;
}

// In one line if there are to be several of them.
std::string printed(const count_options& o, const nlohmann::ordered_json& j) {
    return j.dump(o.every.empty() ? 2 : -1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) +
           "\n";
}

std::string to_json(const count_options& o, const count_min& sketch, const heavy_hitters::list& list) {
    auto j = head(sketch);
    if (!list.keys.empty()) {
        j["complete_from"] = list.complete_from;
        if (sketch.rule() == update_rule::plain) j["stable_from"] = list.stable_from;
    }
    j["keys"] = rows(sketch, list.keys);
    return printed(o, j);
}

}  // namespace

std::string count_line(const count_options& o, std::uint64_t estimate, std::string_view key) {
    return fmt::format("{}\t{}{}", estimate, key, o.keys.record_end());
}

void warn_of_errors(const count_min& sketch, const std::vector<heavy_hitter>& keys) {
    if (keys.empty()) return;
    const double least = static_cast<double>(keys.back().count);
    if (is_saturated(sketch, keys.front().count))
        fmt::print(stderr, "posy: a count of {} means that or more; {}\n", keys.front().count,
                   sketch.counter_width() == counter_width::bits_32 ? "--counter-bits 64 holds larger ones"
                                                                    : "no counter holds more");
    if (sketch.error_bound() > least)
        fmt::print(stderr,
                   "posy: these counts may be up to {} too high, which is more than the least of them; give "
                   "more --memory or a lower --epsilon\n",
                   tool::count(std::floor(sketch.error_bound())));
}

std::string text_of(const count_options& o, const count_min& sketch, const heavy_hitters::list& list) {
    if (o.json) return to_json(o, sketch, list);
    std::string text;
    for (const auto& [key, estimate] : list.keys) text += count_line(o, estimate, key);
    return text;
}

std::string text_of(const count_options& o, const group_hitters& hitters) {
    const auto groups = hitters.report(o.groups, o.top);
    if (o.json) {
        auto j = head(hitters.sketch());
        j["groups_complete_from"] = hitters.groups_complete_from();
        j["groups"] = nlohmann::ordered_json::array();
        for (const auto& each : groups)
            j["groups"].push_back({{"group", each.name},
                                   {"estimate", each.count},
                                   {"complete_from", each.complete_from},
                                   {"keys", rows(hitters.sketch(), each.keys)}});
        return printed(o, j);
    }
    std::string text;
    for (const auto& each : groups)
        for (const auto& [key, estimate] : each.keys) text += count_line(o, estimate, each.name + "\t" + key);
    return text;
}

std::string text_of(const count_options& o, const distinct_hitters& hitters) {
    const auto list = hitters.report(o.top);
    if (o.json) {
        auto j = head(hitters.sketch());
        j["complete_from"] = list.complete_from;
        j["standard_error"] = distinct_counter::standard_error;
        j["keys"] = nlohmann::ordered_json::array();
        for (const auto& each : list.keys)
            j["keys"].push_back(
                {{"key", each.key}, {"different", tool::to_json(each.different)}, {"estimate", each.count}});
        return printed(o, j);
    }
    std::string text;
    for (const auto& each : list.keys)
        text += count_line(o, static_cast<std::uint64_t>(std::llround(each.different.value)), each.key);
    return text;
}

}  // namespace posy::tool
