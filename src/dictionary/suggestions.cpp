#include "posy/dictionary/suggestions.hpp"

#include <algorithm>
#include <memory>
#include <unordered_set>

#include "posy/dictionary/edits.hpp"
#include "posy/dictionary/letters.hpp"

namespace posy::dictionary {
namespace {

constexpr std::size_t longest_for_two = 16;  // characters: some million questions

// Texts that wait for an answer, and those that were found.
class search {
  public:
    explicit search(const std::vector<word_list>& in) : in_(in) {
        for (const word_list& each : in) f_ += each.words.false_positive_rate();
    }

    void ask(std::string_view text) {
        if (!asked_.insert(std::string(text)).second) return;
        waiting_.emplace_back(text);
        if (waiting_.size() == batch) answer();
    }
    void answer() {
        const std::unique_ptr<bool[]> answers(new bool[waiting_.size()]);
        for (const word_list& each : in_) {
            each.words.may_contain(waiting_, {answers.get(), waiting_.size()});
            for (std::size_t i = 0; i < waiting_.size(); ++i) {
                if (answers[i] && std::ranges::find(found_, waiting_[i]) == found_.end())
                    found_.push_back(waiting_[i]);
            }
        }
        waiting_.clear();
    }
    std::vector<std::string>& found() { return found_; }
    double expected_false() const { return f_ * static_cast<double>(asked_.size()); }
    double rate() const { return f_; }

  private:
    static constexpr std::size_t batch = 4096;
    const std::vector<word_list>& in_;
    double f_ = 0;  // of all dictionaries together
    std::unordered_set<std::string> asked_;
    std::vector<std::string> waiting_, found_;
};

// The letters of all languages of the dictionaries.
std::string letters_of_all(const std::vector<word_list>& in) {
    std::string all;
    for (const word_list& each : in) all += letters_of(each.rules);
    return all;
}

// "alot": two words without the blank between them. Of single letters only those that are words.
void find_pairs(const std::vector<word_list>& in, std::string_view word, std::vector<std::string>& found) {
    std::vector<std::string> halves;
    for (std::size_t i = 1; i < word.size(); ++i) {
        const auto fits = [](std::string_view half) { return half.size() > 2 || half == "a" || half == "I"; };
        const std::string_view left = word.substr(0, i), right = word.substr(i);
        const bool inside = (static_cast<unsigned char>(right[0]) & 0xc0) == 0x80;  // of a character
        if (inside || !fits(left) || !fits(right)) continue;
        halves.emplace_back(left);
        halves.emplace_back(right);
    }
    std::vector<char> right(halves.size() / 2);
    const std::unique_ptr<bool[]> answers(new bool[halves.size()]);
    for (const word_list& each : in) {
        each.words.may_contain(halves, {answers.get(), halves.size()});
        for (std::size_t i = 0; i < right.size(); ++i) right[i] |= answers[2 * i] && answers[2 * i + 1];
    }
    for (std::size_t i = 0; i < right.size(); ++i) {
        if (right[i]) found.push_back(halves[2 * i] + ' ' + halves[2 * i + 1]);
    }
}

bool is_vowel(char32_t c) {
    return std::u32string_view(U"aeiouy").find(bare(c)) != std::u32string_view::npos;
}

double cost_of_replacing(char32_t a, char32_t b) {
    if (a == b) return 0;
    if (lower(a) == lower(b)) return 0.2;
    if (bare(a) == bare(b)) return 0.4;
    return is_vowel(a) && is_vowel(b) ? 0.8 : 1;
}
// Of a letter that stands in one of the words only, behind `before`.
double cost_of_extra(char32_t letter, char32_t before) {
    return letter == before || letter == '\'' || letter == ' ' ? 0.6 : 0.9;
}

// As the misspelt word was written.
std::string in_case_of(std::string_view word, std::string suggestion) {
    switch (capitals_of(word)) {
        case capitals::none:
        case capitals::mixed:
            return suggestion;
        case capitals::first:
            return with_first_capital(suggestion, false);
        case capitals::all: {
            std::u32string points = code_points(suggestion);
            for (char32_t& c : points) c = upper(c);
            return utf8(points);
        }
    }
    return suggestion;
}

// All of them once, the likeliest first.
std::vector<std::string> ranked(std::vector<std::string> found, std::string_view word) {
    std::vector<std::pair<double, std::string>> by_cost;
    for (std::string& each : found) {
        const double cost = unlikeness(word, each);
        by_cost.emplace_back(cost, std::move(each));
    }
    std::ranges::sort(by_cost);
    std::vector<std::string> once;
    for (auto& [cost, each] : by_cost) {
        std::string shown = in_case_of(word, std::move(each));
        if (shown != word && std::ranges::find(once, shown) == once.end()) once.push_back(std::move(shown));
    }
    return once;
}

}  // namespace

double unlikeness(std::string_view written, std::string_view meant) {
    const std::u32string a = code_points(written), b = code_points(meant);
    std::vector<double> before, last, row(b.size() + 1);
    const auto previous = [](const std::u32string& text, std::size_t i) {
        return i > 1 ? text[i - 2] : U'\0';
    };
    for (std::size_t i = 0; i <= a.size(); ++i) {
        before.swap(last);
        last.swap(row);
        row.assign(b.size() + 1, 0);
        for (std::size_t j = 0; j <= b.size(); ++j) {
            if (i == 0 && j == 0) continue;
            double least = 1e9;
            const double first = i <= 1 && j <= 1 ? 0.5 : 0;  // people know how a word starts
            if (i > 0) least = std::min(least, last[j] + cost_of_extra(a[i - 1], previous(a, i)) + first);
            if (j > 0) least = std::min(least, row[j - 1] + cost_of_extra(b[j - 1], previous(b, j)) + first);
            if (i > 0 && j > 0) {
                const double cost = cost_of_replacing(a[i - 1], b[j - 1]);
                least = std::min(least, last[j - 1] + cost + (cost > 0.4 ? first : 0));
            }
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                least = std::min(least, before[j - 2] + 0.7);
            row[j] = least;
        }
    }
    return row[b.size()];
}

suggestions suggest(const std::vector<word_list>& in, std::string_view word, std::size_t most) {
    search all(in);
    const std::string letters = letters_of_all(in);
    const std::vector<std::string_view> small = alphabet(letters);
    const auto ask_edits = [&](std::string_view of, std::vector<std::string>* list) {
        any_edit(of, small, [&](std::string_view text, edit) {
            all.ask(text);
            if (list) list->emplace_back(text);
            return false;
        });
    };
    std::vector<std::string> near;
    const std::string name = with_first_capital(word, false);  // "london"
    all.ask(name);
    ask_edits(name, nullptr);
    for (const std::string& form : case_forms(word)) {
        all.ask(form);
        ask_edits(form, &near);
    }
    all.answer();
    find_pairs(in, word, all.found());
    const auto questions = static_cast<double>(near.size()) * static_cast<double>(near.size()) / 2;
    const bool affordable = characters(word).size() <= longest_for_two && all.rate() * questions <= 0.5;
    if (all.found().empty() && affordable) {
        for (const std::string& each : near) ask_edits(each, nullptr);
        all.answer();
    }
    suggestions s{ranked(std::move(all.found()), word), all.expected_false()};
    if (s.words.size() > most) {  // a false one is as likely as others among those that are left out
        s.expected_false *= static_cast<double>(most) / static_cast<double>(s.words.size());
        s.words.resize(most);
    }
    return s;
}

}  // namespace posy::dictionary
