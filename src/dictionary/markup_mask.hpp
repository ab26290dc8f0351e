// A text whose markup is overwritten in place, and what the forms of markup have in common: a position that
// moves through it, and ways to look ahead.
//
// Invariant: the size of the text and its line breaks never change, and the position never moves back.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

#include "posy/dictionary/letters.hpp"
#include "posy/dictionary/words.hpp"

namespace posy::dictionary {

inline bool is_blank(char c) { return c == ' ' || c == '\t'; }

// A letter that has a name in a form of markup.
struct named_letter {
    std::string_view name;
    char32_t character;
};

class markup_mask {
  public:
    explicit markup_mask(std::string text) : text_(std::move(text)) {}

    std::string take() && { return std::move(text_); }
    std::size_t size() const { return text_.size(); }
    std::size_t at() const { return at_; }
    bool done() const { return at_ >= text_.size(); }
    char next(std::size_t ahead = 0) const { return at_ + ahead < size() ? text_[at_ + ahead] : '\n'; }
    bool sees(std::string_view what) const { return rest().starts_with(what); }
    std::string_view rest() const { return std::string_view(text_).substr(std::min(at_, size())); }
    // The characters from here on that a condition accepts.
    template <class Condition>
    std::string_view run(Condition accepts, std::size_t ahead = 0) const {
        const std::string_view from = rest().substr(std::min(ahead, rest().size()));
        const auto end = std::ranges::find_if_not(from, accepts);
        return from.substr(0, static_cast<std::size_t>(end - from.begin()));
    }
    bool at_line_start() const { return at_ == 0 || text_[at_ - 1] == '\n'; }
    // To the next empty line; not far, so that a search in it takes no time even where nothing is found.
    std::string_view paragraph() const {
        const std::string_view near = rest().substr(0, 4096);
        return near.substr(0, near.find("\n\n"));
    }
    std::string_view line() const { return rest().substr(0, rest().find('\n')); }

    void keep(std::size_t bytes) { at_ = std::min(size(), at_ + bytes); }
    void blank(std::size_t bytes) { overwrite(bytes, ' '); }
    void drop(std::size_t bytes) { overwrite(bytes, nothing); }
    // So many bytes stand for this character; if it needs more, for nothing.
    void put(std::size_t bytes, char32_t character) {
        std::string letter;
        append(letter, character);
        if (letter.size() > bytes || at_ + bytes > size()) return drop(bytes);
        text_.replace(at_, letter.size(), letter);
        at_ += letter.size();
        drop(bytes - letter.size());
    }
    // To the end of what is searched for, or to the end of the text.
    void blank_through(std::string_view what) {
        const std::size_t found = rest().find(what);
        blank(found == std::string_view::npos ? rest().size() : found + what.size());
    }
    void blank_line() { blank(line().size()); }

  private:
    void overwrite(std::size_t bytes, char with) {
        const std::size_t end = std::min(size(), at_ + bytes);
        for (; at_ < end; ++at_) {
            if (text_[at_] != '\n') text_[at_] = with;
        }
    }

    std::string text_;
    std::size_t at_ = 0;
};

// One function per form of markup, each in a file of its own.
void mask_html(markup_mask&);
void mask_latex(markup_mask&);
void mask_markdown(markup_mask&);
void mask_troff(markup_mask&);

// What HTML and Markdown share: a tag or comment, or an entity, if one starts here. Whether one did.
bool mask_tag(markup_mask&);
bool mask_entity(markup_mask&);

}  // namespace posy::dictionary
