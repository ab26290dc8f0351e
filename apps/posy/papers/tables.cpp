// The printed tables: Summary Cache 3 to 5, Compressed Bloom Filters I to VII, the survey's 1.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "chapters.hpp"
#include "numbers.hpp"
#include "posy/theory.hpp"

namespace posy::tool::papers {

std::string several(std::uint64_t n, const std::string& one) {
    return count(static_cast<double>(n)) + " " + one + (n == 1 ? "" : "s");
}

std::string shown(double value) { return fmt::format("{:.4g}", value); }

std::string shown(const tally* t, purpose why, double bits_per_item, unsigned hashes) {
    if (!t) return "–";
    const rate_check r = check_rate(*t, why, bits_per_item, hashes);
    const std::uint64_t asked = t->hits.count() * laboratory::queries(why);
    if (t->hits.sum() == 0) return "0 of " + count(static_cast<double>(asked));
    return fmt::format("{:.3g} ± {:.1g}", r.measured, r.standard_error);
}

namespace {

std::string five(double value) { return fmt::format("{:.5g}", value); }
std::string exact(double value) { return fmt::format("{}", value); }

cell beside(const printed_entry& e) {
    const bool bits = e.quantity == "compressed" || e.quantity == "delta" || e.quantity == "delta_per_change";
    return {e.printed, e.quantity == "raw" ? "" : bits ? five(e.value()) : shown(e.value()), e.misprint()};
}

unsigned hashes_of(const printed_entry& e) { return static_cast<unsigned>(e.k()); }

paragraph how_to_read(const agreement& a, const std::string& measured) {
    return {fmt::format(
        "{} of {} printed entries are their formula rounded to the printed digits; {}. A cell shows the "
        "printed figure and, after it, ours with more digits.{}",
        a.right, a.entries,
        a.entries == a.right       ? "there is no other"
        : a.entries == a.right + 1 ? "one is not and is marked ✗"
                                   : fmt::format("{} are not and are marked ✗", a.entries - a.right),
        measured)};
}

// The measured value of an entry and its standard error, for the data file.
std::pair<std::string, std::string> measured(const laboratory& lab, purpose why, const printed_entry& e) {
    const tally* t = lab.find(why, e.m(), hashes_of(e), e.c());
    if (!t || e.quantity == "optimum" || e.quantity == "raw") return {};
    if (e.quantity == "rate") {
        const rate_check r = check_rate(*t, why, e.m(), hashes_of(e));
        return {exact(r.measured), exact(r.standard_error)};
    }
    const double unit = 8.0 / items / (e.quantity == "delta_per_change" ? e.c() : 1);
    return {exact(t->payload.mean() * unit), exact(t->payload.standard_error() * unit)};
}

data entries_file(const std::string& name, const laboratory& lab, purpose why,
                  const std::vector<printed_entry>& entries, bool with_change) {
    data d{name, {{"table", "bits_per_item", "hashes"}}};
    if (with_change) d.rows[0].emplace_back("change");
    for (const char* column :
         {"quantity", "printed", "computed", "corrected", "kind", "measured", "standard_error"}) {
        d.rows[0].emplace_back(column);
    }
    for (const printed_entry& e : entries) {
        csv_row row{e.table, e.bits_per_item, e.hashes};
        if (with_change) row.push_back(e.change);
        const auto [value, error] = measured(lab, why, e);
        row.insert(row.end(), {e.quantity, e.printed, exact(e.value()), e.corrected, e.kind, value, error});
        d.rows.push_back(std::move(row));
    }
    return d;
}

// ---- Summary Cache ---------------------------------------------------------------------------------------

table fan_table(const laboratory& lab, const std::vector<printed_entry>& entries, const std::string& number) {
    table t{"Table " + number + ": false-positive rate, printed, computed and measured", {{"m/n"}}};
    const unsigned first = 8 * (static_cast<unsigned>(std::stoul(number)) - 3) + 1;
    if (number == "3") t.rows[0].emplace_back("best k");
    for (unsigned k = first; k < first + 8; ++k) t.rows[0].emplace_back("k = " + std::to_string(k));
    for (const printed_entry& e : entries) {
        if (e.table != number) continue;
        const auto same = [&](const std::vector<cell>& row) { return row[0].text == e.bits_per_item; };
        auto row = std::ranges::find_if(t.rows, same);
        if (row == t.rows.end()) row = t.rows.insert(row, {cell(e.bits_per_item)});
        row->push_back(beside(e));
        const tally* seen = e.quantity == "rate" ? lab.find(purpose::rate, e.m(), hashes_of(e)) : nullptr;
        if (seen) row->back().measured = shown(seen, purpose::rate, e.m(), hashes_of(e));
    }
    for (auto& row : t.rows) row.resize(t.rows[0].size(), cell(""));
    return t;
}

std::string several_entries(std::uint64_t number) {
    return number == 1 ? "1 entry" : fmt::format("{} entries", number);
}

// The measured rates, all 411 together: how far from their expectations, in standard errors.
paragraph fan_measured(const laboratory& lab, const std::vector<printed_entry>& entries) {
    std::size_t tried = 0, one = 0, two = 0;
    double farthest = 0;
    for (const printed_entry& e : entries) {
        const tally* t = lab.find(purpose::rate, e.m(), hashes_of(e));
        if (!t) continue;
        const rate_check r = check_rate(*t, purpose::rate, e.m(), hashes_of(e));
        // With fewer hits than this the error is not normal, and a count of sigmas says little.
        if (r.expected * static_cast<double>(t->hits.count() * laboratory::queries(purpose::rate)) < 10)
            continue;
        ++tried;
        one += std::abs(r.sigmas()) < 1;
        two += std::abs(r.sigmas()) < 2;
        farthest = std::max(farthest, std::abs(r.sigmas()));
    }
    if (tried == 0) return {"No rates were measured in this run."};
    const auto percent = [&](std::size_t part) {
        return 100 * static_cast<double>(part) / static_cast<double>(tried);
    };
    return {fmt::format(
        "Every rate was measured, too, and is shown behind ours with its standard error: {} of 10,000 keys "
        "per entry, asked for 100,000 others each. Of the {} that had ten or more hits to expect, {:.0f} % "
        "lie within one standard error of "
        "the expected rate of filters of this size and {:.0f} % within two (68 and 95 were to be expected); "
        "the farthest is {:.1f} away.",
        several(lab.trials(purpose::rate), "filter"), several_entries(tried), percent(one), percent(two),
        farthest)};
}

// ---- Compressed Bloom Filters ----------------------------------------------------------------------------

// As the papers print them: a column per filter, a row per quantity.
table column_table(const laboratory& lab, const std::vector<printed_entry>& entries,
                   const std::string& number, const std::string& caption) {
    table t{"Table " + number + ": " + caption,
            {{"array bits per item, m/n"},
             {"hashes, k"},
             {"message bits per item, z/n"},
             {"… measured"},
             {"bits per changed item, z/(cn)"},
             {"false-positive rate, f"},
             {"… measured"}}};
    for (const printed_entry& e : entries) {
        if (e.table != number) continue;
        const tally* seen = lab.find(purpose::column, e.m(), hashes_of(e), e.c());
        if (e.quantity == "rate") {
            t.rows[5].push_back(beside(e));
            t.rows[6].emplace_back(shown(seen, purpose::column, e.m(), hashes_of(e)));
        } else if (e.quantity == "delta_per_change") {
            t.rows[4].push_back(beside(e));
        } else {
            t.rows[0].emplace_back(e.bits_per_item);
            t.rows[1].emplace_back(e.hashes);
            t.rows[2].push_back(beside(e));
            t.rows[3].emplace_back(!seen || e.quantity == "raw"
                                       ? "–"
                                       : fmt::format("{:.4f} ± {:.1g}", seen->payload.mean() * 8 / items,
                                                     seen->payload.standard_error() * 8 / items));
        }
    }
    if (t.rows[4].size() == 1) t.rows.erase(t.rows.begin() + 4);
    return t;
}

void ask_columns(laboratory& lab, source from) {
    for (const printed_entry& e : entries_of(from)) lab.want(purpose::column, e.m(), hashes_of(e), e.c());
}

// What the running text says of the tables, in rates, shares and factors.
sheet claims_sheet() {
    sheet t("mitzenmacher2002_text", "Printed in the text, and computed",
            {{"claim", "what"}, {"printed", "printed"}, {"computed", "computed"}});
    for (const printed_text& p : texts_of(source::mitzenmacher2002)) {
        const double value = p.value();
        t.row({p.what, p.printed,
               p.share() ? sheet::value(fmt::format("{:.1f} %", 100 * value), value) : sheet::value(value)});
    }
    return t;
}

std::string measured_columns(const laboratory& lab) {
    if (lab.trials() == 0) return "";
    return fmt::format(
        " Measured, with standard errors: {} of 10,000 keys per column, coded by our coder (all of the "
        "payload counted) and asked for 10,000 other keys each.",
        several(lab.trials(purpose::column), "filter"));
}

}  // namespace

void ask_fan(laboratory& lab) {
    for (const printed_entry& e : entries_of(source::fan1998)) {
        if (e.quantity == "rate") lab.want(purpose::rate, e.m(), hashes_of(e));
    }
    ask_fan_figure(lab);
}

section write_fan(const laboratory& lab) {
    const auto entries = entries_of(source::fan1998);
    const agreement a = compare(entries);
    section s{"Summary Cache (Fan, Cao, Almeida, Broder 1998): Tables 3 to 5 and Figure 4", {}};
    s.parts.emplace_back(how_to_read(a, ""));
    s.parts.emplace_back(list{a.misprints});
    s.parts.emplace_back(fan_measured(lab, entries));
    for (const char* number : {"3", "4", "5"}) {
        s.parts.emplace_back(heading{"fan1998/table" + std::string(number)});
        s.parts.emplace_back(fan_table(lab, entries, number));
    }
    s.parts.emplace_back(entries_file("fan1998", lab, purpose::rate, entries, false));
    s.parts.emplace_back(heading{"fan1998/figure4"});
    add_fan_figure(lab, s);
    const auto texts = texts_of(source::fan1998);
    s.parts.emplace_back(paragraph{fmt::format(
        "The text under Table 5 gives {} for 4 hashes at 10 bits per item, which is {}, and takes 5 hashes, "
        "{}, for the optimum. Five give {}; the best whole number is {}, with {}, as Table 3 has it.",
        texts[0].printed, shown(texts[0].value()), texts[1].printed, shown(texts[1].value()),
        theory::optimal_hashes_integral(1, 10), shown(theory::false_positive_rate_asymptotic(1, 10, 7)))});
    return s;
}

void ask_mitzenmacher(laboratory& lab) {
    ask_columns(lab, source::mitzenmacher2002);
    ask_mitzenmacher_figures(lab);
}

section write_mitzenmacher(const laboratory& lab) {
    const auto entries = entries_of(source::mitzenmacher2002);
    const auto simulated = simulations();
    const agreement a = compare(entries);
    section s{"Compressed Bloom Filters (Mitzenmacher 2002): Tables I to VII, Figures 1 and 2", {}};
    s.parts.emplace_back(how_to_read(a, measured_columns(lab)));
    s.parts.emplace_back(list{a.misprints});
    const auto delta = std::ranges::find_if(simulated, [](const auto& p) { return p.change > 0; });
    s.parts.emplace_back(paragraph{
        fmt::format("The two swapped columns of Table VI went into the text as well: the theoretical size of "
                    "the {}, printed as {} bytes, is that of (12, 3).",
                    delta->name, *delta->theory)});
    unsigned order = 0;
    for (const auto& [number, caption] : std::initializer_list<std::pair<const char*, const char*>>{
             {"I", "at most 8 bits per item, compressed"},
             {"II", "at most 16 bits per item, compressed"},
             {"III", "at most 4 bits per item, compressed"},
             {"IV", "a rate of about 0.02"},
             {"V", "a rate of about 0.00045"},
             {"VI", "deltas, 5 % of the items replaced"},
             {"VII", "deltas, 1 % of the items replaced"}}) {
        s.parts.emplace_back(heading{fmt::format("mitzenmacher2002/table{}", ++order)});
        s.parts.emplace_back(column_table(lab, entries, number, caption));
    }
    s.parts.emplace_back(entries_file("mitzenmacher2002", lab, purpose::column, entries, true));
    add_mitzenmacher_figures(lab, s);
    s.parts.emplace_back(heading{"mitzenmacher2002/text"});
    claims_sheet().append_to(s);
    return s;
}

void ask_survey(laboratory& lab) { ask_columns(lab, source::broder2004); }

section write_survey(const laboratory& lab) {
    const auto entries = entries_of(source::broder2004);
    section s{"Network Applications of Bloom Filters (Broder, Mitzenmacher 2004): Table 1", {}};
    s.parts.emplace_back(how_to_read(compare(entries), measured_columns(lab)));
    s.parts.emplace_back(heading{"survey/table1"});
    s.parts.emplace_back(column_table(lab, entries, "1", "at most 16 bits per item, compressed"));
    const auto texts = texts_of(source::broder2004);
    s.parts.emplace_back(paragraph{fmt::format(
        "The text: 11 hashes give {} without compression, ours {}; 48 bits per item and 3 hashes lower it by "
        "{}, ours {:.2f}.",
        texts[0].printed, shown(texts[0].value()), texts[1].printed, texts[1].value())});
    s.parts.emplace_back(entries_file("broder2004", lab, purpose::column, entries, true));
    return s;
}

}  // namespace posy::tool::papers
