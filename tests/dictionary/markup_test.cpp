#include "posy/dictionary/markup.hpp"

#include <gtest/gtest.h>

#include <random>

#include "posy/dictionary/words.hpp"
#include "statistics.hpp"

namespace posy::dictionary {
namespace {

std::string words_of(const std::string& text, markup form) {
    std::string all;
    for_each_word(without_markup(text, form), [&](const std::string& word, std::size_t, std::string_view) {
        (all += all.empty() ? "" : " ") += word;
    });
    return all;
}

TEST(markup, of_html) {
    const auto words = [](const std::string& text) { return words_of(text, markup::html); };
    EXPECT_EQ(words("<p class=\"a>b\">One <b>t</b>wo<br/>three</p>four"), "One two three four");
    EXPECT_EQ(words("caf&eacute; na&#239;ve stra&#xDF;e &OElig;uvre don&rsquo;t a&nbsp;b AT&T; x &lt; y"),
              "café naïve straße Œuvre don't a b AT x y");
    EXPECT_EQ(words("a <!-- hidden <b> --> b <script>if (a<b) var hidden;</script> c <PRE>hidden</PRE> d"),
              "a b c d");
    EXPECT_EQ(words("<?xml hidden?><!DOCTYPE hidden><x:y z='hidden>'>seen<![CDATA[seen]]></x:y>"),
              "seen seen");
    EXPECT_EQ(words("if a < b and <unfinished hidden"), "if a b and");
}

TEST(markup, of_latex) {
    const auto words = [](const std::string& text) { return words_of(text, markup::latex); };
    EXPECT_EQ(words("\\documentclass[hidden]{hidden}\n\\section*{Seen} \\emph{word} % hidden\nnext \\% more"),
              "Seen word next more");
    EXPECT_EQ(words("na\\\"{\\i}ve caf\\'e \\c{c}a M{\\\"u}ller stra\\ss e gar\\c con hy\\-phen"),
              "naïve café ça Müller straße garçon hyphen");
    EXPECT_EQ(words("a $hidden_x$ b $$hidden$$ c \\(hidden\\) d \\[hidden\\] e cost \\$5 f"),
              "a b c d e cost f");
    EXPECT_EQ(
        words(
            "\\begin{verbatim}hidden\\end{verbatim} a \\verb|hidden| b \\begin{tabular}{lcr}c\\end{tabular}"),
        "a b c");
    EXPECT_EQ(words("\\cite[p.~3]{hidden} a~b \\href{hidden}{seen} \\ref{hidden} \\usepackage{hidden}"),
              "a b seen");
    EXPECT_EQ(words("a $ b\n\nc"), "a b c");  // not mathematics
}

TEST(markup, of_markdown) {
    const auto words = [](const std::string& text) { return words_of(text, markup::markdown); };
    EXPECT_EQ(words("# Title\n**bo**ld _slanted_ `hidden` ``hid`den`` [text](hidden \"x\") ![alt](hidden)"),
              "Title bold slanted text alt");
    EXPECT_EQ(words("seen\n```sh\nhidden\n```\nseen\n~~~\nhidden ```\n~~~\nend"), "seen seen end");
    EXPECT_EQ(words("seen\n\n    hidden\n\n- item\n\n    seen too\n"), "seen item seen too");
    EXPECT_EQ(words("[name]: hidden\n<b>seen</b> &eacute;t&eacute; [text][hidden]\n"), "name seen été text");
    EXPECT_EQ(words("---\nhidden: yes\n---\nseen"), "seen");
    EXPECT_EQ(words("a ` b\n\nc ` d"), "a b c d");
}

TEST(markup, of_troff) {
    const auto words = [](const std::string& text) { return words_of(text, markup::troff); };
    EXPECT_EQ(
        words(".TH HIDDEN 1\n.SH Name\nls \\- list \\fBbold\\fR part\\fIial\\fP\n.\\\" hidden\n.BR seen (1)"),
        "Name ls list bold partial seen");
    EXPECT_EQ(words("M\\(:uller caf\\['e] don\\(cqt hy\\%phen \\(em \\*(hh \\s+2size\\s0 \\\" hidden"),
              "Müller café don't hyphen size");
    EXPECT_EQ(words("a\n.TS\nhidden\n.TE\nb\n.de XX\nhidden\n..\nc\n.nf\nhidden\n.fi\nd"), "a b c d");
}

TEST(markup, is_known_by_the_name_of_a_file) {
    EXPECT_EQ(markup_of("page.HTML"), markup::html);
    EXPECT_EQ(markup_of("/usr/share/man/man1/ls.1.gz"), markup::troff);
    EXPECT_EQ(markup_of("a.b/README.md"), markup::markdown);
    EXPECT_EQ(markup_of("paper.tex.zst"), markup::latex);
    for (const char* name : {"-", "a.html/b", "text", "text.txt", "", "."})
        EXPECT_EQ(markup_of(name), markup::none);
}

// Whatever the text is: as many bytes, and the same line breaks.
TEST(markup, leaves_offsets_and_lines_alone) {
    std::mt19937_64 random(7);
    const std::string pieces[] = {"<",
                                  ">",
                                  "<b>",
                                  "</",
                                  "&",
                                  ";",
                                  "&eacute;",
                                  "\\",
                                  "{",
                                  "}",
                                  "$",
                                  "`",
                                  "```",
                                  "[",
                                  "](",
                                  "\n",
                                  "\n\n",
                                  ".",
                                  "\n.de x",
                                  "\n.TS",
                                  "\"",
                                  "%",
                                  "é",
                                  "_",
                                  "*",
                                  "    ",
                                  "word",
                                  "'",
                                  "\\begin{verbatim}",
                                  "\\f(",
                                  "\\c",
                                  "<!--",
                                  "<script>",
                                  "=",
                                  "\xff",
                                  "~~~",
                                  "---\n",
                                  "&#x1F600;"};
    at_least checks(4 * 2000);
    for (int i = 0; i < 2000; ++i) {
        std::string text;
        for (std::uint64_t left = random() % 20; left > 0; --left)
            text += pieces[random() % std::size(pieces)];
        for (const markup form : {markup::html, markup::latex, markup::markdown, markup::troff}) {
            const std::string plain = without_markup(text, form);
            ASSERT_EQ(plain.size(), text.size()) << name_of(form) << ": " << text;
            for (std::size_t at = 0; at < text.size(); ++at)
                ASSERT_EQ(plain[at] == '\n', text[at] == '\n') << name_of(form) << ": " << text;
            ++checks;
        }
    }
}

}  // namespace
}  // namespace posy::dictionary
