#include "near_match.hpp"

#include <fmt/core.h>

#include <cmath>
#include <cstdio>

#include "posy/dictionary/edits.hpp"

namespace posy::tool {

bool may_contain_near(const std::function<bool(std::string_view)>& test, std::string_view key,
                      std::string_view alphabet) {
    return test(key) ||
           dictionary::any_edit(key, dictionary::alphabet(alphabet),
                                [&](std::string_view text, dictionary::edit) { return test(text); });
}

void warn_if_near_is_vague(double false_positive_rate, std::string_view alphabet) {
    const std::size_t letters = dictionary::alphabet(alphabet).size();
    const double probes = 1 + static_cast<double>(dictionary::most_edits(8, letters));
    const double chance = -std::expm1(probes * std::log1p(-false_positive_rate));
    if (chance < 0.05) return;
    fmt::print(
        stderr,
        "posy: note: {:.0f} % of unrelated 8-letter words will match by chance, at {:.0f} probes per word; "
        "build the filter with --fpr {:.1g} for 1 %\n",
        100 * chance, probes, 0.01 / probes);
}

}  // namespace posy::tool
