// posy plan: what to build and what it will cost.
#include "posy/plan.hpp"

#include <fmt/core.h>

#include <nlohmann/json.hpp>

#include "codec/choose.hpp"
#include "plan_bounds.hpp"
#include "plan_family.hpp"
#include "plot.hpp"
#include "posy/growing_filter.hpp"
#include "shape.hpp"
#include "text.hpp"
#include "tool.hpp"

namespace posy::tool {
namespace {

// The codec that `posy pack` would take for such an array.
codec_id codec_of(const plan& p) {
    const auto ones = static_cast<std::uint64_t>(p.fill * static_cast<double>(p.bits));
    return codec::choose({{}, p.bits, ones}, coding::smallest);
}

nlohmann::ordered_json to_json(const plan& p) {
    nlohmann::ordered_json j{
        {"items", p.items},
        {"bits", p.bits},
        {"hashes", p.hashes},
        {"layout", name_of(p.layout)},
        {"bits_per_item", p.bits_per_item()},
        {"fill", p.fill},
        {"false_positive_rate", p.false_positive_rate},
        {"memory_bytes", p.memory_bytes()},
        {"message_bits", p.message_bits},
        {"message_bits_per_item", p.message_bits_per_item()},
        {"message_codec", name_of(codec_of(p))},
        {"counting_memory_bytes", p.counting_memory_bytes()},
        {"counter_overflow", p.counter_overflow},
    };
    if (p.delta_bits) j["delta_bits_per_item"] = p.per_item(*p.delta_bits);
    return j;
}

std::string describe(const plan& p) {
    std::vector<std::vector<std::string>> rows{
        {"items", count(static_cast<double>(p.items))},
        {"layout", std::string(name_of(p.layout))},
        {"bits", count(static_cast<double>(p.bits)) + fmt::format(" ({:.4g} per item)", p.bits_per_item())},
        {"hashes", std::to_string(p.hashes)},
        {"false-positive rate", rate(p.false_positive_rate)},
        {"fill", fmt::format("{:.2f} %", 100 * p.fill)},
        {"memory", bytes(p.memory_bytes())},
        {"message, compressed",
         fmt::format("{} ({:.4g} bits per item)", bytes(static_cast<std::uint64_t>(p.message_bits / 8)),
                     p.message_bits_per_item())},
    };
    if (p.delta_bits) {
        rows.push_back({"delta, compressed", fmt::format("{} ({:.4g} bits per item)",
                                                         bytes(static_cast<std::uint64_t>(*p.delta_bits / 8)),
                                                         p.per_item(*p.delta_bits))});
    }
    rows.push_back(
        {"as a counting filter",
         fmt::format("{}, overflow odds {:.2g}", bytes(p.counting_memory_bytes()), p.counter_overflow)});
    std::string text;
    for (const auto& row : rows) text += fmt::format("{:<22}{}\n", row[0], row[1]);
    return text;
}

std::string describe(const std::vector<plan>& rows, bool json) {
    if (json) {
        auto all = nlohmann::ordered_json::array();
        for (const plan& p : rows) all.push_back(to_json(p));
        return all.dump(2) + "\n";
    }
    std::vector<std::vector<std::string>> cells{
        {"hashes", "bits/item", "memory bytes", "fill %", "rate", "message b/item"}};
    if (!rows.empty() && rows[0].delta_bits) cells[0].emplace_back("delta b/item");
    for (const plan& p : rows) {
        cells.push_back({std::to_string(p.hashes), fmt::format("{:.4g}", p.bits_per_item()),
                         count(static_cast<double>(p.memory_bytes())), fmt::format("{:.1f}", 100 * p.fill),
                         fmt::format("{:.3g}", p.false_positive_rate),
                         fmt::format("{:.4g}", p.message_bits_per_item())});
        if (p.delta_bits) cells.back().push_back(fmt::format("{:.4g}", p.per_item(*p.delta_bits)));
    }
    return table(cells);
}

// The filter that nobody told how many items there would be.
result<growing_filter::forecast> growing_for(const plan& p) {
    return growing_filter::expect({.rate = p.false_positive_rate, .layout = p.layout}, p.items);
}

std::string describe(const advice& a) {
    const plan& chosen = a.chosen;
    std::vector<std::vector<std::string>> rows{
        {"", "layout", "bits/item", "hashes", "rate", "message b/item"}};
    const auto add = [&](const std::string& name, const plan& p) {
        rows.push_back({name, std::string(name_of(p.layout)), fmt::format("{:.4g}", p.bits_per_item()),
                        std::to_string(p.hashes), fmt::format("{:.3g}", p.false_positive_rate),
                        fmt::format("{:.4g}", p.message_bits_per_item())});
        if (p.delta_bits) rows.back().push_back(fmt::format("{:.4g}", p.per_item(*p.delta_bits)));
    };
    if (chosen.delta_bits) rows[0].emplace_back("delta b/item");
    add("this plan", chosen);
    for (const auto& [name, p] : a.alternatives) add(name, p);
    for (const auto& [name, f, bits] : a.sealed) {
        const std::string per_item = fmt::format("{:.4g}", chosen.per_item(bits));
        rows.push_back({name, "sealed", per_item, "–", fmt::format("{:.3g}", f), per_item});
        if (chosen.delta_bits) rows.back().emplace_back("–");
    }
    if (const auto g = growing_for(chosen)) {
        rows.push_back({"growing, same rate", std::string(name_of(chosen.layout)),
                        fmt::format("{:.4g}", chosen.per_item(static_cast<double>(g->bits))),
                        std::to_string(g->hashes), fmt::format("{:.3g}", g->false_positive_rate),
                        fmt::format("{:.4g}", chosen.per_item(g->message_bits))});
        if (chosen.delta_bits) rows.back().emplace_back("–");
    }
    return "\n" + table(rows);
}

}  // namespace

void add_plan(CLI::App& app) {
    struct state {
        shape_options shape;
        family_options family;
        bounds_options bounds;
        bool json = false, table = false;
        std::string plot;
    };
    const auto s = std::make_shared<state>();
    CLI::App* command = add_command(
        app, "plan", "Advise: sizes, hashes, predicted rates and message sizes",
        "  posy plan -n 1M --fpr 0.01\n"
        "  posy plan -n 1M --bits-per-item 10 --hashes 4 --layout spread --json\n"
        "  posy plan -n 10000 --message-bits 8 --max-memory 20KiB     the packet of a compressed filter\n"
        "  posy plan -n 1M --fpr 0.02 --minimize message --delta-fraction 0.05 --plot curves.svg\n"
        "  posy plan -n 1M --difference 1000                          what reconciling two such sets takes\n"
        "  posy plan -n 1M --window 6 --value-bits 8                  window filters, maps\n"
        "  posy plan --sketch 0.0001,0.01                             sketches\n"
        "  posy plan -n 1M --fpr 0.01 --bounds --universe 2^32        how few bits there can be");
    s->shape.add_to(*command);
    s->family.add_to(*command);
    command->add_flag("--json", s->json, "Print one JSON object");
    command->add_flag("--tradeoff", s->table,
                      "Show what can be traded for what: the best plan for every number of hashes");
    s->bounds.add_to(*command);
    command->add_option("--plot", s->plot,
                        "Draw the rate against hashes and against bits per item (SVG, by gnuplot)");
    command->callback([s] {
        const wishes want = s->shape.to_wishes();
        nlohmann::ordered_json j;
        if (want.items == 0 && s->family.only_sketch()) {
            const std::string text = s->family.describe(nullptr, j);
            return print(s->json ? j.dump(2) + "\n" : text);
        }
        if (want.items == 0) throw failure("plan: say how many items there are, with --items");
        if (s->table) return print(describe(take(tradeoff(want), "plan"), s->json));
        const auto a = take(advise(want), "plan");
        if (!s->plot.empty()) plot_plan(a.chosen, s->plot);
        if (s->json) {
            j = to_json(a.chosen);
            for (const auto& [name, p] : a.alternatives) {
                j["alternatives"].push_back(to_json(p));
                j["alternatives"].back()["name"] = name;
            }
            for (const auto& [name, f, bits] : a.sealed) {
                j["sealed"].push_back({{"name", name},
                                       {"false_positive_rate", f},
                                       {"message_bits_per_item", a.chosen.per_item(bits)}});
            }
            if (const auto g = growing_for(a.chosen)) {
                j["growing"] = {{"arrays", g->arrays},
                                {"hashes", g->hashes},
                                {"bits_per_item", a.chosen.per_item(static_cast<double>(g->bits))},
                                {"false_positive_rate", g->false_positive_rate},
                                {"message_bits_per_item", a.chosen.per_item(g->message_bits)},
                                {"memory_bytes_while_growing", g->growing_bits / 8}};
            }
        }
        std::string beside = s->bounds.describe(a.chosen, want, j);
        beside += s->family.describe(&a.chosen, j);
        print(s->json ? j.dump(2) + "\n" : describe(a.chosen) + describe(a) + beside);
    });
}

}  // namespace posy::tool
