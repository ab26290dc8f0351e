// Sessions that fetch the texts of the keys they lack.
#include "conversation.hpp"

namespace posy::reconcile {
namespace {

TEST(reconcile_session_texts, both_sides_fetch_the_texts_they_lack) {
    for (const method how : {method::exact, method::filter, method::tree}) {
        for (const digest_width width : {digest_width::half, digest_width::full}) {
            const side a(0, 1000, width), b(60, 1040, width);
            const settings s{.method = how, .bits_per_item = 40, .fetch = true};
            conversation c{*session::ask(a.set, s, a.owner()), session::answer(b.set, s, b.owner())};
            c.run();
            ASSERT_TRUE(c.good()) << c.errors();
            const auto check = [](const outcome& found, const side& other, std::size_t lacking) {
                ASSERT_EQ(found.texts.size(), lacking);
                for (std::size_t i = 0; i < lacking; ++i)
                    EXPECT_EQ(found.texts[i], other.texts.at(found.only_there[i]));
            };
            check(c.ask.found(), b, 40);
            check(c.answer.found(), a, 60);
            EXPECT_EQ(c.answer.found().only_here, c.ask.found().only_there);
            EXPECT_EQ(c.ask.found().telling.round_trips, 1u);
        }
    }
}

TEST(reconcile_session_texts, texts_must_have_their_digests) {
    const side a(0, 100, digest_width::half), b(5, 105, digest_width::half);
    key_owner liar = b.owner();
    liar.text_of = [](const digest&) { return std::string("key 3"); };
    const settings s{.fetch = true};
    conversation c{*session::ask(a.set, s, a.owner()), session::answer(b.set, s, liar)};
    c.run();
    ASSERT_TRUE(c.ask_error);
    EXPECT_NE(c.ask_error->message.find("does not have its digest"), std::string::npos);
    ASSERT_TRUE(c.answer_error);
    EXPECT_NE(c.answer_error->message.find("the peer gave up: the text of a key"), std::string::npos);
}

TEST(reconcile_session_texts, a_side_without_texts_says_so) {
    const side a(0, 100, digest_width::half), b(5, 105, digest_width::half);
    const settings s{.fetch = true};
    EXPECT_FALSE(session::ask(a.set, s));
    conversation c{*session::ask(a.set, s, a.owner()), session::answer(b.set, s)};
    c.run();
    EXPECT_NE(c.answer_error->message.find("only digests"), std::string::npos);
    EXPECT_NE(c.ask_error->message.find("the peer gave up: there are no texts"), std::string::npos);
}

}  // namespace
}  // namespace posy::reconcile
