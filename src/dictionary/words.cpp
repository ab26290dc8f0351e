#include "posy/dictionary/words.hpp"

#include <vector>

#include "posy/dictionary/edits.hpp"
#include "posy/dictionary/letters.hpp"

namespace posy::dictionary {
namespace {

constexpr char32_t soft_hyphen = 0xad;

bool is_blank(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
bool is_digit(char32_t c) { return c >= '0' && c <= '9'; }

// What a character does to the word that it is in.
enum class role { letter, accent, apostrophe, hyphen, nothing, spoils, ends };

role role_of(char32_t c) {
    if (accent_of_combining(c)) return role::accent;
    if (is_letter(c)) return role::letter;
    if (c == '\'' || c == 0x2019) return role::apostrophe;
    if (c == '-' || c == 0x2010 || c == 0x2011) return role::hyphen;
    if (c == soft_hyphen || c == static_cast<char32_t>(nothing)) return role::nothing;
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
    cutter(const std::function<void(const std::string&, std::size_t)>& use) : use_(use) {}

    void take(char32_t c, std::size_t offset) {
        const role what = role_of(c);
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
        if (!word_.empty() && !spoilt_) use_(utf8(word_), start_);
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

    const std::function<void(const std::string&, std::size_t)>& use_;
    std::u32string word_;
    std::size_t start_ = 0;
    char32_t between_ = 0;  // two letters, if another follows
    bool spoilt_ = false;
};

}  // namespace

void for_each_word(std::string_view text, const std::function<void(const std::string&, std::size_t)>& use) {
    cutter words(use);
    for (std::size_t at = 0; at < text.size();) {
        if (is_blank(text[at])) {
            ++at;
            continue;
        }
        std::size_t end = at;
        while (end < text.size() && !is_blank(text[end])) ++end;
        if (!is_address(text.substr(at, end - at))) {
            while (at < end) {
                const std::string_view each = first_character(text.substr(at));
                words.take(code_point(each), at);
                at += each.size();
            }
            words.end();
        }
        at = end;
    }
}

}  // namespace posy::dictionary
