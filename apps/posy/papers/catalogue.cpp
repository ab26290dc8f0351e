#include "catalogue.hpp"

#include <algorithm>
#include <array>

#include "tool.hpp"

namespace posy::tool::papers {
namespace {

constexpr std::array section_rows = std::to_array<section_title>({
    {"formulas/fill", "The share of zeros"},
    {"formulas/rate", "The false-positive rate"},
    {"formulas/optimum", "The best number of hashes"},
    {"formulas/precise", "The best number of hashes, without approximation"},
    {"bounds/lower", "The lower bound, in a finite universe and beyond"},
    {"bounds/bloom", "The Bloom filter above the bound"},
    {"bounds/perfect", "Fingerprints in a table without gaps"},
    {"bounds/list", "The list of hash values"},
    {"bounds/identifiers", "Identifiers against filters"},
    {"fan1998/table3", "Table 3"},
    {"fan1998/table4", "Table 4"},
    {"fan1998/table5", "Table 5"},
    {"fan1998/figure4", "Figure 4"},
    {"mitzenmacher2002/table1", "Table I"},
    {"mitzenmacher2002/table2", "Table II"},
    {"mitzenmacher2002/table3", "Table III"},
    {"mitzenmacher2002/table4", "Table IV"},
    {"mitzenmacher2002/table5", "Table V"},
    {"mitzenmacher2002/table6", "Table VI"},
    {"mitzenmacher2002/table7", "Table VII"},
    {"mitzenmacher2002/figure1", "Figure 1"},
    {"mitzenmacher2002/figure2", "Figure 2"},
    {"mitzenmacher2002/text", "What the text says of the tables"},
    {"limits/beta", "Entropy, beta and gamma"},
    {"limits/ends", "The limit of few and of many hashes"},
    {"limits/practice", "One hash, a sorted list, a budget"},
    {"limits/coder", "What an adaptive coder takes"},
    {"limits/delta", "Deltas and their limit"},
    {"limits/counting", "A counting filter as a message"},
    {"simulation/sizes", "Message sizes, and the rates of the same filters"},
    {"simulation/ones", "Concentration of the number of zeros"},
    {"survey/table1", "Table 1"},
    {"sets/example", "A small filter, step by step"},
    {"sets/tricks", "Union, halving and the number of items"},
    {"sets/intersection", "The intersection formulas"},
    {"sets/conservative", "Conservative update"},
    {"sets/applications", "What the applications count on"},
    {"slides/hashes", "Rate against the number of hashes"},
    {"slides/bits", "Rate against bits per entry"},
    {"hadoop/size", "Figure A-1 and its helper"},
    {"hadoop/hashes", "Figure A-2 and its helper"},
    {"hadoop/examples", "What the text counts on"},
    {"counters/distribution", "The distribution of a counter, and the bounds on its tail"},
    {"counters/overflow", "Four bits per counter"},
    {"counters/largest", "The largest counter"},
    {"counters/stuck", "A counter at its end"},
});

constexpr std::string_view cache = "Summary Cache", compressed = "Compressed Bloom Filters",
                           survey = "Survey", slides = "Slides", hadoop = "Hadoop";

constexpr std::array entry_rows = std::to_array<catalogue_entry>({
    // ---- Fan, Cao, Almeida, Broder 1998: Summary Cache, "Bloom Filters - the math"
    {cache, "Figure 3", "figure", "a filter with four hashes", "sets/example"},
    {cache, "formula 1", "formula", "(1 − 1/m)^(kn), a bit is still 0", "formulas/fill"},
    {cache, "formula 2", "formula", "(1 − (1 − 1/m)^(kn))^k ≈ (1 − e^(−kn/m))^k", "formulas/rate"},
    {cache, "below formula 2", "text", "k = ln 2 · m/n minimizes it", "formulas/optimum"},
    {cache, "formula 3", "formula", "(1/2)^k = 0.6185^(m/n)", "formulas/optimum"},
    {cache, "Table 3", "table", "rates for k = 1 to 8, and the best k", "fan1998/table3"},
    {cache, "Table 4", "table", "rates for k = 9 to 16", "fan1998/table4"},
    {cache, "Table 5", "table", "rates for k = 17 to 24", "fan1998/table5"},
    {cache, "Figure 4", "figure", "rate against bits per entry, 4 hashes and the best", "fan1998/figure4"},
    {cache, "above Figure 4", "text", "10 bits: 1.2 % with 4 hashes, 0.9 % with 5", "fan1998/figure4"},
    {cache, "formula 4", "formula", "Γ⁻¹(m)(1 + ln(kn/m)/ln Γ⁻¹(m) + O(…)), the largest count",
     "counters/largest"},
    {cache, "formula 5", "formula", "Pr(max c ≥ i) ≤ m C(nk,i)/mⁱ ≤ m (enk/im)ⁱ", "counters/distribution"},
    {cache, "formula 6", "formula", "Pr(max c ≥ i) ≤ m (e ln 2/i)ⁱ", "counters/distribution"},
    {cache, "formula 7", "formula", "Pr(max c ≥ 16) ≤ 1.37e-15 m", "counters/overflow"},
    {cache, "last paragraph", "text", "a count stays at 15", "counters/stuck"},

    // ---- Mitzenmacher 2002: Compressed Bloom Filters
    {compressed, "II-A", "text", "n ⌈log |U|⌉ bits for the set itself", "bounds/identifiers"},
    {compressed, "II-A, formula 1", "formula", "(1 − 1/m)^(kn) ≈ e^(−kn/m) = p", "formulas/fill"},
    {compressed, "II-A, formula 2", "formula", "(1 − (1 − 1/m)^(kn))^k ≈ (1 − p)^k = f", "formulas/rate"},
    {compressed, "II-A, formula 3", "formula", "dg/dk, 0 at k = ln 2 · m/n", "formulas/optimum"},
    {compressed, "II-A", "text", "f = (1/2)^k = 0.6185^(m/n) there", "formulas/optimum"},
    {compressed, "II-A, (1)", "formula", "f = (e^(−ln p ln(1−p)))^(m/n), symmetric in p", "formulas/optimum"},
    {compressed, "II-B", "text", "m H(p), H(p) = −p log2 p − (1−p) log2(1−p)", "limits/beta"},
    {compressed, "II-B, formula 5", "formula", "f = (1−p)^(−z ln p/(nH(p)))", "limits/beta"},
    {compressed, "II-B, (2)", "formula", "β = f^(n/z)", "limits/beta"},
    {compressed, "II-B, formula 7", "formula", "γ = p/ln(1−p) + (1−p)/ln p", "limits/beta"},
    {compressed, "II-B, formula 8", "formula", "dγ/dp, 0 at p = 1/2", "limits/beta"},
    {compressed, "II-B", "text", "f ≤ 0.6185^(z/n) without compression", "limits/ends"},
    {compressed, "II-B", "text", "γ → −1, β → 1/2, f → 0.5^(z/n) as k goes to 0 or infinity", "limits/ends"},
    {compressed, "II-B", "text", "z = m ln 2 at the same rate, 30 % less", "limits/ends"},
    {compressed, "III", "text", "m ≈ n/ε with one hash", "limits/practice"},
    {compressed, "III", "text", "a design for 0.99 z", "limits/practice"},
    {compressed, "Table I", "table", "at most 8 bits per element", "mitzenmacher2002/table1"},
    {compressed, "Table II", "table", "at most 16 bits per element", "mitzenmacher2002/table2"},
    {compressed, "Table III", "table", "at most 4 bits per element", "mitzenmacher2002/table3"},
    {compressed, "Table IV", "table", "a rate around 0.02", "mitzenmacher2002/table4"},
    {compressed, "Table V", "table", "a rate around 0.00045", "mitzenmacher2002/table5"},
    {compressed, "Table VI", "table", "deltas, c = 0.05", "mitzenmacher2002/table6"},
    {compressed, "Table VII", "table", "deltas, c = 0.01", "mitzenmacher2002/table7"},
    {compressed, "Fig. 1", "figure", "rate against hashes, 8 bits per element", "mitzenmacher2002/figure1"},
    {compressed, "Fig. 2", "figure", "rate against hashes, 16 bits per element", "mitzenmacher2002/figure2"},
    {compressed, "III-A", "text", "k = 5: 0.0217; k = 6 at 16 bits: 0.000935; savings in percent",
     "mitzenmacher2002/text"},
    {compressed, "III-A", "simulation", "(14, 2), (48, 3), (7, 1), (12.6, 2): sizes", "simulation/sizes"},
    {compressed, "III-A", "text", "a sorted list, n log2(92n) bits", "limits/practice"},
    {compressed, "IV", "text", "m H(0.05) when 5 % of the bits changed", "limits/delta"},
    {compressed, "IV", "text", "q = 2p(1 − p^c), in two cases", "limits/delta"},
    {compressed, "IV, formula 9", "formula", "f = (1−p)^(−z ln p/(nH(q)))", "limits/delta"},
    {compressed, "IV, formula 10", "formula", "β = e^(−ln p ln(1−p)/H(2p(1−p^c)))", "limits/delta"},
    {compressed, "IV", "text", "β → (1/2)^(1/2c), f → 0.5^(z/2cn)", "limits/delta"},
    {compressed, "IV", "simulation", "the delta at (32, 2): sizes", "simulation/sizes"},
    {compressed, "V", "text", "the entropy of a counting filter's counters", "limits/counting"},
    {compressed, "Appendix", "text", "p' = (1 − 1/m)^(nk) and p", "formulas/fill"},
    {compressed, "Theorem 1", "formula", "Pr[|X − mp| > εm] < 2e^(−ε²m²/2nk)", "simulation/ones"},
    {compressed, "Appendix, formula 12", "formula", "L = ⌈log2 (m+1)!/(x!(m−x)!)⌉ + 1", "limits/coder"},
    {compressed, "Appendix, formula 13", "formula", "L = mH(ρ) + O(log m)", "limits/coder"},
    {compressed, "Appendix, formula 14", "formula", "C(m, ρm) = 2^(mH(ρ) + O(log m))", "limits/coder"},

    // ---- Broder, Mitzenmacher 2004: Network Applications of Bloom Filters
    {survey, "Figure 1", "figure", "an example of a filter", "sets/example"},
    {survey, "2.1, formula 1", "formula", "p' = (1 − 1/m)^(kn) ≈ e^(−kn/m)", "formulas/fill"},
    {survey, "2.1", "text", "E(ρ) = p', and p within O(1/m) of p'", "formulas/fill"},
    {survey, "2.1, formula 2", "formula", "(1 − ρ)^k ≈ (1 − p')^k ≈ (1 − p)^k", "formulas/rate"},
    {survey, "2.1, formula 3", "formula", "f' = (1 − p')^k", "formulas/rate"},
    {survey, "2.1, formula 4", "formula", "f = (1 − e^(−kn/m))^k", "formulas/rate"},
    {survey, "2.1, formula 5", "formula", "(1 − k/m)^n ≈ e^(−kn/m), sliced", "formulas/fill"},
    {survey, "2.1, formula 6", "formula", "(1 − k/m)^n ≤ (1 − 1/m)^(kn)", "formulas/fill"},
    {survey, "2.1, formula 7", "formula", "∂g/∂k", "formulas/optimum"},
    {survey, "2.1, formula 8", "formula", "g = −(m/n) ln p ln(1−p), least at p = 1/2", "formulas/optimum"},
    {survey, "2.1", "text", "f = (1/2)^k ≈ 0.6185^(m/n)", "formulas/optimum"},
    {survey, "2.1, formula 9", "formula", "g' = ln p' ln(1−p')/(n ln(1−1/m)), least at p' = 1/2",
     "formulas/precise"},
    {survey, "2.1, formula 10", "formula", "P(|X − p'm| > εm) < 2e^(−2ε²m²/nk)", "simulation/ones"},
    {survey, "2.2, formula 11", "formula", "2^m C(n + ε(u−n), n) ≥ C(u, n)", "bounds/lower"},
    {survey, "2.2, formula 12", "formula", "m ≥ log2 C(u,n)/C(n+ε(u−n),n) ≈ … ≥ n log2(1/ε)", "bounds/lower"},
    {survey, "2.2, formula 13", "formula", "f = (1/2)^k ≥ (1/2)^(m ln 2/n)", "bounds/bloom"},
    {survey, "2.2, formula 14", "formula", "m ≥ n log2 e · log2(1/ε)", "bounds/bloom"},
    {survey, "2.2", "text", "a factor of 1.44; 0.6185^j against 0.5^j", "bounds/bloom"},
    {survey, "2.2", "text", "perfect hashing: n j bits, a rate of 1/2^j", "bounds/perfect"},
    {survey, "2.3", "text", "2 log2 n bits per element: 1/n² for a pair, at most 1/n", "bounds/list"},
    {survey, "2.3", "text", "one hash is ordinary hashing", "bounds/list"},
    {survey, "2.3", "text", "m = 8n: just over 0.02", "bounds/bloom"},
    {survey, "2.4", "text", "union by OR, halving by OR of the halves", "sets/tricks"},
    {survey, "2.4", "text", "|S| from the zeros, m(1 − 1/m)^(k|S|)", "sets/tricks"},
    {survey, "2.4, formula 15", "formula", "the probability that a bit is set in both", "sets/intersection"},
    {survey, "2.4, formula 16", "formula", "the expected inner product", "sets/intersection"},
    {survey, "2.4, formula 17", "formula", "(1/m)(1 − 1/m)^(−k|S1∩S2|) ≈ (Z1 + Z2 − Z12)/(Z1 Z2)",
     "sets/intersection"},
    {survey, "2.5, formula 18", "formula", "P(c = j) = C(nk,j) m^−j (1 − 1/m)^(nk−j)",
     "counters/distribution"},
    {survey, "2.5, formula 19", "formula", "P(c ≥ j) ≤ C(nk,j)/m^j ≤ (enk/jm)^j", "counters/distribution"},
    {survey, "2.5, formula 20", "formula", "P(max c ≥ j) ≤ m (e ln 2/j)^j", "counters/distribution"},
    {survey, "2.5, formula 21", "formula", "P(max c ≥ 16) ≤ 1.37e-15 m", "counters/overflow"},
    {survey, "2.5", "text", "1.37e-15 m t over t sets", "counters/overflow"},
    {survey, "2.5", "text", "the largest is O(log m), so O(log log m) bits per counter", "counters/largest"},
    {survey, "2.5", "text", "a counter is left at its maximum", "counters/stuck"},
    {survey, "Table 1", "table", "at most 16 bits per element", "survey/table1"},
    {survey, "2.6", "text", "0.000459 with 11 hashes, a factor of 2 with 48 bits and 3", "survey/table1"},
    {survey, "5.1", "text", "8 or 16 bits per object for 64", "bounds/identifiers"},
    {survey, "5.2", "text", "most of S_A − S_B is found by a filter", "sets/applications"},
    {survey, "5.3", "text", "the intersection with fewer bits than S_A", "sets/applications"},
    {survey, "6.1", "text", "unified lists by OR; wrong paths", "sets/applications"},
    {survey, "6.3", "text", "log2 k + 1 levels", "sets/applications"},
    {survey, "7.1", "text", "a loop is suspected when the OR changes nothing", "sets/applications"},
    {survey, "7.2", "text", "the least of k marking probabilities", "sets/applications"},
    {survey, "8.1", "text", "max(c, M_k + B)", "sets/conservative"},
    {survey, "Figure 2", "figure", "an example of conservative update", "sets/conservative"},
    {survey, "8.2", "text", "false branches of a traced path", "sets/applications"},

    // ---- Lam 2017: slides
    {slides, "A Bloom filter example", "figure", "three hashes, X1 and X2 in, Y1 and Y2 asked",
     "sets/example"},
    {slides, "False positive probability", "formula", "p' = (1 − 1/m)^(kn) ≈ e^(−kn/m) = p", "formulas/fill"},
    {slides, "False positive probability", "formula", "(1 − p')^k ≈ (1 − p)^k", "formulas/rate"},
    {slides, "False positive probability (cont.)", "formula", "f' and f", "formulas/rate"},
    {slides, "False positive rate vs. k", "figure", "8 bits per member", "slides/hashes"},
    {slides, "Optimal k from derivative", "formula", "g = k ln(1 − e^(−kn/m)) and ∂g/∂k", "formulas/optimum"},
    {slides, "Optimal k from symmetry", "formula", "k = −(m/n) ln p, g = −(m/n) ln p ln(1−p)",
     "formulas/optimum"},
    {slides, "Optimal k, precise", "formula", "k = ln p'/(n ln(1−1/m)) and g'", "formulas/precise"},
    {slides, "Optimal k, precise (cont.)", "formula", "k' = ln(1/2)/(n ln(1−1/m))", "formulas/precise"},
    {slides, "Optimal number of hash functions", "formula", "0.5^(ln 2 m/n) = 0.6185^(m/n)",
     "formulas/optimum"},
    {slides, "Rate vs. bits per entry", "figure", "4 hashes and the best number", "slides/bits"},
    {slides, "Standard Bloom filter tricks", "text", "union and halving", "sets/tricks"},
    {slides, "Counter overflow probability", "formula", "P(c = j), and P(c ≥ j) ≤ C(nk,j)/m^j ≤ (enk/jm)^j",
     "counters/distribution"},
    {slides, "Counter overflow probability (cont.)", "formula", "(e ln 2/j)^j, and m times that",
     "counters/distribution"},
    {slides, "Counter overflow probability (cont.)", "formula", "P(max c ≥ 16) ≤ 1.37e-15 m",
     "counters/overflow"},
    {slides, "Counter overflow consequences", "text", "a counter is left at its maximum", "counters/stuck"},

    // ---- Miner, Shook 2012: MapReduce Design Patterns, appendix A
    {hadoop, "Overview", "text", "32 characters take the room of 1024", "hadoop/examples"},
    {hadoop, "Downsides", "text", "1 % of ten million are a hundred thousand", "hadoop/examples"},
    {hadoop, "Downsides", "text", "an integer that overflows becomes zero or negative", "counters/stuck"},
    {hadoop, "Figure A-1", "formula", "m = −n ln p/(ln 2)²", "hadoop/size"},
    {hadoop, "getOptimalBloomFilterSize", "code", "the size, truncated", "hadoop/size"},
    {hadoop, "Figure A-2", "formula", "k = m ln 2/n", "hadoop/hashes"},
    {hadoop, "getOptimalK", "code", "the number of hashes, rounded", "hadoop/hashes"},
});

const section_title& section_named(std::string_view name) {
    const auto found = std::ranges::find(section_rows, name, &section_title::name);
    if (found == section_rows.end()) throw failure("papers: no section " + std::string(name));
    return *found;
}

}  // namespace

std::span<const catalogue_entry> catalogue() { return entry_rows; }
std::span<const section_title> sections() { return section_rows; }

std::vector<std::string_view> chapter_order() {
    std::vector<std::string_view> chapters;
    for (const section_title& s : section_rows) {
        if (chapters.empty() || chapters.back() != s.chapter()) chapters.push_back(s.chapter());
    }
    return chapters;
}

std::string number_of(std::string_view name) {
    const auto chapters = chapter_order();
    const std::string_view chapter = name.substr(0, name.find('/'));
    const auto at = std::ranges::find(chapters, chapter);
    if (at == chapters.end()) throw failure("papers: no chapter " + std::string(chapter));
    std::string number = std::to_string(at - chapters.begin() + 1);
    if (chapter == name) return number;
    const section_title* const wanted = &section_named(name);
    std::size_t before = 0;
    for (const section_title* s = section_rows.data(); s != wanted; ++s) before += s->chapter() == chapter;
    return number + "." + std::to_string(before + 1);
}

std::string heading_of(std::string_view section) {
    return number_of(section) + " " + std::string(section_named(section).title);
}

}  // namespace posy::tool::papers
