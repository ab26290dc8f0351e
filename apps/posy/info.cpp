// posy info: what a filter is, what is in it, how good it is now.
#include <fmt/core.h>

#include <nlohmann/json.hpp>

#include "numbers.hpp"
#include "posy/base/instructions.hpp"
#include "posy/estimate.hpp"
#include "posy/standing.hpp"
#include "posy/theory.hpp"
#include "tool.hpp"

namespace posy::tool {
namespace {

// What info says of a message, beside its plain filter.
struct facts {
    std::string kind;
    std::uint64_t counters = 0;                                        // bytes of them
    std::vector<std::pair<std::string, std::string>> rows;             // for people
    nlohmann::ordered_json fields = nlohmann::ordered_json::object();  // for programs
};

facts facts_of(const any_body& body) {
    facts f{.kind = "filter"};
    if (const auto* counting = std::get_if<counting_filter>(&body)) {
        const std::uint64_t size = counting->counters().cells().words().size_bytes();
        f.kind = fmt::format("counting filter, {}-bit counters", counting->counters().width());
        const std::uint64_t packed = to_bytes(*counting, {.want = coding::smallest}).size();
        f.counters = size;
        f.rows = {{"message, counters", bytes(packed)},
                  {"saturated counters", count(static_cast<double>(counting->saturated()))}};
        f.fields = {{"counter_bits", counting->counters().width()},
                    {"saturated_counters", counting->saturated()},
                    {"counter_bytes", size},
                    {"counter_message_bytes", packed}};
    } else if (const auto* compressed = std::get_if<compressed_filter>(&body)) {
        f.kind = fmt::format("queryable compressed filter, {} form", name_of(compressed->form()));
        f.rows = {{"compressed", bytes(compressed->bytes().size())}};
        f.fields = {{"form", name_of(compressed->form())}, {"compressed_bytes", compressed->bytes().size()}};
    }
    return f;
}

// The bits of an intersection give a bound on its items, not an estimate.
nlohmann::ordered_json different_items(const bloom_filter& plain) {
    auto j = tool::to_json(estimate_items(plain));
    if (plain.provenance().intersection) j["value"] = nullptr;
    return j;
}

nlohmann::ordered_json to_json(const facts& f, const bloom_filter& plain) {
    const geometry& g = plain.geometry();
    const provenance& of = plain.provenance();
    const auto stands = standing_of(plain);
    const auto known = [](const auto& maybe, auto field) {
        return maybe ? nlohmann::ordered_json((*maybe).*field) : nlohmann::ordered_json(nullptr);
    };
    nlohmann::ordered_json j{
        {"kind", f.kind},
        {"bits", g.bits},
        {"hashes", g.hashes},
        {"layout", name_of(g.layout)},
        {"hash", name_of(g.hash)},
        {"seed", fmt::format("0x{:016x}{:016x}", g.seed.high, g.seed.low)},
        {"intersection", of.intersection},
        {"planned_items", known(of.planned, &promise::items)},
        {"items", of.items ? nlohmann::ordered_json(*of.items) : nlohmann::ordered_json(nullptr)},
        {"estimated_items", different_items(plain)},
        {"past_plan", stands && stands->past_plan},
        {"ones", plain.ones()},
        {"fill", plain.fill()},
        {"false_positive_rate", plain.false_positive_rate()},
        {"predicted_false_positive_rate", known(stands, &standing::expected_rate)},
        {"planned_false_positive_rate", known(of.planned, &promise::rate)},
        {"memory_bytes", plain.bits().words().size_bytes() + f.counters},
        {"message_bits",
         theory::log2_binomial(static_cast<double>(g.bits), static_cast<double>(plain.ones()))},
    };
    j.update(f.fields);
    return j;
}

std::string row(std::string_view what, const std::string& value) {
    return fmt::format("{:<22}{}\n", what, value);
}

// What was planned, what is there, and the rates of both.
std::string contents_of(const bloom_filter& plain) {
    const provenance& of = plain.provenance();
    const estimate different = estimate_items(plain);
    const auto stands = standing_of(plain);
    std::string planned = "unknown";
    if (of.planned) planned = count(static_cast<double>(of.planned->items));
    if (stands && stands->past_plan)
        planned += "; exceeded by " + count(stands->items - static_cast<double>(of.planned->items));
    std::string text = row("items planned", planned);
    text += row("items inserted", of.items ? count(static_cast<double>(*of.items)) : "unknown");
    text += row("different items",
                of.intersection ? "at most " + count(different.high) +
                                      " at 95 %; 'posy compare' of the sets' own filters estimates them"
                                : range(different) + " at 95 %");
    text += row("fill", fmt::format("{:.2f} %", 100 * plain.fill()));
    text += row("false-positive rate",
                rate(plain.false_positive_rate()) + (of.intersection ? " for keys of none of the sets" : ""));
    if (of.intersection) text += row("  keys of one set", "the rate of the other sets' filters");
    if (stands)
        text += row("  predicted", rate(stands->expected_rate) + " for " + count(stands->items) + " items");
    if (of.planned) text += row("  planned", rate(of.planned->rate));
    return text;
}

std::string describe(const facts& f, const bloom_filter& plain) {
    const geometry& g = plain.geometry();
    std::string text = row("kind", f.kind + (plain.provenance().intersection ? ", an intersection" : ""));
    text += row("bits", count(static_cast<double>(g.bits)));
    text += row("hashes", fmt::format("{}, {}", g.hashes, name_of(g.layout)));
    text += row("hash", fmt::format("{}, seed {}", name_of(g.hash),
                                    g.seed.high != 0 ? fmt::format("0x{:x}{:016x}", g.seed.high, g.seed.low)
                                                     : std::to_string(g.seed.low)));
    text += contents_of(plain);
    text += row("memory",
                bytes(plain.bits().words().size_bytes() + f.counters) +
                    (f.counters > 0 ? ", of which counters " + count(static_cast<double>(f.counters)) : ""));
    const double bound =
        theory::log2_binomial(static_cast<double>(g.bits), static_cast<double>(plain.ones()));
    const bool counting = f.kind.starts_with("counting");
    text += row(counting ? "message, plain filter" : "smallest message",
                bytes(static_cast<std::uint64_t>(bound / 8)) + " and a header");
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

// What -v adds: how this machine holds and queries the filter.
std::string machine_of(const bloom_filter& plain) {
    const auto pages = plain.bits().pages();
    const double size = static_cast<double>(plain.bits().words().size_bytes());
    std::string text;
    if (pages.mapped_file) {
        text = "small, mapped from the file";
    } else if (!pages.asked_for_huge) {
        text = "small; the array is too small to gain from huge pages";
    } else if (pages.huge_bytes == 0) {
        text =
            "small: the system grants no huge pages, so lookups take longer "
            "(see /sys/kernel/mm/transparent_hugepage/enabled)";
    } else {
        text = fmt::format("huge, {:.0f} % of the array",
                           100 * std::min(1.0, static_cast<double>(pages.huge_bytes) / size));
    }
    return row("instructions", std::string(name_of(base::best_instruction_set()))) +
           row("memory pages", text);
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
            if constexpr (requires {
                              { b.false_positive_rate() } -> std::same_as<double>;
                          })
                j["false_positive_rate"] = b.false_positive_rate();
            if constexpr (std::same_as<Body, growing_filter>) {
                j["promised_rate"] = b.promised_rate();
                j["arrays"] = b.stages().size();
                j["bits"] = b.bits();
                j["estimated_items"] = tool::to_json(estimate_items(b));
            }
            if constexpr (std::same_as<Body, window_filter>) {
                j["bits"] = b.geometry().bits;
                j["hashes"] = b.geometry().hashes;
                j["generations"] = b.generations();
                // posy seen counts microseconds; here they are seconds.
                j["remembered_at_least"] = static_cast<double>(b.remembered_at_least()) / 1e6;
                j["forgotten_after"] = static_cast<double>(b.forgotten_after()) / 1e6;
                j["planned_items"] = b.planned().items;
                j["planned_false_positive_rate"] = b.planned().rate;
                j["items"] = b.items(b.latest());
                j["false_positive_rate"] = b.false_positive_rate(b.latest());
                j["arrays"] = b.arrays(b.latest());
                j["memory_bytes"] = b.memory_bytes();
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
        if (label == "false positive rate") label = "false-positive rate";
        if (label == "planned false positive rate") label = "planned rate";
        if (label == "planned items") label = "items planned";
        if (label == "wrong") label = "wrong estimates";
        text += row(label, value.is_string()   ? value.get<std::string>()
                           : value.is_object() ? range(estimate_items(std::get<growing_filter>(m.body)))
                           : what.ends_with("rate") || what == "wrong" ? rate(value.get<double>())
                           : what == "remembered_at_least" || what == "forgotten_after"
                               ? fmt::format("{} seconds", value.get<double>())
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

void add_info(command_line& app) {
    struct state {
        std::vector<std::string> files;
        reading_options reading;
        bool json = false, verbose = false;
    };
    const auto s = std::make_shared<state>();
    command_line command =
        add_command(app, "info", "Show what a filter is, what it holds and how good it is now",
                    "  posy info urls.posy\n"
                    "  posy info --json *.posy | jq .false_positive_rate");
    command.add_option("FILES", s->files, "Filters: files, URLs, or - for standard input").required();
    command.add_flag("--json", s->json, "Print one JSON object per filter");
    s->reading.add_to(command);
    command.add_flag("-v,--verbose", s->verbose,
                     "Also show which CPU instructions and memory pages are used");
    command.runs([s] {
        std::string text;  // all or nothing: a stream that turns out to be damaged prints only its error
        const auto add = [&](message m, const std::string& name) {
            text += (text.empty() || s->json ? "" : "\n") + describe(std::move(m), name, s->json, s->verbose);
        };
        for_each_message(s->files, add, s->reading.limits());
        print(text);
    });
}

}  // namespace posy::tool
