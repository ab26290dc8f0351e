// What a simulation found, beside what theory predicts: a table, data, and curves to plot.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace posy::simulate {

struct options {
    std::optional<std::uint64_t> nodes, objects, queries;  // without a value: the system's own
    std::uint64_t seed = 1;
    double loss = 0;                       // of messages
    double churn = 0;                      // share of the nodes replaced per hour
    std::string texts = "/usr/share/doc";  // folder of the text files that are searched
};

// The number that an option sets, or the system's own. Throws std::invalid_argument, which names the option,
// below `least` or above `most`.
std::uint64_t number_of(const std::string& option, std::optional<std::uint64_t> given, std::uint64_t own,
                        std::uint64_t least, std::uint64_t most = 0xffff'ffff);

struct figure {
    std::string name;  // what is measured: "false forwards per query"
    double measured = 0;
    std::optional<double> predicted;
    std::optional<double> deviation;  // standard deviation of `measured`, where it is from a sample
    std::string unit;                 // "bytes", "ms", "" for a count
};

// "0.0479 ± 0.001", and "0.0469" or nothing; the unit follows the last number.
std::string measured_text(const figure&);
std::string predicted_text(const figure&);

struct curve {
    std::string name;
    std::vector<std::pair<double, double>> points;
};

struct plot {
    std::string title, x, y;
    std::vector<curve> curves;
};

struct report {
    std::string system;
    std::string what;  // nodes, objects, seed …: one line
    std::vector<figure> figures;
    std::vector<plot> plots;
};

// A system of the survey, known by its name in `posy simulate NAME`.
struct system {
    std::string name, what;
    std::vector<std::string> takes;  // the options that it heeds beside the seed: "--nodes" …
    report (*run)(const options&);
};

// For people.
std::string table(const report&);

}  // namespace posy::simulate
