// posy info: what a filter is, what is in it, how good it is now.
#include <fmt/core.h>

#include <nlohmann/json.hpp>

#include "base/instructions.hpp"
#include "posy/estimate.hpp"
#include "posy/plan.hpp"
#include "posy/theory.hpp"
#include "text.hpp"
#include "tool.hpp"

namespace posy::tool {
namespace {

// What info says of a message, beside its plain filter.
struct facts {
    std::string kind;
    std::vector<std::pair<std::string, std::string>> rows;             // for people
    nlohmann::ordered_json fields = nlohmann::ordered_json::object();  // for programs
};

facts facts_of(const any_body& body) {
    facts f{"filter", {}};
    if (const auto* counting = std::get_if<counting_filter>(&body)) {
        const std::uint64_t size = counting->counters().cells().words().size_bytes();
        f.kind = fmt::format("counting filter, {}-bit counters", counting->counters().width());
        f.rows = {{"counters", bytes(size)},
                  {"saturated counters", count(static_cast<double>(counting->saturated()))}};
        f.fields = {{"counter_bits", counting->counters().width()},
                    {"saturated_counters", counting->saturated()},
                    {"counter_bytes", size}};
    } else if (const auto* compressed = std::get_if<compressed_filter>(&body)) {
        f.kind = fmt::format("queryable compressed filter, {} form", name_of(compressed->form()));
        f.rows = {{"compressed", bytes(compressed->bytes().size())}};
        f.fields = {{"form", name_of(compressed->form())}, {"compressed_bytes", compressed->bytes().size()}};
    }
    return f;
}

nlohmann::ordered_json to_json(const facts& f, const bloom_filter& plain) {
    const geometry& g = plain.geometry();
    nlohmann::ordered_json j{
        {"kind", f.kind},
        {"bits", g.bits},
        {"hashes", g.hashes},
        {"layout", name_of(g.layout)},
        {"hash", name_of(g.hash)},
        {"seed", fmt::format("0x{:016x}{:016x}", g.seed.high, g.seed.low)},
        {"items", nullptr},
        {"estimated_items", tool::to_json(estimate_items(plain))},
        {"ones", plain.ones()},
        {"fill", plain.fill()},
        {"false_positive_rate", plain.false_positive_rate()},
        {"memory_bytes", plain.bits().words().size_bytes()},
        {"message_bits",
         theory::log2_binomial(static_cast<double>(g.bits), static_cast<double>(plain.ones()))},
    };
    if (plain.items()) {
        j["items"] = *plain.items();
        if (const auto p = predict(*plain.items(), g))
            j["planned_false_positive_rate"] = p->false_positive_rate;
    }
    j.update(f.fields);
    return j;
}

std::string row(std::string_view what, const std::string& value) {
    return fmt::format("{:<22}{}\n", what, value);
}

std::string describe(const facts& f, const bloom_filter& plain) {
    const geometry& g = plain.geometry();
    std::string text = row("kind", f.kind);
    text += row("bits", count(static_cast<double>(g.bits)));
    text += row("hashes", fmt::format("{}, {}", g.hashes, name_of(g.layout)));
    text += row("hash", fmt::format("{}, seed {}", name_of(g.hash),
                                    g.seed.high != 0 ? fmt::format("0x{:x}{:016x}", g.seed.high, g.seed.low)
                                                     : std::to_string(g.seed.low)));
    text += row("items inserted", plain.items() ? count(static_cast<double>(*plain.items())) : "unknown");
    text += row("different items", range(estimate_items(plain)) + " at 95 %");
    text += row("fill", fmt::format("{:.2f} %", 100 * plain.fill()));
    text += row("false-positive rate", rate(plain.false_positive_rate()));
    if (plain.items()) {
        if (const auto p = predict(*plain.items(), g))
            text += row("  as planned", rate(p->false_positive_rate));
    }
    text += row("memory", bytes(plain.bits().words().size_bytes()));
    const double bound =
        theory::log2_binomial(static_cast<double>(g.bits), static_cast<double>(plain.ones()));
    text += row("smallest message", bytes(static_cast<std::uint64_t>(bound / 8)) + " and a header");
    for (const auto& [what, value] : f.rows) text += row(what, value);
    return text;
}

std::string describe(const filter_delta& delta, std::uint64_t generation) {
    const geometry& g = delta.geometry;
    const auto flips = static_cast<double>(delta.flips.ones());
    return row("kind", "delta") + row("bits", count(static_cast<double>(g.bits))) +
           row("hashes", fmt::format("{}, {}", g.hashes, name_of(g.layout))) +
           row("generations", fmt::format("{} to {}", delta.base_generation, generation)) +
           row("base checksum", fmt::format("{:08x}", delta.base_checksum)) +
           row("bits that change",
               fmt::format("{} ({:.3g} %)", count(flips), 100 * flips / static_cast<double>(g.bits)));
}

nlohmann::ordered_json to_json(const filter_delta& delta, std::uint64_t generation) {
    const geometry& g = delta.geometry;
    return {{"kind", "delta"},
            {"bits", g.bits},
            {"hashes", g.hashes},
            {"layout", name_of(g.layout)},
            {"generation", generation},
            {"base_generation", delta.base_generation},
            {"flips", delta.flips.ones()}};
}

// What -v adds: how this machine runs it.
std::string machine_of(const bloom_filter& plain) {
    const auto pages = plain.bits().pages();
    const double size = static_cast<double>(plain.bits().words().size_bytes());
    std::string text;
    if (pages.mapped_file) {
        text = "small ones of the file, mapped where it lies";
    } else if (!pages.asked_for_huge) {
        text = "small ones; the array is too small to gain from huge ones";
    } else if (pages.huge_bytes == 0) {
        text =
            "small ones: the system grants no huge ones, lookups take longer "
            "(see /sys/kernel/mm/transparent_hugepage/enabled)";
    } else {
        text = fmt::format("huge ones, {:.0f} % of the array",
                           100 * std::min(1.0, static_cast<double>(pages.huge_bytes) / size));
    }
    return row("instructions", base::name_of(base::best_instruction_set())) + row("memory pages", text);
}

// The kinds that have no plain filter in them.
nlohmann::ordered_json facts_of_others(const any_body& body) {
    nlohmann::ordered_json j{{"kind", kind_name(body).substr(2)}};
    std::visit(
        [&]<class Body>(const Body& b) {
            if constexpr (requires { b.hash(); }) j["hash"] = name_of(b.hash().family());
            if constexpr (
                requires { b.items(); } && !requires { b.geometry(); })
                j["items"] = b.items();
            if constexpr (requires { b.total(); }) j["total"] = b.total();
            if constexpr (requires { b.rate(); }) j["false_positive_rate"] = b.rate();
            if constexpr (std::same_as<Body, growing_filter>) {
                j["false_positive_rate"] = b.false_positive_rate();
                j["arrays"] = b.stages().size();
                j["bits"] = b.bits();
                j["estimated_items"] = tool::to_json(estimate_items(b));
            }
            if constexpr (std::same_as<Body, window_filter>) {
                j["bits"] = b.geometry().bits;
                j["hashes"] = b.geometry().hashes;
                j["generations"] = b.generations();
                j["remembered_at_least"] = b.remembered_at_least();
                j["forgotten_after"] = b.forgotten_after();
            }
            if constexpr (std::same_as<Body, spectral_filter>) {
                const bloom_filter keys = take(b.projection(), "info");
                j["method"] = name_of(b.method());
                j["counters"] = b.geometry().bits;
                j["hashes"] = b.geometry().hashes;
                j["layout"] = name_of(b.geometry().layout);
                j["total"] = b.items();
                j["memory_bytes"] = spectral_filter::memory_bytes(b.geometry(), b.method());
                j["different_keys"] = std::round(estimate_items(keys).value);
                j["wrong"] = keys.false_positive_rate();
            }
            if constexpr (std::same_as<Body, reconcile::envelope>) j["part"] = name_of(b.kind());
            if constexpr (requires { b.value_bits(); }) j["value_bits"] = b.value_bits();
        },
        body);
    return j;
}

std::string describe_others(const message& m, const std::string& name, bool json) {
    nlohmann::ordered_json j{{"file", name}};
    j.update(facts_of_others(m.body));
    j["message_bytes"] = m.size;
    if (json) return j.dump(2) + "\n";
    std::string text;
    for (const auto& [what, value] : j.items()) {
        std::string label = what;
        std::ranges::replace(label, '_', ' ');
        text += row(label, value.is_string()         ? value.get<std::string>()
                           : value.is_object()       ? range(estimate_items(std::get<growing_filter>(m.body)))
                           : value.is_number_float() ? rate(value.get<double>())
                                                     : count(value.get<double>()));
    }
    return text;
}

std::string describe(message m, const std::string& name, bool json, bool verbose) {
    nlohmann::ordered_json j{{"file", name}};
    const bool has_plain = std::holds_alternative<bloom_filter>(m.body) ||
                           std::holds_alternative<counting_filter>(m.body) ||
                           std::holds_alternative<compressed_filter>(m.body);
    if (!has_plain && !std::holds_alternative<filter_delta>(m.body)) return describe_others(m, name, json);
    if (const auto* delta = std::get_if<filter_delta>(&m.body)) {
        if (!json) return row("file", name) + describe(*delta, m.generation);
        j.update(to_json(*delta, m.generation));
        return j.dump(2) + "\n";
    }
    const facts f = facts_of(m.body);
    const bloom_filter plain = plain_of(std::move(m.body), name);
    const std::string sum = fmt::format("{:08x}", bits_checksum(plain.bits()));
    if (!json)
        return row("file", name) + describe(f, plain) + row("message", bytes(m.size)) +
               row("checksum of the bits", sum) + (verbose ? machine_of(plain) : "");
    j.update(to_json(f, plain));
    j["message_bytes"] = m.size;
    j["bits_checksum"] = sum;
    return j.dump(2) + "\n";
}

}  // namespace

void add_info(CLI::App& app) {
    struct state {
        std::vector<std::string> files;
        bool json = false, verbose = false;
    };
    const auto s = std::make_shared<state>();
    CLI::App* command =
        add_command(app, "info", "Show what a filter is, what it holds and how good it is now",
                    "  posy info urls.posy\n"
                    "  posy info --json *.posy | jq .false_positive_rate");
    command->add_option("FILES", s->files, "Filters; - for standard input")->required();
    command->add_flag("--json", s->json, "Print one JSON object a filter");
    command->add_flag("-v,--verbose", s->verbose, "Say also which instructions and memory pages are used");
    command->callback([s] {
        std::string text;  // all or nothing: a stream that turns out to be damaged prints only its error
        for_each_message(s->files, [&](message m, const std::string& name) {
            text += (text.empty() || s->json ? "" : "\n") + describe(std::move(m), name, s->json, s->verbose);
        });
        print(text);
    });
}

}  // namespace posy::tool
