#include "posy/dictionary/affixes.hpp"

#include <algorithm>
#include <array>
#include <span>

namespace posy::dictionary {
namespace {

bool is_vowel(char c) { return std::string_view("aeiou").find(c) != std::string_view::npos; }
// Above ASCII, any letter may be one.
bool has_vowel(std::string_view s) {
    return std::ranges::any_of(s, [](char c) { return is_vowel(c) || c == 'y' || (c & 0x80) != 0; });
}
bool is_consonant(char c) { return c >= 'a' && c <= 'z' && !is_vowel(c); }

// What a stem must be like.
enum class stem {
    any,
    hisses,     // box, church: takes -es
    no_hiss,    // walk, day: takes -s
    smooth,     // before -ed and -ing: not make, try or stop, which change
    no_e,       // before other vowels (-al, -ize): not make or try
    consonant,  // before a restored e: mak(e)
    no_y,       // before a consonant (-ness, -ly): not happy, which changes
    doubled,    // stopp: one of the two is the ending's
};

bool hisses(std::string_view s) {
    return s.ends_with('s') || s.ends_with('x') || s.ends_with('z') || s.ends_with("ch") || s.ends_with("sh");
}
bool changes_y(std::string_view s) {
    return s.ends_with('y') && s.size() > 1 && is_consonant(s[s.size() - 2]);
}
// A consonant that may double: stop and begin do, open does not. Nobody knows which by the letters alone, and
// lists have such forms (opened), so none is formed.
bool doubles(std::string_view s) {
    return s.size() > 2 && is_consonant(s[s.size() - 3]) && is_vowel(s[s.size() - 2]) &&
           std::string_view("bdfglmnprtvz").find(s.back()) != std::string_view::npos;
}
bool loses_e(std::string_view s) {
    return s.ends_with('e') && !s.ends_with("ee") && !s.ends_with("oe") && !s.ends_with("ye");
}

bool fits(std::string_view s, stem wanted) {
    switch (wanted) {
        case stem::any:
            return true;
        case stem::hisses:
            return hisses(s) || s.ends_with('o');
        case stem::no_hiss:
            return !hisses(s) && !changes_y(s);
        case stem::smooth:
            return !changes_y(s) && !loses_e(s) && !doubles(s);
        case stem::no_e:
            return !changes_y(s) && !loses_e(s);
        case stem::consonant:
            return is_consonant(s.back()) || s.ends_with('u');
        case stem::no_y:
            return !changes_y(s);
        case stem::doubled:
            return s.size() > 3 && is_consonant(s.back()) && s[s.size() - 2] == s.back() &&
                   is_vowel(s[s.size() - 3]);
    }
    return false;
}

struct suffix {
    std::string_view ending, stands_for;
    stem wanted = stem::any;  // before what the ending stands for is added
};

// An ending that begins with a vowel: walked, liked, stopped.
constexpr std::array<suffix, 3> vowel(std::string_view ending) {
    return {{{ending, "", stem::smooth}, {ending, "e", stem::consonant}, {ending, "", stem::doubled}}};
}
constexpr std::array<suffix, 1> one(std::string_view ending, std::string_view stands_for = "",
                                    stem wanted = stem::any) {
    return {{{ending, stands_for, wanted}}};
}
template <std::size_t... N>
constexpr auto all_of(const std::array<suffix, N>&... some) {
    std::array<suffix, (N + ...)> all{};
    auto at = all.begin();
    ((at = std::ranges::copy(some, at).out), ...);
    return all;
}

constexpr auto english_suffixes = all_of(
    one("'s"), one("s", "", stem::no_hiss), one("es", "", stem::hisses), one("ies", "y"), vowel("ed"),
    one("ied", "y"), vowel("ing"), one("ying", "ie"), vowel("er"), one("ier", "y"), vowel("est"),
    one("iest", "y"), one("ly", "", stem::no_y), one("ily", "y"), one("bly", "ble"), one("ically", "ic"),
    one("ness", "", stem::no_y), one("iness", "y"), one("ment"), one("ful", "", stem::no_y),
    one("less", "", stem::no_y), one("like"), one("ship"), one("hood"), one("wise"), vowel("able"),
    one("ability", "able"), one("ibility", "ible"), one("ize", "", stem::no_e), one("ise", "", stem::no_e),
    one("ization", "ize"), one("isation", "ise"), one("ist", "", stem::no_e), one("ism", "", stem::no_e),
    one("ity", "", stem::no_e), one("ity", "e", stem::consonant), one("ation", "ate"),
    one("ation", "e", stem::consonant), one("ion", "", stem::no_e), one("ion", "e", stem::consonant),
    one("al", "", stem::no_e), one("ish", "", stem::no_e));
constexpr std::array<std::string_view, 26> english_prefixes = {
    "anti",  "auto",   "bio", "counter", "de",    "dis",  "extra", "fore",  "hyper",
    "inter", "micro",  "mis", "multi",   "non",   "out",  "over",  "photo", "poly",
    "pre",   "pseudo", "re",  "sub",     "super", "tele", "un",    "under"};

constexpr auto french_suffixes = all_of(one("s", "", stem::no_hiss), one("aux", "al"));
constexpr std::array<std::string_view, 14> french_prefixes = {
    "c'", "d'",  "j'",     "l'",      "m'",      "n'",      "s'",
    "t'", "qu'", "jusqu'", "lorsqu'", "puisqu'", "quoiqu'", "presqu'"};

constexpr auto german_suffixes =
    all_of(one("s", "", stem::no_hiss), one("es"), one("e"), one("en"), one("n"), one("er"), one("em"));

struct rules {
    std::span<const suffix> suffixes;
    std::span<const std::string_view> prefixes;
    std::string_view letters;
    std::size_t shortest = 3;  // bytes of a stem
};

rules rules_of(language which) {
    switch (which) {
        case language::none:
            return {{}, {}, "abcdefghijklmnopqrstuvwxyz'"};
        case language::english:
            return {english_suffixes, english_prefixes, "abcdefghijklmnopqrstuvwxyz'"};
        case language::french:
            return {french_suffixes, french_prefixes, "abcdefghijklmnopqrstuvwxyzàâæçéèêëîïôœùûüÿ'", 1};
        case language::german:
            return {german_suffixes, {}, "abcdefghijklmnopqrstuvwxyzäöüß"};
    }
    return {};
}

class stripper {
  public:
    explicit stripper(const rules& by) : by_(by) {}

