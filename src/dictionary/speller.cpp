#include "posy/dictionary/speller.hpp"

#include <algorithm>
#include <memory>
#include <unordered_set>

#include "posy/dictionary/edits.hpp"
#include "posy/dictionary/letters.hpp"
#include "posy/dictionary/words.hpp"

namespace posy::dictionary {
namespace {

struct question {
    std::string text;
    std::size_t word;  // its index among those that are asked about
};

std::vector<question> of_forms(std::span<const std::string> words) {
    std::vector<question> all;
    for (std::size_t i = 0; i < words.size(); ++i) {
        for (std::string& form : case_forms(words[i])) all.push_back({std::move(form), i});
    }
    return all;
}

// Of the words that are not right yet.
std::vector<question> of_stems(std::span<const std::string> words,
                               const std::vector<speller::verdict>& verdicts, language rules) {
    std::vector<question> all;
    for (std::size_t i = 0; i < words.size(); ++i) {
        if (verdicts[i].right) continue;
        for (const std::string& form : case_forms(words[i])) {
            for (std::string& stem : stems(form, rules)) all.push_back({std::move(stem), i});
        }
    }
    return all;
}

void ask(const word_filter& words, std::span<const question> questions,
         std::vector<speller::verdict>& verdicts) {
    std::vector<std::string> texts;
    for (const question& each : questions) texts.push_back(each.text);
    const std::unique_ptr<bool[]> answers(new bool[texts.size()]);
    words.may_contain(texts, {answers.get(), texts.size()});
    for (std::size_t i = 0; i < questions.size(); ++i) {
        speller::verdict& of = verdicts[questions[i].word];
        of.right |= answers[i];
        of.chance += (1 - of.chance) * words.false_positive_rate();
    }
}

bool is_one_letter(std::string_view word) { return first_character(word).size() == word.size(); }

// Calls use(part, its offset in the word).
template <class Use>
void for_each_part(const std::string& word, Use use) {
    for (std::size_t start = 0; start <= word.size();) {
        const std::size_t end = std::min(word.find('-', start), word.size());
        use(word.substr(start, end - start), start);
        start = end + 1;
    }
}

// The dot, apostrophe or hyphen behind a word, as it is written: "etc.", "aujourd'", "pseudo-".
std::string_view mark_behind(std::string_view rest) {
    for (const std::string_view mark : {".", "'", "\u2019", "-"}) {
        if (rest.starts_with(mark)) return mark;
    }
    return {};
}

// What else a dictionary may have a word as: with the mark behind it, and as it is written.
std::vector<std::string> other_forms(const std::string& word, std::string_view written,
                                     std::string_view mark) {
    std::string bytes(written);
    std::erase(bytes, nothing);
    std::vector<std::string> all;
    if (!mark.empty()) all.push_back(word + normal_form(mark));
    if (bytes != word) all.push_back(bytes);
    if (!mark.empty() && (bytes != word || mark.size() > 1)) all.push_back(bytes.append(mark));
    return all;
}

}  // namespace

std::vector<speller::verdict> speller::judge(std::span<const std::string> words) const {
    std::vector<verdict> verdicts(words.size());
    const std::vector<question> forms = of_forms(words);
    for (const word_list& each : dictionaries_) ask(each.words, forms, verdicts);
    for (const word_list& each : dictionaries_)
        ask(each.words, of_stems(words, verdicts, each.rules), verdicts);
    for (std::size_t i = 0; i < words.size(); ++i) verdicts[i].right |= is_one_letter(words[i]);
    return verdicts;
}

// In pieces: a large text has many different words, and each of them many questions.
void speller::learn(const std::vector<std::string>& words) {
    std::unordered_set<std::string> fresh;
    for (const std::string& word : words) {
        if (!known_.contains(word)) fresh.insert(word);
    }
    const std::vector<std::string> all(fresh.begin(), fresh.end());
    constexpr std::size_t piece = 4096;
    for (std::size_t i = 0; i < all.size(); i += piece) {
        const std::span<const std::string> some(all.data() + i, std::min(piece, all.size() - i));
        const std::vector<verdict> verdicts = judge(some);
        for (std::size_t j = 0; j < some.size(); ++j) known_.emplace(some[j], known{verdicts[j]});
    }
}

// For each misspelt word that fails with probability q there are (1 - q) / q that pass, on average.
void speller::count(const std::string& wrong, double whole_fails) {
    known& word = known_.at(wrong);
    if (word.counted) return;
    word.counted = true;
    const double fails = (1 - word.chance) * whole_fails;
    missed_ += (1 - fails) / fails;
}

std::vector<speller::misspelling> speller::misspelt(std::string_view text) {
    struct unknown {
        misspelling word;
        std::vector<std::string> forms;
    };
    std::vector<misspelling> wrong;
    std::vector<std::string_view> written;
    std::vector<std::string> words, others;
    for_each_word(text, [&](const std::string& word, std::size_t, std::string_view bytes) {
        words.push_back(word);
        written.push_back(bytes);
    });
    words_ += words.size();
    learn(words);
    std::vector<unknown> all;
    for (std::size_t i = 0; i < words.size(); ++i) {
        if (known_.at(words[i]).right) continue;
        const auto offset = static_cast<std::size_t>(written[i].data() - text.data());
        const std::string_view mark = mark_behind(text.substr(offset + written[i].size()));
        all.push_back({{words[i], offset}, other_forms(words[i], written[i], mark)});
        others.insert(others.end(), all.back().forms.begin(), all.back().forms.end());
        for_each_part(words[i], [&](const std::string& part, std::size_t) { others.push_back(part); });
    }
    learn(others);
    for (const unknown& each : all) {
        const auto is_right = [&](const std::string& form) { return known_.at(form).right; };
        if (std::ranges::any_of(each.forms, is_right)) continue;
        const std::string& word = each.word.word;
        double fails = word.find('-') == std::string::npos ? 1 : 1 - known_.at(word).chance;
        for (const std::string& form : each.forms) fails *= 1 - known_.at(form).chance;
        for_each_part(word, [&](const std::string& part, std::size_t at) {
            if (is_right(part)) return;
            wrong.push_back({part, each.word.offset + at});
            count(part, fails);
        });
    }
    return wrong;
}

std::vector<std::string> case_forms(std::string_view word) {
    switch (capitals_of(word)) {
        case capitals::none:
        case capitals::mixed:
            return {std::string(word)};
        case capitals::first:
            return {std::string(word), lower(word)};
        case capitals::all:
            return {std::string(word), with_first_capital(word, true), lower(word)};
    }
    return {};
}

}  // namespace posy::dictionary
