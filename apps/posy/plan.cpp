// posy plan: what to build and what it will cost.
#include "posy/plan.hpp"

#include <fmt/core.h>

#include <nlohmann/json.hpp>

#include "filter_options.hpp"
#include "numbers.hpp"
#include "plan_bounds.hpp"
#include "plan_family.hpp"
#include "plan_plot.hpp"
#include "posy/growing_filter.hpp"
#include "posy/message_size.hpp"
#include "tool.hpp"

namespace posy::tool {
namespace {

using json = nlohmann::ordered_json;

// The sizes of a message: the whole, and the frame alone.
void add_message(json& j, const message_size& size) {
    j["message_bytes"] = size.total();
    j["frame_bytes"] = size.frame;
}

json to_json(const plan& p, const counting_plan& c) {
    json j{{"counter_bits", c.counter_bits},
           {"memory_bytes", c.memory_bytes},
           {"overflow_probability", c.overflow},
           {"overflow_bound", c.overflow_bound},
           {"highest_counter", c.highest_counter},
           {"message_bits", c.message_bits},
           {"message_bits_per_item", p.per_item(c.message_bits)}};
    add_message(j, expected_message(p, c, coding::smallest));
    j["file_bytes"] = expected_message(p, c, coding::raw).total();
    return j;
}

json to_json(const plan& p) {
    const message_size packed = expected_message(p, coding::smallest);
    json j{
        {"items", p.items},
        {"bits", p.bits},
        {"hashes", p.hashes},
        {"layout", name_of(p.layout)},
        {"hash", name_of(p.hash)},
        {"hash_collision_rate", hash_collision_rate(p.hash, static_cast<double>(p.items))},
        {"bits_per_item", p.bits_per_item()},
        {"fill", p.fill},
        {"false_positive_rate", p.false_positive_rate},
        {"memory_bytes", p.memory_bytes()},
        {"file_bytes", expected_message(p, coding::raw).total()},
        {"message_bits", p.message_bits},
        {"message_bits_per_item", p.message_bits_per_item()},
        {"message_codec", name_of(packed.codec)},
    };
    add_message(j, packed);
    if (p.delta_bits) {
        const message_size delta = expected_delta(p);
        j["delta_bits"] = *p.delta_bits;
        j["delta_bits_per_item"] = p.per_item(*p.delta_bits);
        j["delta_message_bytes"] = delta.total();
        j["delta_frame_bytes"] = delta.frame;
    }
    return j;
}

std::string row(std::string_view what, const std::string& value) {
    return fmt::format("{:<22}{}\n", what, value);
}

std::string coded(const plan& p, double bits) {
    return fmt::format("{} ({:.4g} bits per item)", bytes(static_cast<std::uint64_t>(bits / 8)),
                       p.per_item(bits));
}

std::string framed(const message_size& size) {
    return fmt::format("{}, coded by {}", bytes(size.total()), name_of(size.codec));
}

std::string describe(const plan& p) {
    std::string text = row("items", count(static_cast<double>(p.items)));
    text += row("layout", std::string(name_of(p.layout)));
    text += row("bits",
                count(static_cast<double>(p.bits)) + fmt::format(" ({:.4g} per item)", p.bits_per_item()));
    text += row("hashes", std::to_string(p.hashes));
    text += row("hash", fmt::format("{}, whose collisions add {:.2g} to the rate", name_of(p.hash),
                                    hash_collision_rate(p.hash, static_cast<double>(p.items))));
    text += row("false-positive rate", rate(p.false_positive_rate));
    text += row("fill", fixed(100 * p.fill, 2) + " %");
    text += row("memory", bytes(p.memory_bytes()));
    text += row("file, as built", bytes(expected_message(p, coding::raw).total()));
    text += row("message, compressed", coded(p, p.message_bits));
    text += row("  with its frame", framed(expected_message(p, coding::smallest)));
    if (p.delta_bits) {
        text += row("delta, compressed", coded(p, *p.delta_bits));
        text += row("  with its frame", framed(expected_delta(p)));
    }
    return text;
}

constexpr unsigned counter_widths[] = {4, 8};

std::string describe_counters(const plan& p) {
    std::vector<std::vector<std::string>> rows{{"as a counting filter", "memory bytes", "message bytes",
                                                "highest counter", "one saturates", "at most"}};
    for (const unsigned width : counter_widths) {
        const counting_plan c = predict_counters(p, width);
        rows.push_back({fmt::format("{}-bit counters", width), count(static_cast<double>(c.memory_bytes)),
                        count(static_cast<double>(expected_message(p, c, coding::smallest).total())),
                        fmt::format("{:.2f}", c.highest_counter), fmt::format("{:.3g}", c.overflow),
                        fmt::format("{:.3g}", c.overflow_bound)});
    }
    return "\n" + table(rows);
}

std::string describe(const std::vector<plan>& rows, bool as_json) {
    if (as_json) {
        auto all = json::array();
        for (const plan& p : rows) all.push_back(to_json(p));
        return all.dump(2) + "\n";
    }
    std::vector<std::vector<std::string>> cells{
        {"hashes", "bits/item", "memory bytes", "fill %", "rate", "message b/item", "message bytes"}};
    if (!rows.empty() && rows[0].delta_bits) cells[0].emplace_back("delta b/item");
    for (const plan& p : rows) {
        cells.push_back({std::to_string(p.hashes), fmt::format("{:.4g}", p.bits_per_item()),
                         count(static_cast<double>(p.memory_bytes())), fixed(100 * p.fill, 1),
                         fmt::format("{:.3g}", p.false_positive_rate),
                         fmt::format("{:.4g}", p.message_bits_per_item()),
                         count(static_cast<double>(expected_message(p, coding::smallest).total()))});
        if (p.delta_bits) cells.back().push_back(fmt::format("{:.4g}", p.per_item(*p.delta_bits)));
    }
    return table(cells);
}

// The filter for an unknown number of items.
result<growing_filter::forecast> growing_for(const plan& p) {
    return growing_filter::expect({.rate = p.false_positive_rate, .layout = p.layout}, p.items);
}

std::string describe(const advice& a) {
    const plan& chosen = a.chosen;
    std::vector<std::vector<std::string>> rows{
        {"", "layout", "bits/item", "hashes", "rate", "message b/item", "message bytes"}};
    if (chosen.delta_bits) rows[0].emplace_back("delta b/item");
    const auto add = [&](const std::string& name, std::string_view layout, double bits,
                         const std::string& hashes, double rate, double message, const message_size& size,
                         const std::optional<double>& delta) {
        rows.push_back({name, std::string(layout), fmt::format("{:.4g}", chosen.per_item(bits)), hashes,
                        fmt::format("{:.3g}", rate), fmt::format("{:.4g}", chosen.per_item(message)),
                        count(static_cast<double>(size.total()))});
        if (chosen.delta_bits)
            rows.back().push_back(delta ? fmt::format("{:.4g}", chosen.per_item(*delta)) : "–");
    };
    const auto add_plan = [&](const std::string& name, const plan& p) {
        add(name, name_of(p.layout), static_cast<double>(p.bits), std::to_string(p.hashes),
            p.false_positive_rate, p.message_bits, expected_message(p, coding::smallest), p.delta_bits);
    };
    add_plan("this plan", chosen);
    for (const auto& [name, p] : a.alternatives) add_plan(name, p);
    for (const sealed_plan& s : a.sealed) {
        add(s.name, "sealed", s.message_bits, "–", s.false_positive_rate, s.message_bits,
            expected_sealed_message(s.message_bits), {});
    }
    if (const auto g = growing_for(chosen)) {
        add("growing, then folded", name_of(chosen.layout), static_cast<double>(g->bits),
            std::to_string(g->hashes), g->false_positive_rate, g->message_bits, expected_message(*g), {});
    }
    return "\n" + table(rows);
}

json to_json(const advice& a) {
    json j = to_json(a.chosen);
    for (const unsigned width : counter_widths)
        j["counting"].push_back(to_json(a.chosen, predict_counters(a.chosen, width)));
    for (const auto& [name, p] : a.alternatives) {
        j["alternatives"].push_back(to_json(p));
        j["alternatives"].back()["name"] = name;
    }
    for (const sealed_plan& s : a.sealed) {
        json row{{"name", s.name},
                 {"asked_rate", s.asked_rate},
                 {"false_positive_rate", s.false_positive_rate},
                 {"message_bits", s.message_bits},
                 {"message_bits_per_item", a.chosen.per_item(s.message_bits)}};
        add_message(row, expected_sealed_message(s.message_bits));
        j["sealed"].push_back(row);
    }
    if (const auto g = growing_for(a.chosen)) {
        j["growing"] = {{"arrays", g->arrays},
                        {"hashes", g->hashes},
                        {"bits", g->bits},
                        {"bits_per_item", a.chosen.per_item(static_cast<double>(g->bits))},
                        {"false_positive_rate", g->false_positive_rate},
                        {"message_bits", g->message_bits},
                        {"message_bits_per_item", a.chosen.per_item(g->message_bits)},
                        {"memory_bytes_while_growing", g->growing_bits / 8}};
        add_message(j["growing"], expected_message(*g));
    }
    return j;
}

}  // namespace

void add_plan(command_line& app) {
    struct state {
        filter_options shape;
        family_options family;
        bounds_options bounds;
        bool json = false, table = false;
        std::string plot;
    };
    const auto s = std::make_shared<state>();
    command_line command = add_command(
        app, "plan", "Plan a filter: its size, hashes, predicted rate and message sizes",
        "  posy plan -n 1M --fpr 0.01\n"
        "  posy plan -n 1M --bits-per-item 10 --hashes 4 --layout spread --json\n"
        "  posy plan -n 10000 --message-bits 8 --max-memory 20KiB     the packet of a compressed filter\n"
        "  posy plan -n 1M --fpr 0.02 --minimize message --delta-fraction 0.05 --plot curves.svg\n"
        "  posy plan -n 10k --fpr 0.02 --minimize delta --delta-fraction 0.05 --max-memory 16KiB\n"
        "  posy plan -n 1M --difference 1000                          what reconciling two such sets takes\n"
        "  posy plan -n 1M --window 6 --value-bits 8                  window filters, maps\n"
        "  posy plan --sketch 0.0001,0.01                             sketches\n"
        "  posy plan -n 1M --fpr 0.01 --bounds --universe 2^32        how few bits there can be");
    s->shape.add_to(command, "none; needed except for --sketch alone");
    s->family.add_to(command);
    command.add_flag("--json", s->json, "Print one JSON object");
    const option tradeoffs = command.add_flag(
        "--tradeoff", s->table, "Show the best plan for every number of hashes instead of one plan");
    for (const char* more :
         {"--window", "--value-bits", "--difference", "--intersect", "--spectral", "--sketch"})
        tradeoffs.excludes(more);
    s->bounds.add_to(command);
    command
        .add_option("--plot FILE", s->plot,
                    "File for pictures of the rate against hashes, and against bits per item of the array "
                    "and of the message, in SVG; needs gnuplot (default: no picture)")
        .excludes("--tradeoff")
        .excludes("--sketch");
    command.runs([s] {
        const wishes want = s->shape.to_wishes();
        json j;
        if (want.items == 0 && s->shape.has_items())
            throw failure("plan: --items 0: a filter is planned for at least one item");
        if (want.items == 0 && s->family.only_sketch()) {
            const std::string text = s->family.describe(nullptr, {}, j);
            return print(s->json ? j.dump(2) + "\n" : text);
        }
        if (want.items == 0) throw failure("plan: the number of items is missing; give it with --items");
        if (s->table) return print(describe(take(tradeoff(want), "plan"), s->json));
        const auto a = take(advise(want), "plan");
        if (!s->plot.empty()) plot_plan(a.chosen, s->plot);
        if (s->json) j = to_json(a);
        std::string beside = s->bounds.describe(a.chosen, want, j);
        beside += s->family.describe(&a.chosen, want.rate, j);
        print(s->json ? j.dump(2) + "\n"
                      : describe(a.chosen) + describe_counters(a.chosen) + describe(a) + beside);
    });
}

}  // namespace posy::tool
