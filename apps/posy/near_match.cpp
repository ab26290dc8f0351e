#include "near_match.hpp"

#include <fmt/core.h>

#include <cmath>
#include <cstdio>
#include <utility>

namespace posy::tool {

std::string printable_ascii() {
    std::string all;
    for (char c = ' '; c <= '~'; ++c) all.push_back(c);
    return all;
}

bool may_contain_near(const std::function<bool(std::string_view)>& test, std::string_view key,
                      std::string_view alphabet) {
    if (test(key)) return true;
    for (std::size_t i = 0; i + 1 < key.size(); ++i) {  // two neighbours swapped
        std::string text(key);
        std::swap(text[i], text[i + 1]);
        if (test(text)) return true;
    }
    for (std::size_t i = 0; i < key.size(); ++i) {  // one deleted
        std::string text(key);
        text.erase(i, 1);
        if (test(text)) return true;
    }
    for (std::size_t i = 0; i < key.size(); ++i) {  // one replaced
        std::string text(key);
        for (const char c : alphabet) {
            text[i] = c;
            if (test(text)) return true;
        }
    }
    for (std::size_t i = 0; i <= key.size(); ++i) {  // one inserted
        std::string text(key);
        text.insert(i, 1, ' ');
        for (const char c : alphabet) {
            text[i] = c;
            if (test(text)) return true;
        }
    }
    return false;
}

void warn_if_near_is_vague(double false_positive_rate, std::string_view alphabet) {
    const double length = 8, size = static_cast<double>(alphabet.size());
    const double probes = length + length - 1 + length * size + (length + 1) * size;
    const double chance = -std::expm1(probes * std::log1p(-false_positive_rate));
    if (chance < 0.05) return;
    fmt::print(
        stderr,
        "posy: note: {:.0f} % of unrelated 8-letter words will match by chance, at {:.0f} probes per word; "
        "build the filter with --fpr {:.1g} for 1 %\n",
        100 * chance, probes, 0.01 / probes);
}

}  // namespace posy::tool
