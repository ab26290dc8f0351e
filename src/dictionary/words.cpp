#include "posy/dictionary/words.hpp"

#include <vector>

#include "posy/dictionary/edits.hpp"
#include "posy/dictionary/letters.hpp"

namespace posy::dictionary {
namespace {

constexpr char32_t soft_hyphen = 0xad, byte_order_mark = 0xfeff;

bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
bool is_digit(char32_t c) { return c >= '0' && c <= '9'; }

// What a character does to the word that it is in.
enum class role { letter, accent, apostrophe, hyphen, nothing, spoils, ends };

role role_of(char32_t c) {
    if (c == soft_hyphen || c == byte_order_mark || c == static_cast<char32_t>(nothing)) return role::nothing;
    if (accent_of_combining(c)) return role::accent;
    if (is_letter(c)) return role::letter;
    if (c == '\'' || c == 0x2019) return role::apostrophe;
    if (c == '-' || c == 0x2010 || c == 0x2011) return role::hyphen;
    return is_digit(c) || c == '_' ? role::spoils : role::ends;
}

// A run without blanks that is the address of something, not text.
bool is_address(std::string_view run) {
    while (!run.empty() && std::string_view("(<[\"'").find(run[0]) != std::string_view::npos)
        run.remove_prefix(1);
    if (run.starts_with("www.") || run.find("://") != std::string_view::npos) return true;
    for (const std::string_view start : {"/", "~/", "./", "../"}) {
        if (run.size() > start.size() && run.starts_with(start)) return true;
    }
    const std::size_t at = run.find('@');
    return at != std::string_view::npos && at > 0 && at + 1 < run.size() &&
           run.find('.', at) != std::string_view::npos;
}

// One run: its words, letter by letter.
class cutter {
  public:
    cutter(std::string_view text, const use_word& use) : text_(text), use_(use) {}

    void take(std::string_view character, std::size_t offset) {
        const char32_t c = code_point(character);
        const role what = role_of(c);
        if (what == role::letter || what == role::accent) end_ = offset + character.size();
        switch (what) {
            case role::letter:
                if (word_.empty() && !spoilt_) start_ = offset;
                if (between_ != 0) word_.push_back(between_);
                between_ = 0;
                word_.push_back(c);
                cut_short();
                break;
            case role::accent:
                if (word_.empty()) break;
                if (const auto both = compose(word_.back(), *accent_of_combining(c)))
                    word_.back() = *both;
                else
                    word_.push_back(c);
                cut_short();
                break;
            case role::apostrophe:
            case role::hyphen:
                if (word_.empty() || between_ != 0) return end();  // "--" separates
                between_ = what == role::hyphen ? U'-' : U'\'';
                break;
            case role::nothing:
                break;
            case role::spoils:
                spoilt_ = true;
                break;
            case role::ends:
                end();
        }
    }
    void end() {
        if (!word_.empty() && !spoilt_) use_(utf8(word_), start_, text_.substr(start_, end_ - start_));
        word_.clear();
        between_ = 0;
        spoilt_ = false;
    }

  private:
    void cut_short() {
        if (word_.size() <= longest_word) return;
        spoilt_ = true;
        word_.resize(1);
    }

    std::string_view text_;
    const use_word& use_;
    std::u32string word_;
    std::size_t start_ = 0, end_ = 0;
    char32_t between_ = 0;  // two letters, if another follows
    bool spoilt_ = false;
};

}  // namespace

void for_each_word(std::string_view text, const use_word& use) {
    cutter words(text, use);
    for (std::size_t at = 0; at < text.size();) {
        if (is_space(text[at])) {
            ++at;
            continue;
        }
        std::size_t end = at;
        while (end < text.size() && !is_space(text[end])) ++end;
        if (!is_address(text.substr(at, end - at))) {
            while (at < end) {
                const std::string_view each = first_character(text.substr(at));
                words.take(each, at);
                at += each.size();
            }
            words.end();
        }
        at = end;
    }
}

std::string normal_form(std::string_view line) {
    std::u32string all;
    while (!line.empty()) {
        const std::string_view character = first_character(line);
        const char32_t c = code_point(character);
        line.remove_prefix(character.size());
        switch (role_of(c)) {
            case role::accent:
                if (const auto both =
                        all.empty() ? std::nullopt : compose(all.back(), *accent_of_combining(c)))
                    all.back() = *both;
                else
                    all.push_back(c);
                break;
            case role::apostrophe:
                all.push_back(U'\'');
                break;
            case role::hyphen:
                all.push_back(U'-');
                break;
            case role::nothing:
                break;
            default:
                all.push_back(c);
        }
    }
    return utf8(all);
}

void for_each_block(std::string_view text, const std::function<void(std::string_view, std::size_t)>& use) {
    constexpr std::size_t least = 64 << 10;
    for (std::size_t start = 0; start < text.size();) {
        const std::size_t line = text.find('\n', std::min(start + least, text.size()));
        const std::size_t end = line == std::string_view::npos ? text.size() : line + 1;
        use(text.substr(start, end - start), start);
        start = end;
    }
}

}  // namespace posy::dictionary
