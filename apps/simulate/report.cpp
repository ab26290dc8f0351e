#include "report.hpp"

#include <fmt/format.h>

namespace posy::simulate {

std::string table(const report& r) {
    std::string text =
        fmt::format("{}: {}\n\n{:44} {:>14} {:>14}\n", r.system, r.what, "", "measured", "predicted");
    for (const figure& f : r.figures) {
        const std::string unit = f.unit.empty() ? "" : " " + f.unit;
        const std::string predicted = f.predicted ? fmt::format("{:.6g}", *f.predicted) : "";
        const std::string error = f.deviation ? fmt::format(" ± {:.2g}", *f.deviation) : "";
        text += fmt::format("{:44} {:>14} {:>14}{}{}\n", f.name, fmt::format("{:.6g}", f.measured), predicted,
                            error, unit);
    }
    return text;
}

}  // namespace posy::simulate
