// What the papers print: every entry of their tables and every figure of their simulations, as it stands
// there, and which of them are misprints. The same facts as testdata/tables, inside the program so that an
// installed tool has them; a test holds the two together.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace posy::tool::papers {

struct printed_entry {
    std::string table;
    std::string bits_per_item, hashes, change;  // m/n, k, c; empty where there is none
    std::string quantity;                       // rate, optimum, raw, compressed, delta, delta_per_change
    std::string printed;
    std::string corrected{}, kind{};  // of a misprint: what its formula gives, and what went wrong
    double place = 0;                 // one unit of the last place that is meant

    double m() const;  // bits an item
    double k() const;
    double c() const;
    double value() const;  // of the formula
    bool misprint() const { return !corrected.empty(); }
    bool agrees() const;  // the printed text is the formula, rounded
};

enum class source { fan1998, mitzenmacher2002, broder2004 };
std::vector<printed_entry> entries_of(source);

// How many entries are their formula, and which are not: one line each.
struct agreement {
    std::size_t entries = 0, right = 0;
    std::vector<std::string> misprints;
};
agreement compare(std::span<const printed_entry>);

// The simulations of Mitzenmacher 2002, III-A and IV: 100,000 trials each, n = 10,000, bytes.
struct printed_simulation {
    std::string_view name, table;
    double m, change;  // bits an item; the fraction replaced, or 0 for a whole filter
    unsigned k;
    std::optional<double> theory, mean, deviation;
    double largest;
};
std::span<const printed_simulation> simulations();

}  // namespace posy::tool::papers
