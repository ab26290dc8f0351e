#include "report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace posy::lab {

namespace {

std::vector<std::string> heads() {
    return {"sharing",
            "update at",
            "local %",
            "sibling %",
            "total %",
            "false hits by filter %",
            "false hits by age %",
            "false misses %",
            "bytes/req",
            "whole",
            "delta",
            "questions",
            "framing",
            "req/s",
            "ms p50",
            "ms p90",
            "ms p99",
            "objects"};
}

std::vector<std::string> cells(const outcome& o) {
    const auto percent = [&](std::uint64_t n) { return fmt::format("{:.1f}", 100 * o.share(n)); };
    const auto each = [&](std::uint64_t n) { return fmt::format("{:.2f}", o.share(n)); };
    const auto ms = [](double s) { return fmt::format("{:.2f}", 1000 * s); };
    return {
        std::string(name_of(o.how.sharing)),
        update_of(o.how),
        percent(o.local),
        percent(o.sibling),
        percent(o.local + o.sibling),
        fmt::format("{:.3g}", 100 * o.share(o.false_by_filter)),
        fmt::format("{:.3g}", 100 * o.share(o.false_by_age)),
        percent(o.false_misses),
        fmt::format("{:.2f}", o.bytes_per_request()),
        each(o.whole_bytes),
        each(o.delta_bytes),
        each(o.question_bytes),
        each(o.framing_bytes),
        fmt::format("{:.0f}",
                    o.seconds > 0 ? static_cast<double>(o.requests) / o.seconds * o.how.concurrency : 0.0),
        ms(o.p50),
        ms(o.p90),
        ms(o.p99),
        fmt::format("{:.0f}", o.objects)};
}

std::string title(const experiment& e) {
    const auto& first = e.outcomes.front();
    return fmt::format("{}: {} requests, {} proxies of {} bytes, {}", e.name, first.requests,
                       first.how.proxies, first.how.memory,
                       first.how.keep_siblings ? "duplicate copies" : "proxy-only");
}

std::string escaped(std::string_view text) {
    std::string safe;
    for (const char c : text) safe += c == '<' ? "&lt;" : c == '&' ? "&amp;" : std::string(1, c);
    return safe;
}

}  // namespace

std::string update_of(const setting& how) {
    if (!how.updates()) return "–";
    if (how.misled) return fmt::format("{} misled", *how.misled);
    if (how.change_bits) return fmt::format("{:g} % of bits", 100 * *how.change_bits);
    return fmt::format("{:g} %", 100 * how.change);
}

std::string markdown(const experiment& e) {
    std::string text = title(e) + "\n\n";
    const auto row = [&](const std::vector<std::string>& values) {
        text += fmt::format("| {} |\n", fmt::join(values, " | "));
    };
    row(heads());
    row(std::vector<std::string>(heads().size(), "---"));
    for (const auto& o : e.outcomes) row(cells(o));
    return text;
}

std::string html(const experiment& e, const std::string& svg) {
    std::string rows;
    const auto row = [&](const std::vector<std::string>& values, std::string_view tag) {
        rows += "<tr>";
        for (const auto& v : values) rows += fmt::format("<{0}>{1}</{0}>", tag, escaped(v));
        rows += "</tr>\n";
    };
    row(heads(), "th");
    for (const auto& o : e.outcomes) row(cells(o), "td");
    return fmt::format(
        "<!doctype html>\n<html lang=\"en\"><meta charset=\"utf-8\"><title>{0}</title>\n"
        "<style>body{{font:16px/1.5 system-ui,sans-serif;max-width:75em;margin:2em auto;padding:0 1em}}"
        "table{{border-collapse:collapse;font-variant-numeric:tabular-nums;display:block;overflow-x:auto}}"
        "td,th{{padding:.2em .6em;border-bottom:1px solid #ccc;text-align:right}}"
        "td:first-child,th:first-child{{text-align:left}}svg{{max-width:100%;height:auto}}</style>\n"
        "<h1>Cooperative caching</h1>\n<p>{0}</p>\n{1}\n<table>\n{2}</table>\n"
        "<p>Bytes per request are all bytes sent to keep summaries up to date, HTTP included, divided by the "
        "number of client requests: whole summaries, deltas, questions to siblings and framing. A false hit "
        "is a request to a sibling that does not have the object, caused by a false positive of the filter "
        "or by the age of the summary. A false miss is an object that a sibling has and no summary "
        "shows.</p>\n",
        escaped(title(e)), svg, rows);
}

std::string csv(const experiment& e) {
    std::string text = fmt::format("{}\n", fmt::join(heads(), ","));
    for (const auto& o : e.outcomes) text += fmt::format("{}\n", fmt::join(cells(o), ","));
    return text;
}

std::string picture(const experiment& e) {
    std::map<std::string, std::vector<std::pair<double, double>>> lines;
    std::vector<std::string> plots;
    for (const auto& o : e.outcomes) {
        if (o.how.sharing == node::sharing::none) {  // sends no bytes: a level, not a point on this axis
            plots.push_back(
                fmt::format("{} with lines lw 2 dt 2 lc rgb '#808080' title 'none'", 100 * o.hit_ratio()));
        } else {
            // The axis is logarithmic: 0 bytes are not on it.
            lines[std::string(name_of(o.how.sharing)) + (o.how.misled        ? "_by_misled"
                                                         : o.how.change_bits ? "_by_bits"
                                                                             : "")]
                .emplace_back(std::max(o.bytes_per_request(), 0.1), 100 * o.hit_ratio());
        }
    }
    std::string script =
        "set terminal svg size 800,480 font 'sans-serif,14' background '#ffffff'\n"
        "set logscale x\nset xrange [0.1:1000]\nset xlabel 'bytes per request to keep summaries up to date'\n"
        "set ylabel 'hits, % of requests'\nset key bottom right\nset grid\n";
    for (auto& [name, points] : lines) {
        std::ranges::sort(points);
        script += fmt::format("${} << EOD\n", name);
        for (const auto& [x, y] : points) script += fmt::format("{} {}\n", x, y);
        script += "EOD\n";
        plots.push_back(fmt::format("${0} with linespoints lw 2 pt 7 title '{0}' noenhanced", name));
    }
    return script + fmt::format("plot {}\n", fmt::join(plots, ", "));
}

}  // namespace posy::lab
