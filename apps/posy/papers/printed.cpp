#include "printed.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <sstream>

#include "posy/theory.hpp"

namespace posy::tool::papers {
namespace {

// Fan et al. 1998: a row is m/n, the optimal k where the table is the first to print it, and the rates of
// successive k, from 1 in Table 3, 9 in Table 4, 17 in Table 5.
struct fan_row {
    unsigned table;
    const char *bits_per_item, *optimum, *rates;
};
constexpr std::array fan_rows = std::to_array<fan_row>({
    {3, "2", "1.39", "0.393 0.400"},
    {3, "3", "2.08", "0.283 0.237 0.253"},
    {3, "4", "2.77", "0.221 0.155 0.147 0.160"},
    {3, "5", "3.46", "0.181 0.109 0.092 0.092 0.101"},
    {3, "6", "4.16", "0.154 0.0804 0.0609 0.0561 0.0578 0.0638"},
    {3, "7", "4.85", "0.133 0.0618 0.0423 0.0359 0.0347 0.0364"},
    {3, "8", "5.55", "0.118 0.0489 0.0306 0.024 0.0217 0.0216 0.0229"},
    {3, "9", "6.24", "0.105 0.0397 0.0228 0.0166 0.0141 0.0133 0.0135 0.0145"},
    {3, "10", "6.93", "0.0952 0.0329 0.0174 0.0118 0.00943 0.00844 0.00819 0.00846"},
    {3, "11", "7.62", "0.0869 0.0276 0.0136 0.00864 0.0065 0.00552 0.00513 0.00509"},
    {3, "12", "8.32", "0.08 0.0236 0.0108 0.00646 0.00459 0.00371 0.00329 0.00314"},
    {3, "13", "9.01", "0.074 0.0203 0.00875 0.00492 0.00332 0.00255 0.00217 0.00199"},
    {3, "14", "9.7", "0.0689 0.0177 0.00718 0.00381 0.00244 0.00179 0.00146 0.00129"},
    {3, "15", "10.4", "0.0645 0.0156 0.00596 0.003 0.00183 0.00128 0.001 0.000852"},
    {3, "16", "11.1", "0.0606 0.0138 0.005 0.00239 0.00139 0.000935 0.000702 0.000574"},
    {3, "17", "11.8", "0.0571 0.0123 0.00423 0.00193 0.00107 0.000692 0.000499 0.000394"},
    {3, "18", "12.5", "0.054 0.0111 0.00362 0.00158 0.000839 0.000519 0.00036 0.000275"},
    {3, "19", "13.2", "0.0513 0.00998 0.00312 0.0013 0.000663 0.000394 0.000264 0.000194"},
    {3, "20", "13.9", "0.0488 0.00906 0.0027 0.00108 0.00053 0.000303 0.000196 0.00014"},
    {3, "21", "14.6", "0.0465 0.00825 0.00236 0.000905 0.000427 0.000236 0.000147 0.000101"},
    {3, "22", "15.2", "0.0444 0.00755 0.00207 0.000764 0.000347 0.000185 0.000112 7.46e-05"},
    {3, "23", "15.9", "0.0425 0.00694 0.00183 0.000649 0.000285 0.000147 8.56e-05 5.55e-05"},
    {3, "24", "16.6", "0.0408 0.00639 0.00162 0.000555 0.000235 0.000117 6.63e-05 4.17e-05"},
    {3, "25", "17.3", "0.0392 0.00591 0.00145 0.000478 0.000196 9.44e-05 5.18e-05 3.16e-05"},
    {3, "26", "18", "0.0377 0.00548 0.00129 0.000413 0.000164 7.66e-05 4.08e-05 2.42e-05"},
    {3, "27", "18.7", "0.0364 0.0051 0.00116 0.000359 0.000138 6.26e-05 3.24e-05 1.87e-05"},
    {3, "28", "19.4", "0.0351 0.00475 0.00105 0.000314 0.000117 5.15e-05 2.59e-05 1.46e-05"},
    {3, "29", "20.1", "0.0339 0.00444 0.000949 0.000276 9.96e-05 4.26e-05 2.09e-05 1.14e-05"},
    {3, "30", "20.8", "0.0328 0.00416 0.000862 0.000243 8.53e-05 3.55e-05 1.69e-05 9.01e-06"},
    {3, "31", "21.5", "0.0317 0.0039 0.000785 0.000215 7.33e-05 2.97e-05 1.38e-05 7.16e-06"},
    {3, "32", "22.2", "0.0308 0.00367 0.000717 0.000191 6.33e-05 2.5e-05 1.13e-05 5.73e-06"},
    {4, "11", "", "0.00531"},
    {4, "12", "", "0.00317 0.00334"},
    {4, "13", "", "0.00194 0.00198 0.0021"},
    {4, "14", "", "0.00121 0.0012 0.00124"},
    {4, "15", "", "0.000775 0.000744 0.000747 0.000778"},
    {4, "16", "", "0.000505 0.00047 0.000459 0.000466 0.000488"},
    {4, "17", "", "0.000335 0.000302 0.000287 0.000284 0.000291"},
    {4, "18", "", "0.000226 0.000198 0.000183 0.000176 0.000176 0.000182"},
    {4, "19", "", "0.000155 0.000132 0.000118 0.000111 0.000109 0.00011 0.000114"},
    {4, "20", "", "0.000108 8.89e-05 7.77e-05 7.12e-05 6.79e-05 6.71e-05 6.84e-05"},
    {4, "21", "", "7.59e-05 6.09e-05 5.18e-05 4.63e-05 4.31e-05 4.17e-05 4.16e-05 4.27e-05"},
    {4, "22", "", "5.42e-05 4.23e-05 3.5e-05 3.05e-05 2.78e-05 2.63e-05 2.57e-05 2.59e-05"},
    {4, "23", "", "3.92e-05 2.97e-05 2.4e-05 2.04e-05 1.81e-05 1.68e-05 1.61e-05 1.59e-05"},
    {4, "24", "", "2.86e-05 2.11e-05 1.66e-05 1.38e-05 1.2e-05 1.08e-05 1.02e-05 9.87e-06"},
    {4, "25", "", "2.11e-05 1.52e-05 1.16e-05 9.42e-06 8.01e-06 7.1e-06 6.54e-06 6.22e-06"},
    {4, "26", "", "1.57e-05 1.1e-05 8.23e-06 6.52e-06 5.42e-06 4.7e-06 4.24e-06 3.96e-06"},
    {4, "27", "", "1.18e-05 8.07e-06 5.89e-06 4.56e-06 3.7e-06 3.15e-06 2.79e-06 2.55e-06"},
    {4, "28", "", "8.96e-06 5.97e-06 4.25e-06 3.22e-06 2.56e-06 2.13e-06 1.85e-06 1.66e-06"},
    {4, "29", "", "6.85e-06 4.45e-06 3.1e-06 2.29e-06 1.79e-06 1.46e-06 1.24e-06 1.09e-06"},
    {4, "30", "", "5.28e-06 3.35e-06 2.28e-06 1.65e-06 1.26e-06 1.01e-06 8.39e-06 7.26e-06"},
    {4, "31", "", "4.1e-06 2.54e-06 1.69e-06 1.2e-06 8.93e-07 7e-07 5.73e-07 4.87e-07"},
    {4, "32", "", "3.2e-06 1.94e-06 1.26e-06 8.74e-07 6.4e-07 4.92e-07 3.95e-07 3.3e-07"},
    {5, "22", "", "2.67e-05"},
    {5, "23", "", "1.61e-05"},
    {5, "24", "", "9.84e-06 1e-05"},
    {5, "25", "", "6.08e-06 6.11e-06 6.27e-06"},
    {5, "26", "", "3.81e-06 3.76e-06 3.8e-06 3.92e-06"},
    {5, "27", "", "2.41e-06 2.34e-06 2.33e-06 2.37e-06"},
    {5, "28", "", "1.54e-06 1.47e-06 1.44e-06 1.44e-06 1.48e-06"},
    {5, "29", "", "9.96e-07 9.35e-07 9.01e-07 8.89e-07 8.96e-07 9.21e-07"},
    {5, "30", "", "6.5e-07 6e-07 5.69e-07 5.54e-07 5.5e-07 5.58e-07"},
    {5, "31", "", "4.29e-07 3.89e-07 3.63e-07 3.48e-07 3.41e-07 3.41e-07 3.48e-07"},
    {5, "32", "", "2.85e-07 2.55e-07 2.34e-07 2.21e-07 2.13e-07 2.1e-07 2.12e-07 2.17e-07"},
});
constexpr unsigned first_hashes(unsigned table) { return 8 * (table - 3) + 1; }

// table, m/n, k, c, quantity, printed
constexpr std::string_view mitzenmacher_rows =
    R"(I,8,6,,raw,8
I,8,6,,rate,0.0216
I,14,2,,compressed,7.923
I,14,2,,rate,0.0177
I,92,1,,compressed,7.923
I,92,1,,rate,0.0108
II,16,11,,raw,16
II,16,11,,rate,0.000459
II,28,4,,compressed,15.846
II,28,4,,rate,0.000314
II,48,3,,compressed,15.829
II,48,3,,rate,0.000222
III,4,3,,raw,4
III,4,3,,rate,0.147
III,7,1,,compressed,3.962
III,7,1,,rate,0.133
IV,8,6,,raw,8
IV,8,6,,rate,0.0216
IV,12.6,2,,compressed,7.582
IV,12.6,2,,rate,0.0216
IV,46,1,,compressed,6.891
IV,46,1,,rate,0.0215
V,16,11,,raw,16
V,16,11,,rate,0.000459
V,37.5,3,,compressed,14.666
V,37.5,3,,rate,0.000454
V,93,2,,compressed,13.815
V,93,2,,rate,0.000453
VI,8,5,0.05,delta,1.6713
VI,8,5,0.05,rate,0.0217
VI,8,5,0.05,delta_per_change,33.426
VI,12,3,0.05,delta,1.6607
VI,12,3,0.05,rate,0.0108
VI,12,3,0.05,delta_per_change,33.214
VI,32,2,0.05,delta,1.6532
VI,32,2,0.05,rate,0.00367
VI,32,2,0.05,delta_per_change,33.064
VI,13,2,0.05,delta,1.3124
VI,13,2,0.05,rate,0.0203
VI,13,2,0.05,delta_per_change,26.248
VII,8,5,0.01,delta,0.4624
VII,8,5,0.01,rate,0.0217
VII,8,5,0.01,delta_per_change,46.24
VII,16,3,0.01,delta,0.4856
VII,16,3,0.01,rate,0.0050
VII,16,3,0.01,delta_per_change,48.56
VII,48,2,0.01,delta,0.4500
VII,48,2,0.01,rate,0.00167
VII,48,2,0.01,delta_per_change,45.00
VII,13,2,0.01,delta,0.3430
VII,13,2,0.01,rate,0.0203
VII,13,2,0.01,delta_per_change,34.30
)";

constexpr std::string_view broder_rows =
    R"(1,16,11,,raw,16
1,16,11,,rate,0.000459
1,28,4,,compressed,15.846
1,28,4,,rate,0.000314
1,48,3,,compressed,15.829
1,48,3,,rate,0.000222
)";

