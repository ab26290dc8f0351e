#include "posy/dictionary/hyphen_patterns.hpp"

#include <algorithm>
#include <charconv>

#include "posy/dictionary/edits.hpp"
#include "posy/dictionary/letters.hpp"

namespace posy::dictionary {
namespace {

constexpr std::size_t most_bytes = 16 << 20, longest_pattern = 128;
constexpr std::string_view left_name = "LEFTHYPHENMIN ", right_name = "RIGHTHYPHENMIN ";

error wrong(std::size_t line, const std::string& what) {
    return error::invalid("line " + std::to_string(line) + " of the patterns: " + what);
}

std::string from_latin1(std::string_view text) {
    std::string all;
    for (const char c : text) append(all, static_cast<unsigned char>(c));
    return all;
}

std::string_view trimmed(std::string_view line) {
    while (!line.empty() && (line.back() == '\r' || line.back() == ' ' || line.back() == '\t'))
        line.remove_suffix(1);
    return line;
}

result<std::size_t> number_after(std::string_view line, std::string_view name, std::size_t number) {
    const std::string_view digits = line.substr(name.size());
    std::size_t value = 0;
    const auto [end, bad] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (bad != std::errc() || end != digits.data() + digits.size() || value > 100)
        return wrong(number, "a number up to 100 should follow " + std::string(name));
    return value;
}

}  // namespace

void hyphen_patterns::add(pattern one) {
    longest_ = std::max(longest_, one.letters.size());
    const auto [place, fresh] = index_.emplace(one.letters, static_cast<std::uint32_t>(patterns_.size()));
    if (fresh) return patterns_.push_back(std::move(one));
    std::string& levels = patterns_[place->second].levels;
    for (std::size_t i = 0; i < levels.size(); ++i) levels[i] = std::max(levels[i], one.levels[i]);
}

result<void> hyphen_patterns::add(std::string_view line, std::size_t number) {
    if (line.find('/') != std::string_view::npos || line == "NEXTLEVEL")
        return error::unsupported(
            "line " + std::to_string(number) +
            " of the patterns: compound words and hyphens that change the spelling are not "
            "supported");
    if (line.size() > longest_pattern) return wrong(number, "a pattern of more than 128 bytes");
    pattern one;
    one.levels.push_back(0);
    for (const char c : line) {
        if (c >= '0' && c <= '9') {
            one.levels.back() = static_cast<char>(c - '0');
        } else {
            one.letters.push_back(c);
            one.levels.push_back(0);
        }
    }
    if (one.letters.empty()) return wrong(number, "a pattern without letters");
    add(std::move(one));
    return {};
}

result<hyphen_patterns> hyphen_patterns::parse(std::string_view file) {
    if (file.size() > most_bytes) return error::too_large("patterns have at most 16 MiB");
    hyphen_patterns all;
    bool latin1 = false;
    std::size_t number = 0;
    while (!file.empty()) {
        const std::size_t end = std::min(file.find('\n'), file.size());
        const std::string_view line = trimmed(file.substr(0, end));
        file.remove_prefix(std::min(end + 1, file.size()));
        ++number;
        if (number == 1 && (line == "UTF-8" || line == "ISO8859-1")) {
            latin1 = line == "ISO8859-1";
            continue;
        }
        if (line.empty() || line[0] == '%' || line[0] == '#') continue;
        const bool left = line.starts_with(left_name), right = line.starts_with(right_name);
        if (left || right) {
            const auto least = number_after(line, left ? left_name : right_name, number);
            if (!least) return least.error();
            (left ? all.left_ : all.right_) = *least;
            continue;
        }
        const auto added = latin1 ? all.add(from_latin1(line), number) : all.add(line, number);
        if (!added) return added.error();
    }
    if (all.patterns_.empty())
        return error::invalid("there are no patterns; a file has one per line, such as hy3ph");
    const auto divides = [](const pattern& one) {
        return std::ranges::any_of(one.levels, [](char level) { return level != 0; });
    };
    if (std::ranges::none_of(all.patterns_, divides))
        return error::invalid("not a file of patterns: no line has a digit, as hy3ph has");
    return all;
}

std::string hyphen_patterns::text() const {
    std::string all = "UTF-8\n" + std::string(left_name) + std::to_string(left_) + "\n" +
                      std::string(right_name) + std::to_string(right_) + "\n";
    for (const pattern& each : patterns_) {
        for (std::size_t i = 0; i < each.levels.size(); ++i) {
            if (each.levels[i] != 0) all.push_back(static_cast<char>('0' + each.levels[i]));
            if (i < each.letters.size()) all.push_back(each.letters[i]);
        }
        all.push_back('\n');
    }
    return all;
}

std::vector<hyphen_patterns::match> hyphen_patterns::matches(std::string_view word) const {
    const std::string dotted = "." + std::string(word) + ".";
    std::vector<match> all;
    for (std::size_t at = 0; at < dotted.size(); ++at) {
        for (std::size_t size = 1; size <= std::min(longest_, dotted.size() - at); ++size) {
            const auto place = index_.find(std::string_view(dotted).substr(at, size));
            if (place != index_.end()) all.push_back({place->second, static_cast<std::uint32_t>(at)});
        }
    }
    return all;
}

std::vector<std::size_t> hyphen_patterns::points(std::string_view word,
                                                 const std::vector<std::uint8_t>& levels) const {
    const std::vector<std::string_view> all = characters(word);
    std::vector<std::size_t> found;
    for (std::size_t i = std::max<std::size_t>(left_, 1); i + std::max<std::size_t>(right_, 1) <= all.size();
         ++i) {
        const auto byte = static_cast<std::size_t>(all[i].data() - word.data());
        if (levels[byte + 1] % 2 == 1) found.push_back(byte);  // behind the dot
    }
    return found;
}

std::vector<std::size_t> hyphen_patterns::points(std::string_view word) const {
    const std::string small = lower(word);
    if (small.size() != word.size()) return {};
    return points(word, levels(small, matches(small), [](std::uint32_t) { return true; }));
}

hyphen_patterns hyphen_patterns::subset(const std::vector<std::uint32_t>& which) const {
    hyphen_patterns some;
    some.left_ = left_;
    some.right_ = right_;
    for (const std::uint32_t i : which) some.add(patterns_[i]);
    return some;
}

std::string with_hyphens(std::string_view word, const std::vector<std::size_t>& points,
                         std::string_view hyphen) {
    std::string all(word);
    for (auto point = points.rbegin(); point != points.rend(); ++point) all.insert(*point, hyphen);
    return all;
}

}  // namespace posy::dictionary
