#include "printed.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <sstream>

#include "embedded_tables.hpp"
#include "posy/theory.hpp"
#include "tool.hpp"

namespace posy::tool::papers {
namespace {

// ---- The files -------------------------------------------------------------------------------------------

std::vector<std::string> fields_of(const std::string& line) {
    std::vector<std::string> fields;
    std::istringstream stream(line + ',');
    for (std::string field; std::getline(stream, field, ',');) fields.push_back(field);
    return fields;
}

// A row by the names of its columns. A column that the file does not have is empty.
class row {
  public:
    row(const std::vector<std::string>& names, const std::vector<std::string>& fields) {
        for (std::size_t i = 0; i < names.size(); ++i) cells_[names[i]] = fields.at(i);
    }
    std::string text(const std::string& column) const {
        const auto found = cells_.find(column);
        return found == cells_.end() ? "" : found->second;
    }
    std::optional<double> maybe(const std::string& column) const {
        const std::string cell = text(column);
        return cell.empty() ? std::nullopt : std::optional(std::stod(cell));
    }
    double number(const std::string& column) const { return maybe(column).value_or(0); }

  private:
    std::map<std::string, std::string> cells_;
};

std::vector<row> rows_of(std::string_view file) {
    std::istringstream lines{std::string(file)};
    std::string line;
    std::getline(lines, line);
    const auto names = fields_of(line);
    std::vector<row> rows;
    while (std::getline(lines, line)) rows.emplace_back(names, fields_of(line));
    return rows;
}

struct table_file {
    std::string_view name, text;
};

table_file file_of(source from) {
    switch (from) {
        case source::fan1998:
            return {"fan1998", embedded::fan1998};
        case source::mitzenmacher2002:
            return {"mitzenmacher2002", embedded::mitzenmacher2002};
        case source::broder2004:
            return {"broder2004", embedded::broder2004};
    }
    throw failure("papers: no such source");
}

// ---- Entries ---------------------------------------------------------------------------------------------

// Summary Cache prints three significant digits and drops trailing zeros, but three decimals in its first
// rows; the others mean every digit they print.
double place_of(source from, const printed_entry& entry) {
    if (from == source::fan1998) {
        const double unit = std::pow(10, std::floor(std::log10(std::stod(entry.printed))) - 2);
        return entry.quantity == "rate" && entry.m() <= 5 ? std::max(unit, 1e-3) : unit;
    }
    const auto point = entry.printed.find('.');
    return point == std::string::npos ? 1
                                      : std::pow(10, -static_cast<double>(entry.printed.size() - point - 1));
}

double number(const std::string& text) { return text.empty() ? 0 : std::stod(text); }

std::string name_of_quantity(const std::string& quantity) {
    if (quantity == "rate") return "f";
    if (quantity == "optimum") return "optimal k";
    return quantity == "delta_per_change" ? "z/(cn)" : "z/n";
}

}  // namespace

double printed_entry::m() const { return number(bits_per_item); }
double printed_entry::k() const { return number(hashes); }
double printed_entry::c() const { return number(change); }

double printed_entry::value() const {
    if (quantity == "rate") return theory::false_positive_rate_asymptotic(1, m(), k());
    if (quantity == "optimum") return theory::optimal_hashes(1, m());
    if (quantity == "compressed") return theory::compressed_bits(1, m(), k());
    if (quantity == "delta") return theory::delta_bits(1, m(), k(), c());
    if (quantity == "delta_per_change") return theory::delta_bits(1, m(), k(), c()) / c();
    return m();  // raw
}

bool printed_entry::agrees() const {
    // A whisker for our own rounding: 0.5 units must not become 0.5000000001.
    return std::abs(value() - std::stod(printed)) <= place / 2 * (1 + 1e-9);
}

agreement compare(std::span<const printed_entry> entries) {
    agreement a{.entries = entries.size()};
    for (const printed_entry& e : entries) {
        a.right += e.agrees();
        if (!e.misprint()) continue;
        a.misprints.push_back(fmt::format("Table {}, m/n = {}{}, {}: printed {}, the formula gives {} ({}).",
                                          e.table, e.bits_per_item,
                                          e.hashes.empty() ? "" : ", k = " + e.hashes,
                                          name_of_quantity(e.quantity), e.printed, e.corrected, e.kind));
    }
    return a;
}

std::vector<printed_entry> entries_of(source from) {
    std::vector<printed_entry> all;
    for (const row& r : rows_of(file_of(from).text)) {
        all.push_back({r.text("table"), r.text("bits_per_item"), r.text("hashes"), r.text("change"),
                       r.text("quantity"), r.text("printed")});
        all.back().place = place_of(from, all.back());
    }
    for (const row& r : rows_of(embedded::misprints)) {
        if (r.text("source") != file_of(from).name) continue;
        const auto found = std::ranges::find_if(all, [&](const printed_entry& e) {
            return r.text("table") == e.table && r.text("bits_per_item") == e.bits_per_item &&
                   r.text("hashes") == e.hashes && r.text("quantity") == e.quantity;
        });
        if (found == all.end()) throw failure("papers: a misprint of no entry");
        found->corrected = r.text("corrected");
        found->kind = r.text("kind");
    }
    return all;
}

std::vector<printed_simulation> simulations() {
    std::vector<printed_simulation> all;
    for (const row& r : rows_of(embedded::simulations)) {
        const double change = r.number("change");
        all.push_back({.name = fmt::format("{}({}, {})", change > 0 ? "delta " : "", r.text("bits_per_item"),
                                           r.text("hashes")),
                       .m = r.number("bits_per_item"),
                       .change = change,
                       .k = static_cast<unsigned>(r.number("hashes")),
                       .theory = r.maybe("theory"),
                       .mean = r.maybe("mean"),
                       .deviation = r.maybe("deviation"),
                       .largest = r.number("largest")});
    }
    return all;
}

// ---- Texts -----------------------------------------------------------------------------------------------

double printed_text::value() const {
    using namespace theory;
    if (quantity == "rate") return false_positive_rate_asymptotic(1, m, k);
    if (quantity == "delta") return delta_bits(1, m, k, c);
    if (quantity == "overflow_bound") return overflow_bound_half_full(16, 1);
    if (quantity == "size_saved") return 1 - compressed_bits(1, m, k) / than_m;
    if (quantity == "delta_saved") return 1 - delta_bits(1, m, k, c) / delta_bits(1, than_m, than_k, c);
    const double factor =
        false_positive_rate_asymptotic(1, m, k) / false_positive_rate_asymptotic(1, than_m, than_k);
    return quantity == "rate_factor" ? factor : 1 - factor;  // rate_saved
}

bool printed_text::share() const { return quantity.ends_with("_saved"); }

std::vector<printed_text> texts_of(source from) {
    std::vector<printed_text> all;
    for (const row& r : rows_of(embedded::texts)) {
        if (r.text("source") != file_of(from).name) continue;
        all.push_back({r.text("what"), r.text("printed"), r.text("quantity"), r.number("bits_per_item"),
                       r.number("hashes"), r.number("change"), r.number("than_bits_per_item"),
                       r.number("than_hashes")});
    }
    return all;
}

}  // namespace posy::tool::papers