// source, table, m/n, k, quantity, printed, what the formula gives, kind
constexpr std::string_view misprint_rows =
    R"(fan1998,3,5,,optimum,3.46,3.47,last digit
fan1998,4,30,15,rate,8.39e-06,8.39e-07,exponent
fan1998,4,30,16,rate,7.26e-06,7.26e-07,exponent
mitzenmacher2002,IV,12.6,2,rate,0.0216,0.0215,last digit
mitzenmacher2002,VI,12,3,delta,1.6607,1.6532,swapped with the next column
mitzenmacher2002,VI,12,3,delta_per_change,33.214,33.064,swapped with the next column
mitzenmacher2002,VI,32,2,delta,1.6532,1.6607,swapped with the column before
mitzenmacher2002,VI,32,2,delta_per_change,33.064,33.214,swapped with the column before
mitzenmacher2002,VI,13,2,delta_per_change,26.248,26.249,rounded twice
)";

constexpr std::array simulation_rows = std::to_array<printed_simulation>({
    {"(14, 2)", "I", 14, 0, 2, 9904, 9920, 11.375, 9971},
    {"(48, 3)", "II", 48, 0, 3, 19787, 19805, 14.386, 19865},
    {"(7, 1)", "III", 7, 0, 1, {}, {}, {}, 4998},
    {"(12.6, 2)", "IV", 12.6, 0, 2, {}, 9493, {}, 9539},
    {"delta (32, 2)", "VI", 32, 0.05, 2, 2066.5, 2090, {}, 2129},
});

