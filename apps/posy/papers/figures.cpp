// The curves: Figure 4 of Summary Cache, Figures 1 and 2 of Compressed Bloom Filters, the two plots of Lam's
// slides. Lines are formulas, points are filters that were built and asked.
#include <fmt/core.h>

#include <cmath>
#include <functional>

#include "catalogue.hpp"
#include "chapters.hpp"
#include "posy/theory.hpp"

namespace posy::tool::papers {
namespace {

constexpr const char* violet = "#7b4fa3";
constexpr const char* green = "#2f855a";

using measurement = std::optional<rate_check>;

struct curve {
    std::string name;   // for gnuplot and as a column of the data
    std::string title;  // in the picture
    const char* colour;
    std::function<double(double)> rate;
    // The measured rate at a whole x, if there is one.
    std::function<measurement(unsigned)> measured;
};

measurement measured(const laboratory& lab, purpose why, double bits_per_item, unsigned hashes) {
    const tally* t = lab.find(why, bits_per_item, hashes);
    // Fewer hits say too little to be drawn, and none has no place on a logarithmic scale.
    if (!t || t->hits.sum() < 10) return {};
    return check_rate(*t, why, bits_per_item, hashes);
}

// A point and the bar of its standard error, for gnuplot.
std::string drawn(double x, double y, double error) { return fmt::format("{} {} {}\n", x, y, error); }

// Rates on a logarithmic scale against x from `first` to `last`.
void add_figure(section& s, const std::string& name, const std::string& caption, const std::string& x_label,
                unsigned first, unsigned last, const std::vector<curve>& curves) {
    constexpr unsigned steps = 8;  // to a unit
    data d{name, {{x_label}}};
    std::string script;
    std::string plot;
    for (const curve& c : curves) {
        d.rows[0].push_back(c.name);
        d.rows[0].push_back(c.name + "_measured");
        d.rows[0].push_back(c.name + "_standard_error");
        std::string lines = fmt::format("${} << EOD\n", c.name);
        std::string points = fmt::format("${}_measured << EOD\n", c.name);
        bool any = false;
        for (unsigned i = steps * first; i <= steps * last; ++i) {
            const double x = static_cast<double>(i) / steps;
            lines += fmt::format("{} {}\n", x, c.rate(x));
            if (const auto point = i % steps == 0 ? c.measured(i / steps) : std::nullopt) {
                points += drawn(x, point->measured, point->standard_error);
                any = true;
            }
        }
        script += lines + "EOD\n" + (any ? points + "EOD\n" : "");
        plot += fmt::format("{}${} with lines lw 2 lc rgb '{}' title '{}'", plot.empty() ? "plot " : ", ",
                            c.name, c.colour, c.title);
        if (any) {
            plot += fmt::format(
                ", ${}_measured with yerrorbars pt 7 ps 0.5 lc rgb '{}' title 'measured, ± standard error'",
                c.name, c.colour);
        }
    }
    for (unsigned i = steps * first; i <= steps * last; ++i) {
        const double x = static_cast<double>(i) / steps;
        csv_row row{fmt::format("{}", x)};
        for (const curve& c : curves) {
            const auto point = i % steps == 0 ? c.measured(i / steps) : std::nullopt;
            row.push_back(fmt::format("{}", c.rate(x)));
            row.push_back(point ? fmt::format("{}", point->measured) : "");
            row.push_back(point ? fmt::format("{}", point->standard_error) : "");
        }
        d.rows.push_back(std::move(row));
    }
    script +=
        "set logscale y\nset format y '10^{%L}'\nset grid ytics lc rgb '#dddddd'\nset key top right\n"
        "set ylabel 'false-positive rate'\n" +
        fmt::format("set xlabel '{}'\nset xrange [{}:{}]\n{}\n", x_label, first, last, plot);
    s.parts.emplace_back(picture{name, caption, script});
    s.parts.emplace_back(std::move(d));
}

// ---- Rate against bits per item --------------------------------------------------------------------------

constexpr unsigned first_bits = 2, last_bits = 32;

// How far from their expectation the rates of that figure were: what its logarithmic scale hides.
void add_rates_over_formula(const laboratory& lab, section& s, const std::string& name,
                            const std::string& caption) {
    data d{name, {{"bits_per_item", "hashes", "measured", "expected", "standard_error"}}};
    const auto best = [](unsigned m) { return theory::optimal_hashes_integral(1, m); };
    std::string four = "$four << EOD\n", many = "$best << EOD\n";
    for (unsigned m = first_bits; m <= last_bits; ++m) {
        for (const unsigned k : {4u, best(m)}) {
            const auto r = measured(lab, purpose::rate, m, k);
            if (!r) continue;
            // Beside each other, where both curves have a point.
            (k == 4 ? four : many) +=
                drawn(m + (k == 4 ? -0.1 : 0.1), r->measured / r->expected, r->standard_error / r->expected);
            d.rows.push_back({std::to_string(m), std::to_string(k), fmt::format("{}", r->measured),
                              fmt::format("{}", r->expected), fmt::format("{}", r->standard_error)});
            if (best(m) == 4) break;
        }
    }
    const std::string script =
        four + "EOD\n" + many + "EOD\n" +
        fmt::format(
            "set xlabel 'bits per item'\nset ylabel 'measured ÷ expected rate'\n"
            "set grid ytics lc rgb '#dddddd'\nset key top left\nset xrange [{}:{}]\n"
            "plot 1 with lines lw 1 lc rgb '#777777' notitle, "
            "$four with yerrorbars pt 7 ps 0.5 lc rgb '{}' title '4 hashes, ± standard error', "
            "$best with yerrorbars pt 7 ps 0.5 lc rgb '{}' title 'best whole number'\n",
            first_bits - 1, last_bits + 1, violet, green);
    s.parts.emplace_back(picture{name, caption, script});
    s.parts.emplace_back(std::move(d));
}

// ---- Rate against hashes ---------------------------------------------------------------------------------

struct budget {
    double bits;      // z/n
    unsigned hashes;  // the last k
};
constexpr budget budgets[] = {{8, 10}, {16, 20}};
constexpr double largest_array = 400;  // bits per item that we are ready to simulate

// The largest array of whole bits whose message keeps the budget.
double array_for(double bits, unsigned hashes) {
    const double n = items;
    return std::floor(theory::compressed_array_for(bits, hashes) * n) / n;
}

}  // namespace

void ask_fan_figure(laboratory& lab) {
    for (unsigned m = first_bits; m <= last_bits; ++m) {
        lab.want(purpose::rate, m, 4);
        lab.want(purpose::rate, m, theory::optimal_hashes_integral(1, m));
    }
}

void add_fan_figure(const laboratory& lab, section& s) {
    const auto best = [](double m) { return theory::optimal_hashes_integral(1, m); };
    add_figure(
        s, "fan1998_figure4",
        "Figure 4: false-positive rate against bits per item, 4 hashes above, the best whole number of "
        "hashes below",
        "bits per item", first_bits, last_bits,
        {{"four_hashes", "4 hashes", violet,
          [](double m) { return theory::false_positive_rate_asymptotic(1, m, 4); },
          [&](unsigned m) { return measured(lab, purpose::rate, m, 4); }},
         {"best_hashes", "best whole number of hashes", green,
          [&](double m) { return theory::false_positive_rate_asymptotic(1, m, best(m)); },
          [&](unsigned m) { return measured(lab, purpose::rate, m, best(m)); }}});
}

void ask_mitzenmacher_figures(laboratory& lab) {
    for (const auto& [bits, last] : budgets) {
        for (unsigned k = 1; k <= last; ++k) {
            lab.want(purpose::rate, bits, k);
            if (array_for(bits, k) <= largest_array) lab.want(purpose::column, array_for(bits, k), k);
        }
    }
}

void add_mitzenmacher_figures(const laboratory& lab, section& s) {
    unsigned number = 0;
    for (const auto& [z, last] : budgets) {
        const double bits = z;
        ++number;
        s.parts.emplace_back(heading{fmt::format("mitzenmacher2002/figure{}", number)});
        add_figure(
            s, fmt::format("mitzenmacher2002_figure{}", number),
            fmt::format(
                "Figure {}: false-positive rate against the number of hashes, messages of {} bits per item. "
                "The best plain filter is the worst compressed one: the curves touch there.",
                number, bits),
            "hashes", 1, last,
            {{"standard", "plain", violet,
              [=](double k) { return theory::false_positive_rate_asymptotic(1, bits, k); },
              [&, bits](unsigned k) { return measured(lab, purpose::rate, bits, k); }},
             {"compressed", "compressed", green,
              [=](double k) {
                  return theory::false_positive_rate_asymptotic(1, theory::compressed_array_for(bits, k), k);
              },
              [&, bits](unsigned k) { return measured(lab, purpose::column, array_for(bits, k), k); }}});
    }
    // What the points of the compressed curves weighed.
    double most = 0;
    for (const auto& [bits, last] : budgets) {
        for (unsigned k = 1; k <= last; ++k) {
            const tally* t = lab.find(purpose::column, array_for(bits, k), k);
            if (t) most = std::max(most, t->payload.mean() * 8 / items - bits);
        }
    }
    if (lab.trials() != 0) {
        s.parts.emplace_back(paragraph{fmt::format(
            "The arrays of the compressed curves are the largest whose entropy keeps the budget; "
            "sent for real, their payloads were at most {:.4f} bits per item above it on "
            "average. At 16 bits per item and one hash the array would have {:.0f} bits per item; "
            "that point was not built.",
            most, theory::compressed_array_for(16, 1))});
    }
}

void ask_slides(laboratory& lab) {
    for (unsigned k = 1; k <= 16; ++k) lab.want(purpose::rate, 8, k);
    ask_fan_figure(lab);
}

section write_slides(const laboratory& lab) {
    section s{"Bloom Filters, slides (Lam 2017): the two plots", {}};
    s.parts.emplace_back(heading{"slides/hashes"});
    add_figure(s, "slides_rate_by_hashes",
               fmt::format("False-positive rate against the number of hashes at 8 bits per item: the plain "
                           "curve of Figure 1 alone, up to 16 hashes; the minimum is at k = {:.3f}",
                           theory::optimal_hashes(1, 8)),
               "hashes", 1, 16,
               {{"rate", "8 bits per item", violet,
                 [](double k) { return theory::false_positive_rate_asymptotic(1, 8, k); },
                 [&](unsigned k) { return measured(lab, purpose::rate, 8, k); }}});
    s.parts.emplace_back(heading{"slides/bits"});
    s.parts.emplace_back(
        paragraph{"The slide is Figure 4 of Summary Cache again: the rate for 4 hashes and for the best "
                  "whole number of "
                  "them (" +
                  heading_of("fan1998/figure4") + ")."});
    if (lab.trials() == 0) return s;
    add_rates_over_formula(lab, s, "slides_rate_by_bits",
                           "The rates measured for that figure, divided by the expected rate of filters of "
                           "this size; two bars in three should reach 1");
    return s;
}

}  // namespace posy::tool::papers
