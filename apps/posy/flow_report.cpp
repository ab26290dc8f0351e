#include "flow_report.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <nlohmann/json.hpp>

#include "gnuplot.hpp"
#include "numbers.hpp"
#include "packet_stream.hpp"

namespace posy::tool {
namespace {

std::string number(std::uint64_t n) { return count(static_cast<double>(n)); }

// "2023-11-14 22:13:20"; in UTC.
std::string date_text(std::uint64_t nanoseconds) {
    const auto seconds = std::chrono::sys_seconds(std::chrono::seconds(nanoseconds / 1'000'000'000));
    const auto day = std::chrono::floor<std::chrono::days>(seconds);
    const std::chrono::year_month_day date(day);
    const std::chrono::hh_mm_ss clock(seconds - day);
    return fmt::format("{:04}-{:02}-{:02} {:02}:{:02}:{:02}", static_cast<int>(date.year()),
                       static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                       clock.hours().count(), clock.minutes().count(), clock.seconds().count());
}

double share_of(std::uint64_t part, std::uint64_t whole) {
    return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

struct reason {
    const char* text;
    const char* name;
    std::uint64_t packet_tally::*count;
};
constexpr reason reasons[] = {
    {"not IP", "not_ip", &packet_tally::not_ip},
    {"cut short by the capture", "cut_short", &packet_tally::cut_short},
    {"malformed", "malformed", &packet_tally::malformed},
    {"too deeply nested", "too_deep", &packet_tally::too_deep},
    {"dropped by the kernel", "dropped", &packet_tally::dropped},
    {nullptr, "unknown_link", &packet_tally::unknown_link},  // its text has the number of the first
};

}  // namespace

std::string lost_text(const packet_tally& t) {
    std::string text;
    for (const auto& [what, name, count_of] : reasons)
        if (t.*count_of > 0)
            text += fmt::format("{}{} {}", text.empty() ? "not counted: " : ", ", number(t.*count_of),
                                what ? what : unknown_link_text(t.unknown_link_number));
    return text.empty() ? text : text + "\n";
}

nlohmann::ordered_json to_json(const packet_tally& t) {
    nlohmann::ordered_json j{{"packets", t.packets}, {"bytes", t.bytes}};
    for (const auto& [what, name, count_of] : reasons) j["not_counted"][name] = t.*count_of;
    return j;
}

std::uint64_t flow_report::others_at_most(const flow_interval& i) const {
    const std::size_t rows = shown(i);
    const std::uint64_t unseen = std::max<std::uint64_t>(i.found.complete_from, 1) - 1;
    return rows == i.found.flows.size() ? unseen : std::max(unseen, i.found.flows[rows].high);
}

std::string flow_report::text(const flow_interval& i) const {
    std::vector<std::vector<std::string>> rows{by_.names()};
    const bool exact = !i.exact.empty();
    for (const char* column : {unit_.c_str(), "share", "certain"}) rows[0].emplace_back(column);
    if (exact) rows[0].insert(rows[0].end(), {"exact", "error"});
    for (std::size_t f = 0; f < shown(i); ++f) {
        const auto& flow = i.found.flows[f];
        auto row = by_.texts(flow.key);
        row.push_back(number(flow.high));
        row.push_back(fixed(100 * share_of(flow.high, i.found.total), 2) + " %");
        row.push_back(number(flow.low));
        if (exact) {
            row.push_back(number(i.exact[f]));
            row.push_back(number(flow.high - i.exact[f]));
        }
        rows.push_back(std::move(row));
    }
    const double seconds = static_cast<double>(i.end - i.begin) / 1e9;
    std::string out = i.begin == 0 ? "" : fmt::format("{} UTC, {:.1f} s: ", date_text(i.begin), seconds);
    out += fmt::format("{} packets, {} bytes\n\n", number(i.packets), number(i.bytes)) + table(rows);
    out += fmt::format("\nNo other has more than {} {}.\n", number(others_at_most(i)), unit_);
    if (exact)
        out += fmt::format("Counted exactly there are {}, and {} missing in the list.\n", number(i.flows),
                           number(i.missed));
    return out;
}

nlohmann::ordered_json flow_report::json(const flow_interval& i) const {
    nlohmann::ordered_json j{{"interval", i.number},
                             {"begin", static_cast<double>(i.begin) / 1e9},
                             {"end", static_cast<double>(i.end) / 1e9},
                             {"packets", i.packets},
                             {"bytes", i.bytes},
                             {"threshold", i.found.threshold},
                             {"others_at_most", others_at_most(i)},
                             {"entries", i.found.entries},
                             {"stage_strength", i.strength},
                             {"tenth_passes_at_most", i.tenth_passes_at_most}};
    if (!i.exact.empty()) {
        j["exact_flows"] = i.flows;
        j["missed"] = i.missed;
    }
    j["flows"] = nlohmann::ordered_json::array();
    for (std::size_t f = 0; f < shown(i); ++f) {
        const auto& flow = i.found.flows[f];
        nlohmann::ordered_json one;
        const auto texts = by_.texts(flow.key);
        for (std::size_t part = 0; part < texts.size(); ++part) one[by_.names()[part]] = texts[part];
        one[unit_] = flow.high;
        one["certain"] = flow.low;
        one["share"] = share_of(flow.high, i.found.total);
        if (!i.exact.empty()) one["exact"] = i.exact[f];
        j["flows"].push_back(std::move(one));
    }
    return j;
}

std::string flow_report::name(const packets::flow_key& key) const {
    std::string all;
    for (const auto& part : by_.texts(key)) {
        if (!all.empty()) all += ' ';
        all += part;
    }
    return all;
}

std::string flow_report::by_rank(const flow_interval& i) const {
    std::string data = "$flows << EOD\n";
    for (std::size_t f = 0; f < shown(i); ++f) {
        const auto& flow = i.found.flows[f];
        data += fmt::format("{} {} {} \"{}\"\n", f + 1, flow.high, flow.low, name(flow.key));
    }
    return data + fmt::format(R"(EOD
set ylabel '{}'
set style fill solid
set boxwidth 0.7
set xtics rotate by -40
set yrange [0:*]
plot $flows using 1:2:xtic(4) with boxes lc rgb '#b79bd0' title 'at most', \
  '' using 1:3 with boxes lc rgb '#7b4fa3' title 'certain'
)",
                              unit_);
}

// The eight largest over all intervals.
std::string flow_report::over_time(const std::vector<flow_interval>& all) const {
    std::map<std::string, std::vector<std::uint64_t>> sizes;
    for (std::size_t t = 0; t < all.size(); ++t) {
        for (const auto& flow : all[t].found.flows) {
            auto& row = sizes[name(flow.key)];
            row.resize(all.size());
            row[t] = flow.high;
        }
    }
    std::vector<std::pair<std::uint64_t, std::string>> ranked;
    for (const auto& [flow, row] : sizes) {
        std::uint64_t sum = 0;
        for (const std::uint64_t size : row) sum += size;
        ranked.emplace_back(sum, flow);
    }
    std::ranges::sort(ranked, std::greater());
    ranked.resize(std::min<std::size_t>(ranked.size(), 8));
    std::string data, curves;
    for (std::size_t f = 0; f < ranked.size(); ++f) {
        data += fmt::format("$flow{} << EOD\n", f);
        for (std::size_t t = 0; t < all.size(); ++t)
            data += fmt::format("{} {}\n", static_cast<double>(all[t].begin - all[0].begin) / 1e9,
                                sizes[ranked[f].second][t]);
        data += "EOD\n";
        curves += fmt::format("{}$flow{} with linespoints pt 7 ps 0.4 lw 2 title '{}'",
                              f == 0 ? "plot " : ", ", f, ranked[f].second);
    }
    return data +
           fmt::format(
               "set xlabel 'seconds'\nset ylabel '{} per interval'\nset yrange [0:*]\nset key outside "
               "below\n",
               unit_) +
           curves + "\n";
}

void flow_report::plot(const std::vector<flow_interval>& all, const std::string& path) const {
    draw(
        "set terminal svg size 900,480 dynamic background rgb 'white' font 'sans,13' noenhanced\nset grid "
        "ytics lc rgb '#dddddd'\n" +
            (all.size() == 1 ? by_rank(all[0]) : over_time(all)),
        path);
}

}  // namespace posy::tool
