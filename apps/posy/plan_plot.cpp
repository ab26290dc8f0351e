#include "plan_plot.hpp"

#include <fmt/core.h>

#include <cmath>

#include "gnuplot.hpp"

namespace posy::tool {
namespace {

// Where the plan stands, its rate, and what its message takes; nothing if there is no such plan.
std::string point(double x, const result<plan>& p) {
    if (!p || !(p->false_positive_rate > 0)) return "";
    return fmt::format("{} {} {}\n", x, p->false_positive_rate, p->message_bits_per_item());
}

std::string rate_by_hashes(const plan& p) {
    std::string data = "$hashes << EOD\n";
    for (unsigned k = 1; k <= 32; ++k) {
        data += point(k, predict(p.items, {round_up_bits(p.bits, k, p.layout), k, p.layout}));
    }
    return data + "EOD\n";
}

std::string rate_by_bits(const plan& p, bool best) {
    std::string data = best ? "$best << EOD\n" : "$fixed << EOD\n";
    const double last = std::max(16.0, 2 * p.bits_per_item());
    for (int step = 0; step <= 64; ++step) {
        const double bits_per_item = 2 + step * (last - 2) / 64;
        if (best) {
            data += point(bits_per_item,
                          choose({.items = p.items, .bits_per_item = bits_per_item, .layout = p.layout}));
        } else {
            const auto bits = static_cast<std::uint64_t>(bits_per_item * static_cast<double>(p.items));
            data += point(bits_per_item,
                          predict(p.items, {round_up_bits(bits, p.hashes, p.layout), p.hashes, p.layout}));
        }
    }
    return data + "EOD\n";
}

}  // namespace

void plot_plan(const plan& p, const std::string& path) {
    const std::string script =
        rate_by_hashes(p) + rate_by_bits(p, false) + rate_by_bits(p, true) +
        fmt::format(R"($plan << EOD
{1} {0} {2} {3}
EOD
plan = "pt 7 ps 1.1 lc rgb '#d0421b' title 'the plan'"
set terminal svg size 1350,420 dynamic background rgb 'white' font 'sans,13'
set multiplot layout 1,3
set logscale y
set format y '10^{{%L}}'
set grid ytics lc rgb '#dddddd'
set ylabel 'false-positive rate'
set key top right
set xlabel 'hashes, at {0:.4g} bits per item'
plot $hashes with linespoints pt 7 ps 0.5 lc rgb '#7b4fa3' title '{4}', \
  $plan using 1:3 with points @plan
set key bottom left
set xlabel 'bits per item of the array'
plot $fixed with lines lw 2 lc rgb '#7b4fa3' title '{6}', \
  $best with lines lw 2 lc rgb '#2f855a' title 'best number', \
  $plan using 2:3 with points @plan
set xlabel 'bits per item of the message, compressed'
set xrange [0:{5:.4g}]
plot $fixed using 3:2 with lines lw 2 lc rgb '#7b4fa3' title '{6}', \
  $best using 3:2 with lines lw 2 lc rgb '#2f855a' title 'best number for the array', \
  0.5**x with lines lw 1 dt 2 lc rgb '#777777' title 'lower bound', \
  $plan using 4:3 with points @plan
unset multiplot
)",
                    p.bits_per_item(), p.hashes, p.false_positive_rate, p.message_bits_per_item(),
                    name_of(p.layout), 2 * p.message_bits_per_item(),
                    p.hashes == 1 ? "1 hash" : fmt::format("{} hashes", p.hashes));
    draw(script, path);
}

}  // namespace posy::tool
