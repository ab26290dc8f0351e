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

nlohmann::ordered_json rows(const count_min& sketch, const std::vector<heavy_hitter>& keys) {
    auto all = nlohmann::ordered_json::array();
    for (const auto& [key, estimate] : keys) {
        const auto error = static_cast<std::uint64_t>(std::floor(sketch.error_bound()));
        all.push_back({{"key", key}, {"estimate", estimate}, {"low", estimate - std::min(estimate, error)}});
    }
    return all;
}

std::string printed(const nlohmann::ordered_json& j) {
    return j.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

std::string to_json(const count_min& sketch, const heavy_hitters::list& list) {
    auto j = head(sketch);
    if (!list.keys.empty()) {
        j["complete_from"] = list.complete_from;
        if (sketch.rule() == update_rule::plain) j["stable_from"] = list.stable_from;
    }
    j["keys"] = rows(sketch, list.keys);
    return printed(j);
}

}  // namespace

std::string count_line(const count_options& o, std::uint64_t estimate, std::string_view key) {
    return fmt::format("{}\t{}{}", estimate, key, o.keys.record_end());
}

std::string text_of(const count_options& o, const count_min& sketch, const heavy_hitters::list& list) {
    if (o.json) return to_json(sketch, list);
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
        return printed(j);
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
        return printed(j);
    }
    std::string text;
    for (const auto& each : list.keys)
        text += count_line(o, static_cast<std::uint64_t>(std::llround(each.different.value)), each.key);
    return text;
}

}  // namespace posy::tool