    // Suffixes may follow each other (carelessly), and so may prefixes (unrepaired has one of each kind).
    void strip(std::string_view word, unsigned depth) {
        if (depth == 0) return;
        for (const suffix& each : by_.suffixes) {
            if (!word.ends_with(each.ending)) continue;
            const std::string_view before = word.substr(0, word.size() - each.ending.size());
            if (before.size() + each.stands_for.size() < by_.shortest || !has_vowel(before) ||
                !fits(before, each.wanted))
                continue;
            const std::size_t cut = each.wanted == stem::doubled ? 1 : 0;
            add(std::string(before.substr(0, before.size() - cut)).append(each.stands_for), depth);
        }
        for (const std::string_view each : by_.prefixes) {
            if (word.starts_with(each) && word.size() >= each.size() + by_.shortest)
                add(std::string(word.substr(each.size())), depth);
        }
    }
    std::vector<std::string> take() && { return std::move(found_); }

  private:
    void add(const std::string& stem, unsigned depth) {
        if (found_.size() >= most_stems || std::ranges::find(found_, stem) != found_.end()) return;
        found_.push_back(stem);
        strip(stem, depth - 1);
    }

    const rules& by_;
    std::vector<std::string> found_;
};

}  // namespace

language language_of(std::string_view name) {
    name.remove_prefix(name.find_last_of('/') + 1);
    const auto has = [&](std::string_view part) { return name.find(part) != std::string_view::npos; };
    if (has("english") || has("american") || has("british") || has("canadian")) return language::english;
    if (has("french") || has("francais")) return language::french;
    if (has("german") || has("swiss")) return language::german;
    return language::none;
}

std::vector<std::string> stems(std::string_view word, language which) {
    const rules by = rules_of(which);
    stripper all(by);
    all.strip(word, 3);
    auto found = std::move(all).take();
    std::erase(found, word);
    return found;
}

std::string_view letters_of(language which) { return rules_of(which).letters; }

}  // namespace posy::dictionary
