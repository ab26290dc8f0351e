#include "posy/dictionary/hyphenator.hpp"

#include <algorithm>
#include <memory>
#include <numeric>

#include "posy/dictionary/letters.hpp"

namespace posy::dictionary {
namespace {

// A word that all patterns have divided, and which of them had a part in it.
struct divided {
    std::string word;
    std::vector<hyphen_patterns::match> matches;
    std::vector<std::size_t> points;
};

std::vector<divided> divide_all(const hyphen_patterns& patterns, std::span<const std::string> words) {
    std::vector<std::string> small;
    for (const std::string& word : words) {
        std::string letters = lower(word);
        if (letters.size() == word.size() && letters.find_first_of("-\n") == std::string::npos)
            small.push_back(std::move(letters));
    }
    std::ranges::sort(small);
    small.erase(std::unique(small.begin(), small.end()), small.end());
    std::vector<divided> all;
    for (std::string& word : small) {
        auto matches = patterns.matches(word);
        auto points = patterns.points(word, patterns.levels(word, matches, [](auto) { return true; }));
        all.push_back({std::move(word), std::move(matches), std::move(points)});
    }
    return all;
}

// The patterns, those first that decide a place in the most words.
std::vector<std::uint32_t> by_use(const hyphen_patterns& patterns, const std::vector<divided>& words) {
    std::vector<std::uint64_t> uses(patterns.size());
    for (const divided& each : words) {
        const auto highest = patterns.levels(each.word, each.matches, [](auto) { return true; });
        for (const auto& match : each.matches) {
            const auto alone = patterns.levels(each.word, {match}, [](auto) { return true; });
            for (std::size_t i = 0; i < alone.size(); ++i)
                uses[match.pattern] += alone[i] > 0 && alone[i] == highest[i];
        }
    }
    std::vector<std::uint32_t> order(patterns.size());
    std::iota(order.begin(), order.end(), 0U);
    std::ranges::stable_sort(order, std::greater(), [&](std::uint32_t i) { return uses[i]; });
    return order;
}

}  // namespace

std::string hyphenation::table() const {
    std::string all;
    for (const std::string& each : exceptions) (all += each) += '\n';
    return all;
}

hyphenation choose_rules(const hyphen_patterns& patterns, std::span<const std::string> words, double share) {
    const std::vector<divided> all = divide_all(patterns, words);
    const std::vector<std::uint32_t> order = by_use(patterns, all);
    std::vector<std::uint32_t> rank(order.size());
    for (std::uint32_t i = 0; i < order.size(); ++i) rank[order[i]] = i;
    const auto is_right = [&](const divided& each, std::size_t rules) {
        const auto levels =
            patterns.levels(each.word, each.matches, [&](std::uint32_t i) { return rank[i] < rules; });
        return patterns.points(each.word, levels) == each.points;
    };
    std::size_t low = 0, high = order.size();  // high is enough, below low is not
    while (low < high) {
        const std::size_t middle = low + (high - low) / 2;
        const auto right =
            std::ranges::count_if(all, [&](const divided& each) { return is_right(each, middle); });
        if (static_cast<double>(right) >= share * static_cast<double>(all.size()))
            high = middle;
        else
            low = middle + 1;
    }
    hyphenation made{
        patterns.subset({order.begin(), order.begin() + static_cast<std::ptrdiff_t>(high)}), {}, all.size()};
    for (const divided& each : all) {
        if (!is_right(each, high)) made.exceptions.push_back(with_hyphens(each.word, each.points));
    }
    return made;
}

std::optional<std::vector<std::size_t>> hyphen_table::find(std::string_view word) const {
    std::size_t low = 0, high = lines_.size();  // starts of lines
    while (low < high) {
        const std::size_t middle = low + (high - low) / 2;
        const std::size_t before = middle == 0 ? std::string_view::npos : lines_.rfind('\n', middle - 1);
        const std::size_t start = std::max(low, before == std::string_view::npos ? 0 : before + 1);
        const std::size_t end = std::min(lines_.find('\n', start), lines_.size());
        std::string letters;
        std::vector<std::size_t> points;
        for (const char c : lines_.substr(start, end - start)) {
            if (c == '-')
                points.push_back(letters.size());
            else
                letters.push_back(c);
        }
        if (letters == word) return points;
        if (letters < word)
            low = end + 1;
        else
            high = start;
    }
    return {};
}

std::vector<std::string> hyphenator::divide(std::span<const std::string> words, std::string_view hyphen) {
    std::vector<std::string> parts, done;
    std::vector<std::size_t> first;  // part of each word
    for (const std::string& word : words) {
        first.push_back(parts.size());
        for (std::size_t start = 0; start <= word.size();) {
            const std::size_t end = std::min(word.find('-', start), word.size());
            parts.push_back(lower(std::string_view(word).substr(start, end - start)));
            start = end + 1;
        }
    }
    first.push_back(parts.size());
    const std::unique_ptr<bool[]> in_table(new bool[parts.size()]);
    exceptions_.may_contain(parts, {in_table.get(), parts.size()});
    total_.rate = exceptions_.false_positive_rate();
    for (std::size_t i = 0; i < words.size(); ++i) {
        std::string_view rest = words[i];
        std::string text;
        for (std::size_t part = first[i]; part < first[i + 1]; ++part) {
            const std::string_view letters = rest.substr(0, rest.find('-'));
            std::optional<std::vector<std::size_t>> points;
            ++total_.words;
            if (in_table[part]) {
                ++total_.accesses;
                points = table_.find(parts[part]);
                total_.exceptions += points.has_value();
            }
            if (!points || parts[part].size() != letters.size()) points = rules_.points(letters);
            text += with_hyphens(letters, *points, hyphen);
            if (part + 1 < first[i + 1]) text += '-';
            rest.remove_prefix(std::min(letters.size() + 1, rest.size()));
        }
        done.push_back(std::move(text));
    }
    return done;
}

}  // namespace posy::dictionary
