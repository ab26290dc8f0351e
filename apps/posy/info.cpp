// posy info: what a filter is, what is in it, how good it is now.
#include <fmt/core.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "posy/estimate.hpp"
#include "posy/plan.hpp"
#include "text.hpp"
#include "tool.hpp"

namespace posy::tool {
namespace {

nlohmann::ordered_json number_or_null(double x) {
    return std::isfinite(x) ? nlohmann::ordered_json(x) : nlohmann::ordered_json(nullptr);
}

nlohmann::ordered_json to_json(filter_ref filter, const std::string& name) {
    const bloom_filter& plain = filter.plain();
    const geometry& g = plain.geometry();
    const estimate items = estimate_items(plain);
    nlohmann::ordered_json j{
        {"file", name},
        {"kind", filter.counting() ? "counting filter" : "filter"},
        {"bits", g.bits},
        {"hashes", g.hashes},
        {"layout", name_of(g.layout)},
        {"hash", name_of(g.hash)},
        {"seed", fmt::format("0x{:016x}{:016x}", g.seed.high, g.seed.low)},
        {"items", nullptr},
        {"estimated_items",
         {{"value", number_or_null(items.value)},
          {"low", number_or_null(items.low)},
          {"high", number_or_null(items.high)}}},
        {"ones", plain.ones()},
        {"fill", plain.fill()},
        {"false_positive_rate", plain.false_positive_rate()},
        {"memory_bytes", plain.bits().words().size_bytes()},
    };
    if (plain.items()) {
        j["items"] = *plain.items();
        if (const auto p = predict(*plain.items(), g))
            j["planned_false_positive_rate"] = p->false_positive_rate;
    }
    if (const counting_filter* counting = filter.counting()) {
        j["counter_bits"] = counting->counters().width();
        j["saturated_counters"] = counting->saturated();
        j["counter_bytes"] = counting->counters().cells().words().size_bytes();
    }
    return j;
}

std::string describe(filter_ref filter) {
    const bloom_filter& plain = filter.plain();
    const geometry& g = plain.geometry();
    std::string text;
    const auto row = [&](std::string_view what, const std::string& value) {
        text += fmt::format("{:<22}{}\n", what, value);
    };
    const counting_filter* counting = filter.counting();
    row("kind",
        counting ? fmt::format("counting filter, {}-bit counters", counting->counters().width()) : "filter");
    row("bits", count(static_cast<double>(g.bits)));
    row("hashes", fmt::format("{}, {}", g.hashes, name_of(g.layout)));
    row("hash", fmt::format("{}, seed {}", name_of(g.hash),
                            g.seed.high != 0 ? fmt::format("0x{:x}{:016x}", g.seed.high, g.seed.low)
                                             : std::to_string(g.seed.low)));
    row("items inserted", plain.items() ? count(static_cast<double>(*plain.items())) : "unknown");
    row("different items", range(estimate_items(plain)) + " at 95 %");
    row("fill", fmt::format("{:.2f} %", 100 * plain.fill()));
    row("false-positive rate", rate(plain.false_positive_rate()));
    if (plain.items()) {
        if (const auto p = predict(*plain.items(), g)) row("  as planned", rate(p->false_positive_rate));
    }
    row("memory", bytes(plain.bits().words().size_bytes()));
    if (counting) {
        row("counters", bytes(counting->counters().cells().words().size_bytes()));
        row("saturated counters", count(static_cast<double>(counting->saturated())));
    }
    return text;
}

}  // namespace

void add_info(CLI::App& app) {
    struct state {
        std::vector<std::string> files;
        bool json = false;
    };
    const auto s = std::make_shared<state>();
    CLI::App* command =
        add_command(app, "info", "Show what a filter is, what it holds and how good it is now",
                    "  posy info urls.posy\n"
                    "  posy info --json *.posy | jq .false_positive_rate");
    command->add_option("FILES", s->files, "Filters; - for standard input")->required();
    command->add_flag("--json", s->json, "Print one JSON object a filter");
    command->callback([s] {
        std::string text;  // all or nothing: a stream that turns out to be damaged prints only its error
        for_each_filter(s->files, [&](const any_filter& filter, const std::string& name) {
            if (s->json) {
                text += to_json(filter, name).dump(2) + "\n";
            } else {
                text +=
                    fmt::format("{}{:<22}{}\n", text.empty() ? "" : "\n", "file", name) + describe(filter);
            }
        });
        print(text);
    });
}

}  // namespace posy::tool
