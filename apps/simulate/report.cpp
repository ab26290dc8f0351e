#include "report.hpp"

#include <fmt/format.h>

#include <stdexcept>

namespace posy::simulate {

std::uint64_t number_of(const std::string& option, std::optional<std::uint64_t> given, std::uint64_t own,
                        std::uint64_t least, std::uint64_t most) {
    const std::uint64_t number = given.value_or(own);
    if (number < least || number > most) {
        throw std::invalid_argument(fmt::format(
            "simulate: {} is {}; this system takes at least {} and at most {}", option, number, least, most));
    }
    return number;
}

std::string table(const report& r) {
    std::string text = fmt::format("{}: {}\n\n{:44} {:>14}{:10} {:>14}\n", r.system, r.what, "", "measured",
                                   "", "predicted");
    for (const figure& f : r.figures) {
        const std::string unit = f.unit.empty() ? "" : " " + f.unit;
        const std::string predicted = f.predicted ? fmt::format("{:.6g}", *f.predicted) : "";
        const std::string error = f.deviation ? fmt::format(" ± {:.2g}", *f.deviation) : "";
        text += fmt::format("{:44} {:>14}{:10} {:>14}{}\n", f.name, fmt::format("{:.6g}", f.measured), error,
                            predicted, unit);
    }
    return text;
}

}  // namespace posy::simulate
