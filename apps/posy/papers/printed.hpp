// What the papers print: every entry of their tables, every figure of their simulations and what their texts
// say in figures, as it stands there, and which of the entries are misprints. All of it is read from the
// files of testdata/tables, which the tests read, too: nothing is typed twice.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace posy::tool::papers {

enum class source { fan1998, mitzenmacher2002, broder2004 };

struct printed_entry {
    std::string table;
    std::string bits_per_item, hashes, change;  // m/n, k, c; empty where there is none
    std::string quantity;                       // rate, optimum, raw, compressed, delta, delta_per_change
    std::string printed;
    std::string corrected{}, kind{};  // of a misprint: what its formula gives, and what went wrong
    double place = 0;                 // one unit of the last place that is meant

    double m() const;  // bits per item
    double k() const;
    double c() const;
    double value() const;  // of the formula
    bool misprint() const { return !corrected.empty(); }
    bool agrees() const;  // the printed text is the formula, rounded
};
std::vector<printed_entry> entries_of(source);

// How many entries are their formula, and which are not: one line each.
struct agreement {
    std::size_t entries = 0, right = 0;
    std::vector<std::string> misprints;
};
agreement compare(std::span<const printed_entry>);

// The simulations of Mitzenmacher 2002, III-A and IV: 100,000 trials each, n = 10,000, bytes.
struct printed_simulation {
    std::string name;
    double m, change;  // bits per item; the fraction replaced, or 0 for a whole filter
    unsigned k;
    std::optional<double> theory, mean, deviation;
    double largest;
};
std::vector<printed_simulation> simulations();

// What a sentence says in figures.
struct printed_text {
    std::string what, printed;
    std::string quantity;        // rate, delta, overflow_bound; …_saved and rate_factor compare two filters
    double m = 0, k = 0, c = 0;  // of the filter that is spoken of
    double than_m = 0, than_k = 0;  // and of the one that it is compared with

    double value() const;  // of the formula
    bool share() const;    // the value is a share, printed in percent
};
std::vector<printed_text> texts_of(source);

}  // namespace posy::tool::papers
