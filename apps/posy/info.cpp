// posy info: what a filter is, what is in it, how good it is now.
#include <fmt/core.h>

#include <nlohmann/json.hpp>

#include "foreign.hpp"
#include "info_sheet.hpp"
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
    message_kind kind;
    std::string kind_text;
    std::uint64_t counters = 0;                                        // bytes of them
    std::vector<std::pair<std::string, std::string>> rows;             // for people
    nlohmann::ordered_json fields = nlohmann::ordered_json::object();  // for programs
};

facts facts_of(const any_body& body) {
    facts f{.kind = kind_of(body), .kind_text = "filter"};
    if (const auto* counting = std::get_if<counting_filter>(&body)) {
        const std::uint64_t size = counting->counters().cells().words().size_bytes();
        f.kind_text = fmt::format("counting filter, {}-bit counters", counting->counters().width());
        const std::uint64_t packed = to_bytes(*counting, {.want = coding::smallest}).size();
        f.counters = size;
        f.rows = {{"message, counters", bytes(packed)},
                  {"saturated counters", count(static_cast<double>(counting->saturated()))}};
        f.fields = {{"counter_bits", counting->counters().width()},
                    {"saturated_counters", counting->saturated()},
                    {"counter_bytes", size},
                    {"counter_message_bytes", packed}};
    } else if (const auto* compressed = std::get_if<compressed_filter>(&body)) {
        f.kind_text = fmt::format("queryable compressed filter, {} form", name_of(compressed->form()));
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
    const auto per_item = [&](double bits) {
        return of.items.value_or(0) > 0 ? nlohmann::ordered_json(bits / static_cast<double>(*of.items))
                                        : nlohmann::ordered_json(nullptr);
    };
    const double bound =
        theory::log2_binomial(static_cast<double>(g.bits), static_cast<double>(plain.ones()));
    nlohmann::ordered_json j{
        {"kind", name_of(f.kind)},
        {"bits", g.bits},
        {"bits_per_item", per_item(static_cast<double>(g.bits))},
        {"hashes", g.hashes},
        {"layout", name_of(g.layout)},
        {"hash", name_of(g.hash)},
        {"seed", seed_of(g.seed)},
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
        {"message_bits", bound},
        {"message_bits_per_item", per_item(bound)},
    };
    j.update(f.fields);
    return j;
}

// What was planned, what is there, and the rates of both.
std::string contents_of(const bloom_filter& plain) {
    const provenance& of = plain.provenance();
    const estimate different = estimate_items(plain);
    const auto stands = standing_of(plain);
    const double beyond =
        stands && stands->past_plan ? stands->items - static_cast<double>(of.planned->items) : 0;
    std::string text = row("items planned", of.planned ? planned_text(of.planned->items, beyond) : "unknown");
    text += row("items", of.items ? count(static_cast<double>(*of.items)) : "unknown");
    text += row("different items",
                of.intersection ? "at most " + count(different.high) +
                                      " at 95 %; 'posy compare' of the sets' own filters estimates them"
                                : range(different) + " at 95 %");
    text += row("fill", fixed(100 * plain.fill(), 2) + " %");
    text += row("false-positive rate",
                rate(plain.false_positive_rate()) + (of.intersection ? " for keys of none of the sets" : ""));
    if (of.intersection) text += row("  keys of one set", "the rate of the other sets' filters");
    if (stands)
        text += row("  predicted", rate(stands->expected_rate) + " for " + count(stands->items) +
                                       (count(stands->items) == "1" ? " item" : " items"));
    if (of.planned) text += row("  planned", rate(of.planned->rate));
    return text;
}

std::string describe(const facts& f, const bloom_filter& plain) {
    const geometry& g = plain.geometry();
    std::string text =
        row("kind", f.kind_text + (plain.provenance().intersection ? ", an intersection" : ""));
    text += row("bits", count(static_cast<double>(g.bits)));
    text += row("hashes", hashes_text(g)) + row("hash", hash_text(g.hash, g.seed));
    text += contents_of(plain);
    text += row("memory",
                bytes(plain.bits().words().size_bytes() + f.counters) +
                    (f.counters > 0 ? ", of which counters " + count(static_cast<double>(f.counters)) : ""));
    const double bound =
        theory::log2_binomial(static_cast<double>(g.bits), static_cast<double>(plain.ones()));
    text += row(f.kind == message_kind::counting ? "message, plain filter" : "smallest message",
                bytes(static_cast<std::uint64_t>(bound / 8)) + " and a header");
    for (const auto& [what, value] : f.rows) text += row(what, value);
    return text;
}

std::string describe(const filter_delta& delta, std::uint64_t generation) {
    const geometry& g = delta.geometry;
    const auto flips = static_cast<double>(delta.flips.ones());
    return row("kind", "delta") + row("bits", count(static_cast<double>(g.bits))) +
           row("hashes", hashes_text(g)) + row("hash", hash_text(g.hash, g.seed)) +
           row("items", delta.items ? count(static_cast<double>(*delta.items)) : "unknown") +
           row("generations", fmt::format("{} to {}", delta.base_generation, generation)) +
           row("base checksum", fmt::format("{:08x}", delta.base_checksum)) +
           row("bits that change",
               fmt::format("{} ({:.3g} %)", count(flips), 100 * flips / static_cast<double>(g.bits)));
}

nlohmann::ordered_json to_json(const filter_delta& delta, std::uint64_t generation) {
    const geometry& g = delta.geometry;
    return {{"kind", name_of(message_kind::delta)},
            {"bits", g.bits},
            {"hashes", g.hashes},
            {"layout", name_of(g.layout)},
            {"hash", name_of(g.hash)},
            {"seed", seed_of(g.seed)},
            {"intersection", delta.intersection},
            {"items", delta.items ? nlohmann::ordered_json(*delta.items) : nlohmann::ordered_json(nullptr)},
            {"generation", generation},
            {"base_generation", delta.base_generation},
            {"base_checksum", fmt::format("{:08x}", delta.base_checksum)},
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

// Described by the functions above: a plain filter, or what changes one.
template <class Body>
concept has_array = std::same_as<Body, bloom_filter> || std::same_as<Body, counting_filter> ||
    std::same_as<Body, compressed_filter> || std::same_as<Body, filter_delta>;

void add_own(sheet& s, const growing_filter& filter) {
    s.add_number("bits", filter.bits(), "bits");
    s.add_number("arrays", filter.arrays().size(), "arrays");
    s.add_name("layout", name_of(filter.arrays().front().geometry().layout));
    s.add_number("items", filter.items(), "items");
    s.add_estimate(estimate_items(filter));
    s.add_rate("false_positive_rate", filter.false_positive_rate(), "false-positive rate");
    s.add_rate("planned_false_positive_rate", filter.promised_rate(), "  planned");
}

void add_own(sheet& s, const window_filter& filter) {
    // posy seen counts microseconds.
    const auto add_time = [&](const char* field, std::uint64_t microseconds, std::string_view what) {
        const double seconds = static_cast<double>(microseconds) / 1e6;
        const std::string text = duration(std::chrono::microseconds(microseconds));
        s.add(field, seconds, what, seconds < 60 ? text : fmt::format("{} ({} seconds)", text, seconds));
    };
    const std::uint64_t items = filter.items(filter.latest()), planned = filter.planned().items;
    s.add_number("bits", filter.geometry().bits * filter.arrays(filter.latest()), "bits");
    s.add_number("arrays", filter.arrays(filter.latest()), "arrays");
    s.add_number("bits_per_array", filter.geometry().bits, "bits per array");
    s.add_hashes(filter.geometry());
    // A window can hold a generation more than planned, and keep its rate.
    s.add_planned(planned, items > filter.most_items() ? static_cast<double>(items - planned) : 0);
    s.add_number("items", items, "items");
    s.add_rate("false_positive_rate", filter.false_positive_rate(filter.latest()), "false-positive rate");
    s.add_rate("planned_false_positive_rate", filter.planned().rate, "  planned");
    add_time("remembered_at_least_seconds", filter.remembered_at_least(), "remembered at least");
    add_time("forgotten_after_seconds", filter.forgotten_after(), "forgotten after");
    s.add_number("generations", filter.generations(), "generations");
}

void add_own(sheet& s, const spectral_filter& filter) {
    const bloom_filter keys = take(filter.projection(), "info");
    s.add_number("counters", filter.geometry().bits, "counters");
    s.add_number("counter_bits", 8 * bytes_of(filter.counter_width()), "counter bits");
    s.add_hashes(filter.geometry());
    s.add_name("method", name_of(filter.method()));
    s.add_number("total", filter.items(), "total");
    s.add_estimate(estimate_items(keys));
    s.add_rate("wrong", keys.false_positive_rate(), "wrong estimates");
}

template <one_of_these<sealed_filter, bloomier_map> Sealed>
void add_own(sheet& s, const Sealed& sealed) {
    const std::uint64_t bits = 8 * sealed.bytes().size();
    const double each =
        static_cast<double>(bits) / static_cast<double>(std::max<std::uint64_t>(sealed.items(), 1));
    s.add("bits", bits, "bits", fmt::format("{} ({:.4g} per item)", count(static_cast<double>(bits)), each));
    if constexpr (std::same_as<Sealed, bloomier_map>)
        s.add_number("value_bits", sealed.value_bits(), "value bits");
    s.add_number("items", sealed.items(), "items");
    s.add_rate("false_positive_rate", sealed.false_positive_rate(), "false-positive rate");
}

void add_own(sheet& s, const count_min& sketch) {
    s.add_number("width", sketch.width(), "width");
    s.add_number("depth", sketch.depth(), "depth");
    s.add_number("counter_bits", 8 * bytes_of(sketch.counter_width()), "counter bits");
    s.add_name("rule", name_of(sketch.rule()));
    s.add_number("total", sketch.total(), "total");
    const auto digits = [](double share) { return fmt::format("{:.4g}", share); };
    s.add("epsilon", sketch.epsilon(), "epsilon", digits(sketch.epsilon()) + " of the total");
    s.add("delta", sketch.delta(), "delta", digits(sketch.delta()));
}
void add_own(sheet& s, const heavy_hitters& keys) {
    add_own(s, keys.sketch());
    s.add_number("keys", keys.candidates().keys().size(), "keys kept");
}
void add_own(sheet& s, const reconcile::envelope& part) { s.add_name("part", name_of(part.kind())); }

std::string describe_others(const message& m, const std::string& name, bool json) {
    sheet s;
    s.add_name("file", name);
    s.add("kind", name_of(kind_of(m.body)), "kind", kind_name(m.body).substr(2));
    std::visit(
        [&]<class Body>(const Body& body) {
            if constexpr (!has_array<Body>) {
                add_own(s, body);
                s.add_hash(body.hash());
            }
        },
        m.body);
    if (const std::uint64_t memory = memory_of(m.body); memory > 0)
        s.add_bytes("memory_bytes", memory, "memory");
    s.add_bytes("message_bytes", m.size, "message");
    return s.print(json);
}

std::string describe(message m, const std::string& name, bool json, bool verbose) {
    nlohmann::ordered_json j{{"file", name}};
    if (!std::visit([]<class Body>(const Body&) { return has_array<Body>; }, m.body))
        return describe_others(m, name, json);
    if (const auto* delta = std::get_if<filter_delta>(&m.body)) {
        if (!json) return row("file", name) + describe(*delta, m.generation) + row("message", bytes(m.size));
        j.update(to_json(*delta, m.generation));
        j["message_bytes"] = m.size;
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
        foreign_options foreign;
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
    s->foreign.add_to(command, "FILES are filters of another program, where their bytes do not tell");
    s->foreign.add_column_to(command);
    s->reading.add_to(command);
    command.add_flag("-v,--verbose", s->verbose, "Also show which CPU instructions and memory pages are used")
        .excludes("--json");
    command.runs([s] {
        bool first = true;
        std::string wrong;  // with the last of the files that cannot be read
        for (const std::string& file : s->files) {
            std::string text;  // all or nothing: a file that turns out to be damaged has only its error
            const auto add = [&](message m, const std::string& name) {
                const bool apart = !s->json && !(first && text.empty());
                text += (apart ? "\n" : "") + describe(std::move(m), name, s->json, s->verbose);
            };
            try {
                if (const auto foreign = load_foreign(file, s->foreign)) {
                    text = (first || s->json ? "" : "\n") + describe(*foreign, display_name(file), s->json);
                } else {
                    for_each_message({file}, add, s->reading.limits());
                }
            } catch (const failure& why) {
                if (!wrong.empty()) fmt::print(stderr, "posy: {}\n", wrong);
                wrong = why.what();
                continue;
            }
            print(text);
            first = first && text.empty();
        }
        if (!wrong.empty()) throw failure(wrong);
    });
}

}  // namespace posy::tool
