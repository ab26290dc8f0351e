// posy compare: how much two sets have in common, from their filters alone; and how many rows a join of two
// tables will have, from sketches of their keys.
#include <fmt/core.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "numbers.hpp"
#include "posy/estimate.hpp"
#include "posy/join_size.hpp"
#include "tool.hpp"

namespace posy::tool {
namespace {

// How many different keys were inserted, if that is known: not if the bits say that some came again.
std::optional<double> inserted(const bloom_filter& filter, const estimate& different) {
    const auto items = filter.items();
    if (!items || static_cast<double>(*items) > different.high) return std::nullopt;
    return static_cast<double>(*items);
}

// The survey's two formulas (Broder and Mitzenmacher 2004, 2.4), as printed. The first takes |A| and |B| to
// be known: the numbers that the filters say were inserted, or where one does not say, the estimate.
struct survey {
    double inner = 0;  // ones in both, M₁ · M₂
    double from_inner_product = 0, from_zeros = 0;
    bool sizes_known = false;

    survey(const bloom_filter& a, const bloom_filter& b, const comparison& c) {
        const double m = static_cast<double>(a.geometry().bits), k = a.geometry().hashes;
        const auto ones_a = static_cast<double>(a.ones()), ones_b = static_cast<double>(b.ones());
        inner = ones_a + ones_b - static_cast<double>(ones_of_union(a.bits(), b.bits()));
        const auto known_a = inserted(a, c.a), known_b = inserted(b, c.b);
        sizes_known = known_a && known_b;
        from_inner_product = intersection_from_inner_product(inner, known_a.value_or(c.a.value),
                                                             known_b.value_or(c.b.value), m, k);
        from_zeros = intersection_from_zeros(m - ones_a, m - ones_b, m - inner, m, k);
    }
};

std::string number_or_not(double x) { return std::isfinite(x) ? count(x) : "unknown: too few zeros"; }

struct options {
    std::string a, b;
    reading_options reading;
    double level = 0.95;
    bool json = false, formulas = false;
};

std::string to_json(const options& o, const comparison& c, const std::optional<survey>& formulas) {
    nlohmann::ordered_json j{{"level", o.level},
                             {"a", tool::to_json(c.a)},
                             {"b", tool::to_json(c.b)},
                             {"intersection", tool::to_json(c.intersection)},
                             {"union", tool::to_json(c.united)},
                             {"jaccard", tool::to_json(c.jaccard)}};
    if (std::isinf(c.united.value)) j["intersection"]["value"] = j["jaccard"]["value"] = nullptr;
    if (formulas) {
        const auto number = [](double x) {
            return std::isfinite(x) ? nlohmann::ordered_json(x) : nlohmann::ordered_json(nullptr);
        };
        j["formulas"] = {{"inner_product", formulas->inner},
                         {"sizes_known", formulas->sizes_known},
                         {"from_inner_product", number(formulas->from_inner_product)},
                         {"from_zeros", number(formulas->from_zeros)}};
    }
    return j.dump(2) + "\n";
}

std::string describe(const options& o, const comparison& c, const std::optional<survey>& formulas) {
    const bool full = std::isinf(c.united.value);
    std::string text = fmt::format(
        "|A|       {}\n|B|       {}\n|A ∩ B|   {}\n|A ∪ B|   {}\nJaccard   {}\n"
        "Intervals hold the truth in {:g} % of cases.\n",
        range(c.a), range(c.b), full ? "unknown: an array is full" : range(c.intersection), range(c.united),
        full ? "unknown"
             : fmt::format("{} ({} … {})", fixed(c.jaccard.value, 4), fixed(c.jaccard.low, 4),
                           fixed(c.jaccard.high, 4)),
        100 * o.level);
    if (formulas)
        text += fmt::format(
            "|A ∩ B| by the survey's formulas:\n"
            "  from the inner product {}, given |A| and |B| as {}   {}\n"
            "  from the zeros of A, B and their AND   {}\n",
            count(formulas->inner), formulas->sizes_known ? "inserted" : "estimated",
            number_or_not(formulas->from_inner_product), number_or_not(formulas->from_zeros));
    return text;
}

const count_min* sketch_in(const message& m) {
    if (const auto* hitters = std::get_if<heavy_hitters>(&m.body)) return &hitters->sketch();
    return std::get_if<count_min>(&m.body);
}

void compare_sketches(const options& o, const count_min& a, const count_min& b) {
    if (o.formulas) throw failure("--formulas are for filters, and these are sketches");
    const estimate rows = take(join_size(a, b, o.level), display_name(o.a) + " and " + display_name(o.b));
    if (o.json) {
        const nlohmann::ordered_json j{
            {"level", o.level}, {"a", a.total()}, {"b", b.total()}, {"join", tool::to_json(rows)}};
        return print(j.dump(2) + "\n");
    }
    print(fmt::format(
        "rows of A   {}\nrows of B   {}\nA join B    {}\nThe interval holds the truth in {:g} % of cases.\n",
        count(a.total()), count(b.total()), range(rows), 100 * o.level));
}

void compare_filters(const options& o, const bloom_filter& a, const bloom_filter& b) {
    const auto c = take(compare(a, b, o.level), display_name(o.a) + " and " + display_name(o.b));
    std::optional<survey> formulas;
    if (o.formulas) {
        if (a.geometry().layout != layout_id::spread)
            throw failure("--formulas are for layout spread; these filters are " +
                          std::string(name_of(a.geometry().layout)));
        formulas.emplace(a, b, c);
    }
    print(o.json ? to_json(o, c, formulas) : describe(o, c, formulas));
}

void run(const options& o) {
    refuse_both_from_stdin(o.a, o.b);
    if (!(o.level > 0 && o.level < 1)) throw failure("--level must lie between 0 and 1");
    const read_limits limits = o.reading.limits();
    message a = load_message(o.a, limits), b = load_message(o.b, limits);
    const auto *counts_a = sketch_in(a), *counts_b = sketch_in(b);
    if (counts_a && counts_b) return compare_sketches(o, *counts_a, *counts_b);
    if (counts_a || counts_b)
        throw failure(display_name(counts_a ? o.a : o.b) + " is a sketch, and " +
                      display_name(counts_a ? o.b : o.a) + " is not; compare two sketches or two filters");
    compare_filters(o, plain_of(std::move(a.body), display_name(o.a)),
                    plain_of(std::move(b.body), display_name(o.b)));
}

}  // namespace

void add_compare(command_line& app) {
    const auto o = std::make_shared<options>();
    command_line command = add_command(
        app, "compare",
        "Estimate the sizes of two sets, their intersection, union and similarity; or the rows of a join",
        "  posy compare monday.posy tuesday.posy\n"
        "  posy compare a.posy b.posy --level 0.99 --json\n"
        "  posy compare a.posy b.posy --formulas\n"
        "  posy compare orders.counts customers.counts    sketches of 'posy count --plain -o'");
    command.add_option("A", o->a, "A filter or a sketch: a file, a URL, or - for standard input").required();
    command.add_option("B", o->b, "Another of the same geometry: a file, a URL, or - for standard input")
        .required();
    command
        .add_option("--level PROBABILITY", o->level, "Probability that an interval contains the true value")
        .shows_default();
    command.add_flag("--formulas", o->formulas,
                     "Add the two formulas of Broder and Mitzenmacher's survey for |A ∩ B| (layout spread)");
    command.add_flag("--json", o->json, "Print a JSON object");
    o->reading.add_to(command);
    command.runs([o] { run(*o); });
}

}  // namespace posy::tool