std::vector<std::vector<std::string>> fields_of(std::string_view rows) {
    std::vector<std::vector<std::string>> all;
    std::istringstream lines{std::string(rows)};
    for (std::string line; std::getline(lines, line);) {
        auto& fields = all.emplace_back();
        std::istringstream stream(line + ',');
        for (std::string field; std::getline(stream, field, ',');) fields.push_back(field);
    }
    return all;
}

std::vector<printed_entry> fan_entries() {
    std::vector<printed_entry> all;
    for (const fan_row& row : fan_rows) {
        if (*row.optimum) {
            all.push_back({std::to_string(row.table), row.bits_per_item, "", "", "optimum", row.optimum});
        }
    }
    for (const fan_row& row : fan_rows) {
        unsigned k = first_hashes(row.table);
        std::istringstream rates(row.rates);
        for (std::string rate; rates >> rate; ++k) {
            all.push_back(
                {std::to_string(row.table), row.bits_per_item, std::to_string(k), "", "rate", rate});
        }
    }
    return all;
}

std::vector<printed_entry> listed_entries(std::string_view rows) {
    std::vector<printed_entry> all;
    for (const auto& f : fields_of(rows)) all.push_back({f[0], f[1], f[2], f[3], f[4], f[5]});
    return all;
}

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
    auto all = from == source::fan1998            ? fan_entries()
               : from == source::mitzenmacher2002 ? listed_entries(mitzenmacher_rows)
                                                  : listed_entries(broder_rows);
    const std::string name = from == source::fan1998            ? "fan1998"
                             : from == source::mitzenmacher2002 ? "mitzenmacher2002"
                                                                : "broder2004";
    for (printed_entry& entry : all) entry.place = place_of(from, entry);
    for (const auto& f : fields_of(misprint_rows)) {
        for (printed_entry& entry : all) {
            if (f[0] == name && f[1] == entry.table && f[2] == entry.bits_per_item && f[3] == entry.hashes &&
                f[4] == entry.quantity) {
                entry.corrected = f[6];
                entry.kind = f[7];
            }
        }
    }
    return all;
}

std::span<const printed_simulation> simulations() { return simulation_rows; }

}  // namespace posy::tool::papers
