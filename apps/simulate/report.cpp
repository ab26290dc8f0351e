#include "report.hpp"

#include <fmt/format.h>

#include <stdexcept>

namespace posy::simulate {
namespace {

std::string number(double x) { return fmt::format("{:.6g}", x); }

std::string error_of(const figure& f) { return f.deviation ? fmt::format(" ± {:.2g}", *f.deviation) : ""; }

}  // namespace

std::uint64_t number_of(const std::string& option, std::optional<std::uint64_t> given, std::uint64_t own,
                        std::uint64_t least, std::uint64_t most) {
    const std::uint64_t number = given.value_or(own);
    if (number < least || number > most) {
        throw std::invalid_argument(fmt::format(
            "simulate: {} is {}; this system takes at least {} and at most {}", option, number, least, most));
    }
    return number;
}

std::string measured_text(const figure& f) {
    return number(f.measured) + error_of(f) + (f.unit.empty() || f.predicted ? "" : " " + f.unit);
}

std::string predicted_text(const figure& f) {
    return f.predicted ? number(*f.predicted) + (f.unit.empty() ? "" : " " + f.unit) : "";
}

std::string table(const report& r) {
    std::string text = fmt::format("{}: {}\n\n{:44} {:>14}{:10} {:>14}\n", r.system, r.what, "", "measured",
                                   "", "predicted");
    for (const figure& f : r.figures) {
        const std::string unit = f.unit.empty() ? "" : " " + f.unit;
        const std::string predicted = f.predicted ? number(*f.predicted) : "";
        text += fmt::format("{:44} {:>14}{:10} {:>14}{}\n", f.name, number(f.measured), error_of(f),
                            predicted, unit);
    }
    return text;
}

}  // namespace posy::simulate
