// Panels below each other: first a row for every figure of the report, then one panel for each set of curves.
//
// A row has the numbers, and two bars where theory has a prediction. Rows have nothing in common (shares,
// hops, bytes), so the bars of a row are drawn in its own scale: the longer one takes all of the room. The
// whisker is one standard deviation of what was measured.
#include "simulate_plot.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "gnuplot.hpp"

namespace posy::tool {
namespace {

struct panel {
    std::string script;
    std::size_t height = 0;  // in pixels
};

constexpr std::size_t width = 1000, row_height = 30, curves_height = 420;
// Of the width: where the bars begin and end, and the numbers.
constexpr double bars_from = 0.37, bars_to = 0.66, measured_at = 0.68, predicted_at = 0.85;
constexpr const char *measured_colour = "#7b4fa3", *predicted_colour = "#e0a030";

// Text for gnuplot, in single quotes.
std::string quoted(std::string text) {
    for (std::size_t at = 0; (at = text.find('\'', at)) != std::string::npos; at += 2)
        text.insert(at, 1, '\'');
    return "'" + text + "'";
}

std::string label(const std::string& text, double x, double y, const char* colour = "black") {
    return fmt::format("set label {} at screen {}, first {} left tc rgb '{}'\n", quoted(text), x, y, colour);
}

// The largest value of a row that has bars; nothing for one without.
std::optional<double> scale_of(const simulate::figure& f) {
    if (!f.predicted) return std::nullopt;
    const double most = std::max(f.measured + f.deviation.value_or(0), *f.predicted);
    return most > 0 && std::isfinite(most) ? std::optional(most) : std::nullopt;
}

panel side_by_side(const std::vector<simulate::figure>& figures) {
    std::string text, measured, predicted, whiskers;
    const auto bar = [](double length, double low, double high) {
        const double to = std::max(length, 0.0);
        return fmt::format("{} {} 0 {} {} {}\n", to / 2, (low + high) / 2, to, low, high);
    };
    for (std::size_t i = 0; i < figures.size(); ++i) {
        const simulate::figure& f = figures[i];
        const double y = -static_cast<double>(i);
        text += label(f.name, 0.01, y) + label(simulate::measured_text(f), measured_at, y) +
                label(simulate::predicted_text(f), predicted_at, y);
        const auto scale = scale_of(f);
        if (!scale) continue;
        measured += bar(f.measured / *scale, y, y + 0.36);
        predicted += bar(*f.predicted / *scale, y - 0.36, y);
        if (f.deviation)
            whiskers += fmt::format("{} {} {}\n", f.measured / *scale, y + 0.18, *f.deviation / *scale);
    }
    // A block without a line is an error for gnuplot; this one lies above the panel.
    const std::string nothing = "0 2 0 0 2 2\n";
    return {
        fmt::format("$measured << EOD\n{0}{2}EOD\n$predicted << EOD\n{1}{2}EOD\n$whiskers << EOD\n{3}{2}EOD\n"
                    "unset border\nunset tics\nunset key\nset lmargin at screen {4}\nset rmargin at screen "
                    "{5}\nset tmargin 0\nset bmargin 0\nset xrange [0:1]\nset yrange [{6}:1.5]\nset style "
                    "fill solid noborder\n{7}{8}{9}plot $measured with boxxyerror lc rgb '{10}', $predicted "
                    "with boxxyerror lc rgb '{11}', $whiskers with xerrorbars pt 0 lc rgb 'black'\n",
                    measured, predicted, nothing, whiskers, bars_from, bars_to,
                    -static_cast<double>(figures.size()), label("measured", measured_at, 1, measured_colour),
                    label("predicted", predicted_at, 1, predicted_colour), text, measured_colour,
                    predicted_colour),
        row_height * (figures.size() + 2)};
}

panel curves_of(const simulate::plot& p, std::size_t number) {
    std::string data, lines;
    for (std::size_t i = 0; i < p.curves.size(); ++i) {
        const auto& c = p.curves[i];
        data += fmt::format("$d{}_{} << EOD\n", number, i);
        for (const auto& [x, y] : c.points) data += fmt::format("{} {}\n", x, y);
        data += "EOD\n";
        lines += fmt::format("{}$d{}_{} with linespoints pt 7 ps 0.4 lw 2 title {}", i ? ", " : "plot ",
                             number, i, quoted(c.name));
    }
    return {fmt::format("{}set grid ytics lc rgb '#dddddd'\nset key top left\nset title {}\nset xlabel "
                        "{}\nset ylabel {}\n{}\n",
                        data, quoted(p.title), quoted(p.x), quoted(p.y), lines),
            curves_height};
}

}  // namespace

void draw_report(const simulate::report& r, const std::string& path) {
    std::vector<panel> panels{side_by_side(r.figures)};
    for (const auto& p : r.plots) {
        if (std::ranges::any_of(p.curves, [](const auto& c) { return !c.points.empty(); }))
            panels.push_back(curves_of(p, panels.size()));
    }
    std::size_t height = 0;
    for (const panel& each : panels) height += each.height;
    std::string script = fmt::format(
        "set terminal svg size {},{} dynamic background rgb 'white' font 'sans,13' noenhanced\nset "
        "multiplot\n",
        width, height);
    double below = 1;  // gnuplot counts from the bottom
    for (const panel& each : panels) {
        const double share = static_cast<double>(each.height) / static_cast<double>(height);
        below -= share;
        script += fmt::format("reset\nset origin 0,{}\nset size 1,{}\n{}", std::max(below, 0.0), share,
                              each.script);
    }
    draw(script + "unset multiplot\n", path);
}

}  // namespace posy::tool
