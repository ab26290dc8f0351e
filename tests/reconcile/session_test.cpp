#include "posy/reconcile/session.hpp"

#include <cmath>
#include <cstdlib>
#include <map>

#include "message/frame.hpp"
#include "reconcile/coded_symbols.hpp"
#include "reconcile/key_texts.hpp"
#include "reconcile/set_part.hpp"
#include "sets.hpp"

namespace posy::reconcile {
namespace {

using bytes = std::vector<std::byte>;

// Messages in turns until nobody has anything to say. `change` may spoil a message on its way; the first
// error of either side ends it, after what that side still has to say was delivered.
struct conversation {
    session ask, answer;
    std::optional<error> ask_error{}, answer_error{};

    template <class Change>
    void run(Change change) {
        bool any = true;
        while (any) {
            any = false;
            for (const bool asking : {true, false}) {
                session& from = asking ? ask : answer;
                session& to = asking ? answer : ask;
                auto& wrong = asking ? answer_error : ask_error;
                while (auto message = from.send()) {
                    any = true;
                    change(*message);
                    if (wrong || to.done()) continue;
                    if (auto taken = to.receive(*message); !taken) wrong = taken.error();
                }
            }
        }
    }
    void run() {
        run([](bytes&) {});
    }
    bool good() const { return !ask_error && !answer_error && ask.done() && answer.done(); }
    std::string errors() const {
        return (ask_error ? "ask: " + ask_error->text() : "") +
               (answer_error ? " answer: " + answer_error->text() : "");
    }
};

conversation talk(const set_pair& sets, const settings& how, const key_owner& a = {},
                  const key_owner& b = {}) {
    return {*session::ask(sets.a, how, a), session::answer(sets.b, how, b)};
}

void expect_exact(const set_pair& sets, const std::string& what) {
    auto c = talk(sets, {});
    c.run();
    ASSERT_TRUE(c.good()) << what << ": " << c.errors();
    EXPECT_EQ(c.ask.found().only_here, sets.only_a) << what;
    EXPECT_EQ(c.ask.found().only_there, sets.only_b) << what;
    EXPECT_EQ(c.ask.found().items_there, sets.b.size()) << what;
    EXPECT_EQ(c.answer.found().only_there, sets.only_a) << what;
    EXPECT_EQ(c.answer.found().items_there, sets.a.size()) << what;
}

struct shape {
    std::size_t common, a, b;
};
constexpr shape shapes[] = {{0, 0, 0},        {0, 1, 0},        {0, 0, 1},        {1, 0, 0},
                            {1, 1, 1},        {0, 300, 0},      {0, 0, 300},      {0, 200, 200},
                            {2000, 0, 0},     {2000, 1, 0},     {2000, 0, 1},     {2000, 30, 50},
                            {2000, 0, 700},   {2000, 700, 0},   {10, 3000, 3000}, {1000, 150, 150},
                            {1000, 280, 280}, {1000, 330, 330}, {700, 50, 400}};

TEST(reconcile_session, the_exact_way_is_exact) {
    std::uint64_t seed = 0;
    for (const digest_width width : {digest_width::half, digest_width::full}) {
        for (const auto& [common, a, b] : shapes) {
            for (int round = 0; round < 10; ++round)
                expect_exact(make_sets(common, a, b, width, ++seed),
                             std::to_string(common) + "+" + std::to_string(a) + "+" + std::to_string(b));
        }
    }
}

TEST(reconcile_session, the_approximate_ways_find_nothing_that_is_not_so) {
    std::uint64_t seed = 0;
    for (const method how : {method::filter, method::tree}) {
        for (const digest_width width : {digest_width::half, digest_width::full}) {
            for (const auto& [common, a, b] : shapes) {
                const auto sets = make_sets(common, a, b, width, ++seed);
                auto c = talk(sets, {.method = how});
                c.run();
                ASSERT_TRUE(c.good()) << c.errors();
                const auto& found = c.ask.found();
                EXPECT_TRUE(std::ranges::includes(sets.only_a, found.only_here, ascending{}));
                EXPECT_TRUE(std::ranges::includes(sets.only_b, found.only_there, ascending{}));
                EXPECT_EQ(found.items_there, sets.b.size());
                EXPECT_EQ(c.answer.found().only_here, found.only_there);
                EXPECT_EQ(c.answer.found().only_there, found.only_here);
                EXPECT_EQ(found.finding.round_trips, 1u);
                // Very nearly: each side predicts the peer's search from what it knows of the peer.
                EXPECT_NEAR(c.answer.found().here_expected, found.there_expected, 1e-9);
            }
        }
    }
}

// Shares found by filter and by tree, both ways, in 40 pairs of sets: within 5.5 standard errors, from the
// spread between the pairs (Student's t: a false alarm in 10^5 or so).
TEST(reconcile_session, the_approximate_ways_find_the_share_they_predict) {
    for (const method how : {method::filter, method::tree}) {
        for (const double bits : {5.0, 10.0}) {
            double sum = 0, squares = 0, expected = 0;
            constexpr int pairs = 40;
            constexpr double each = 300;
            for (std::uint64_t seed = 0; seed < pairs; ++seed) {
                const auto sets = make_sets(6000, 300, 300, digest_width::half, seed);
                auto c = talk(sets, {.method = how, .bits_per_item = bits});
                c.run();
                const auto& found = c.ask.found();
                const double share =
                    static_cast<double>(found.only_here.size() + found.only_there.size()) / (2 * each);
                expected = (found.here_expected + found.there_expected) / 2;
                sum += share;
                squares += share * share;
            }
            const double mean = sum / pairs;
            const double error = std::sqrt((squares / pairs - mean * mean) / (pairs - 1));
            EXPECT_NEAR(mean, expected, 5.5 * error) << name_of(how) << " " << bits;
            EXPECT_LT(error, 0.02);
        }
    }
}

// ---- What it costs ----------------------------------------------------------------------------------------

// Bytes, as symbols an element, and round trips until the difference is known; how many pairs stay within 1.6
// and 3.
struct costs {
    int pairs = 0, within = 0;
    double mean_bytes = 0, most_bytes = 0;
    std::map<std::uint64_t, int> round_trips;
};
costs measure(std::size_t common, std::size_t each, digest_width width, int pairs) {
    costs all;
    const double budget = 1.6 * 2 * static_cast<double>(each) * static_cast<double>(symbol_bytes(width));
    for (int seed = 0; seed < pairs; ++seed) {
        const auto sets = make_sets(common, each, each, width, static_cast<std::uint64_t>(seed) + 1);
        auto c = talk(sets, {});
        c.run();
        EXPECT_TRUE(c.good()) << c.errors();
        EXPECT_EQ(c.ask.found().only_here, sets.only_a);
        EXPECT_EQ(c.ask.found().only_there, sets.only_b);
        const traffic& t = c.ask.found().finding;
        EXPECT_EQ(t.sent, c.answer.found().finding.received);
        EXPECT_EQ(t.received, c.answer.found().finding.sent);
        const double spent = static_cast<double>(t.sent + t.received) / budget * 1.6;
        ++all.pairs;
        ++all.round_trips[t.round_trips];
        all.within += spent <= 1.6 && t.round_trips <= 3;
        all.mean_bytes += spent / pairs;
        all.most_bytes = std::max(all.most_bytes, spent);
    }
    return all;
}

// 1,000 differences: 1.47 symbols an element on average, headers, sketch and questions included. Beyond 1.6,
// or beyond 3 round trips, 4 % of the pairs: of 60 more than 11 once in 10^5.
TEST(reconcile_session, a_thousand_differences_take_the_bytes_of_theory) {
    for (const digest_width width : {digest_width::half, digest_width::full}) {
        const costs c = measure(10'000, 500, width, 60);
        EXPECT_LT(c.mean_bytes, 1.53);
        EXPECT_GT(c.mean_bytes, 1.40);
        EXPECT_LE(c.pairs - c.within, 11);
        EXPECT_LT(c.most_bytes, 2.0);
    }
}

// The size follows the difference and not the sets.
TEST(reconcile_session, costs_do_not_grow_with_the_sets) {
    const costs small = measure(10'000, 50, digest_width::half, 20);
    const costs large = measure(100'000, 50, digest_width::half, 3);
    EXPECT_LT(large.mean_bytes, 1.5 * small.mean_bytes);
}

// Sets that have little or nothing in common cost no more than one of them.
TEST(reconcile_session, never_sends_more_than_the_set) {
    const auto sets = make_sets(0, 5000, 5000);
    auto c = talk(sets, {});
    c.run();
    ASSERT_TRUE(c.good());
    EXPECT_LT(c.ask.found().finding.received, 8 * 5000u + 40);  // and a frame
    EXPECT_EQ(c.ask.found().finding.round_trips, 1u);
}

// ---- Texts ------------------------------------------------------------------------------------------------

struct side {
    std::map<digest, std::string, ascending> texts;
    digest_set set;
    side(int from, int to, digest_width width, const hasher& hash = hasher()) : set(hash, width) {
        std::vector<digest> digests;
        for (int key = from; key < to; ++key) {
            const std::string text = "key " + std::to_string(key);
            const digest d = digest_set(hash, width, {hash(text)}).elements()[0];
            texts[d] = text;
            digests.push_back(d);
        }
        set = digest_set(hash, width, digests);
    }
    key_owner owner() const {
        return {[this](const digest& d) { return texts.at(d); },
                [hash = set.hash()](std::string_view text) { return hash(text); }};
    }
};

TEST(reconcile_session, both_sides_fetch_the_texts_they_lack) {
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

TEST(reconcile_session, texts_must_have_their_digests) {
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

TEST(reconcile_session, a_side_without_texts_says_so) {
    const side a(0, 100, digest_width::half), b(5, 105, digest_width::half);
    const settings s{.fetch = true};
    EXPECT_FALSE(session::ask(a.set, s));
    conversation c{*session::ask(a.set, s, a.owner()), session::answer(b.set, s)};
    c.run();
    EXPECT_NE(c.answer_error->message.find("only digests"), std::string::npos);
    EXPECT_NE(c.ask_error->message.find("the peer gave up: there are no texts"), std::string::npos);
}

// ---- Peers that do not match, or do not mean well ---------------------------------------------------------

TEST(reconcile_session, other_hashes_and_widths_are_refused_on_both_sides) {
    for (const method how : {method::exact, method::filter, method::tree}) {
        const auto mine = make_sets(100, 5, 5);
        const auto seeded = make_sets(100, 5, 5, digest_width::half, 1, hasher(hash_family::xxh3, {9, 0}));
        const auto wide = make_sets(100, 5, 5, digest_width::full);
        const settings s{.method = how};
        conversation other_seed{*session::ask(mine.a, s), session::answer(seeded.b, s)};
        other_seed.run();
        EXPECT_NE(other_seed.answer_error->message.find("same hash and seed"), std::string::npos);
        EXPECT_NE(other_seed.ask_error->message.find("same hash and seed"), std::string::npos);
        conversation other_width{*session::ask(mine.a, s), session::answer(wide.b, s)};
        other_width.run();
        ASSERT_TRUE(other_width.ask_error && other_width.answer_error) << name_of(how);
        EXPECT_NE(other_width.ask_error->message.find("same width"), std::string::npos);
    }
}

TEST(reconcile_session, messages_out_of_turn_are_refused) {
    const auto sets = make_sets(100, 5, 5);
    auto two_askers = conversation{*session::ask(sets.a, {}), *session::ask(sets.b, {})};
    two_askers.run();
    EXPECT_NE(two_askers.answer_error->message.find("'sketch' where 'symbols' was due"), std::string::npos);
    for (int what = 1; what <= 10; ++what) {
        auto fresh = session::answer(sets.b, {});
        EXPECT_FALSE(fresh.receive(to_bytes(envelope(static_cast<kind>(what), hasher(), unhex("00")))))
            << what;
        EXPECT_TRUE(fresh.done());
        EXPECT_FALSE(fresh.receive(to_bytes(envelope(kind::sketch, hasher(), {}))));  // it is over
    }
}

TEST(reconcile_session, a_refusal_cannot_write_to_the_terminal) {
    const auto sets = make_sets(10, 1, 1);
    auto asking = *session::ask(sets.a, {});
    const auto received = asking.receive(to_bytes(
        envelope(kind::refusal, hasher(), as_byte_view("no\x1b[2J\n\x7f" + std::string(9999, 'x')))));
    ASSERT_FALSE(received);
    EXPECT_EQ(received.error().message.substr(0, 27), "the peer gave up: no?[2J??x");
    EXPECT_LT(received.error().message.size(), 600u);
}

// Between symbols and list: a part of the list comes first, and the rest of it or symbols then. All three
// ways to go on are taken here, and each element is sent once.
TEST(reconcile_session, a_part_of_the_list_settles_what_it_covers) {
    bool whole = false, part = false, none = false;
    for (std::uint64_t seed = 1; seed <= 30; ++seed) {
        const std::size_t each = 60 + 20 * seed;
        const auto sets = make_sets(2000 - each, each, each, digest_width::half, seed);
        auto c = talk(sets, {});
        c.run();
        ASSERT_TRUE(c.good()) << c.errors();
        const outcome& found = c.ask.found();
        EXPECT_EQ(found.only_here, sets.only_a);
        EXPECT_EQ(found.only_there, sets.only_b);
        EXPECT_EQ(found.listed, c.answer.found().listed);
        EXPECT_EQ(found.symbols, c.answer.found().symbols);
        EXPECT_LE(found.listed, 2000u);
        (found.listed == 0 ? none : found.listed == 2000 ? whole : part) = true;
    }
    EXPECT_TRUE(whole && part && none);
}

// A list that is not what was asked for, or goes back behind what was listed.
TEST(reconcile_session, wrong_parts_are_refused) {
    const auto sets = make_sets(100, 20, 20);
    const auto part_of = [&](std::uint64_t first, std::uint64_t end) {
        return to_bytes(envelope(kind::list, hasher(), payload_of(set_part::of(sets.b, first, end))));
    };
    const auto expect_error = [&](session& asking, const bytes& message) {
        const auto taken = asking.receive(message);
        ASSERT_FALSE(taken);
        EXPECT_NE(taken.error().message.find("another part of the list"), std::string::npos);
    };
    for (const auto& [first, end] : {std::pair<std::uint64_t, std::uint64_t>{1, 9}, {0, 0}}) {
        auto asking = *session::ask(sets.a, {});
        expect_error(asking, part_of(first, end));
    }
    for (const auto& [first, end] : {std::pair<std::uint64_t, std::uint64_t>{10, 40}, {0, 120}, {41, 120}}) {
        auto asking = *session::ask(sets.a, {});
        ASSERT_TRUE(asking.receive(part_of(0, 40)));
        expect_error(asking, part_of(first, end));
    }
    auto asking = *session::ask(sets.a, {});
    ASSERT_TRUE(asking.receive(part_of(0, 40)));
    set_part again = set_part::of(sets.b, 40, 120);
    again.elements[0] = sets.b.elements()[0];
    std::ranges::sort(again.elements, ascending{});
    expect_error(asking, to_bytes(envelope(kind::list, hasher(), payload_of(again))));
}

// Whoever asks for endless symbols gets the list.
TEST(reconcile_session, nobody_is_sent_more_symbols_than_the_list) {
    const auto sets = make_sets(1000, 3, 3);
    auto asking = *session::ask(sets.a, {});
    auto answering = session::answer(sets.b, {});
    ASSERT_TRUE(answering.receive(*asking.send()));
    (void)answering.send();
    ASSERT_TRUE(answering.receive(to_bytes(envelope(kind::more, hasher(), unhex("ffffffffffffffffff01")))));
    const auto answer = *from_bytes(*answering.send());
    EXPECT_EQ(std::get<envelope>(answer.body).kind(), kind::list);
}

// Symbols that never decode end at a bound that the sizes of the sets give: the list is asked for instead.
// Where memory is short and counts say that the difference is small, at the limit of memory.
TEST(reconcile_session, endless_nonsense_comes_to_an_end) {
    const auto sets = make_sets(1000, 0, 0);
    std::mt19937_64 random(5);
    const struct {
        std::uint64_t claimed, limit, most_symbols;
        const char* end;
    } rows[] = {
        {1000, 1 << 20, 1000 * 8 * 3 / 2 / 13, "other symbols than were asked for"},
        {std::uint64_t{1} << 61, 1 << 20, (1 << 20) / sizeof(coded_symbol), "other symbols than were"},
        {1000, 1 << 11, (1 << 11) / sizeof(coded_symbol), "no difference explains"}};
    for (const auto& [claimed, limit, most_symbols, end] : rows) {
        auto asking = *session::ask(sets.a, settings{.limits = {limit}});
        symbol_encoder honest(sets.a);
        std::uint64_t position = 0, until = 10;
        std::optional<error> wrong;
        asking.send();
        for (int turns = 0; !wrong; ++turns) {
            ASSERT_LT(turns, 100);
            symbol_run run = honest.next(until - position);
            run.items = claimed;
            position = until;
            for (coded_symbol& symbol : run.symbols) {
                symbol.sum.low = random();
                symbol.check = static_cast<std::uint32_t>(random());
                if (limit >= 1 << 20) symbol.count = static_cast<std::uint8_t>(random());
            }
            if (auto taken = asking.receive(to_bytes(envelope(kind::symbols, hasher(), payload_of(run))));
                !taken) {
                wrong = taken.error();
                break;
            }
            const auto question = *from_bytes(*asking.send());
            const auto& opened = std::get<envelope>(question.body);
            ASSERT_EQ(opened.kind(), kind::more);
            byte_view payload = opened.payload();
            until = 0;
            for (unsigned shift = 0; !payload.empty(); shift += 7, payload = payload.subspan(1))
                until |= (std::to_integer<std::uint64_t>(payload[0]) & 0x7f) << shift;
            ASSERT_LE(until, most_symbols);
            if (until == 0) until = position + 1;  // not what was asked for
        }
        EXPECT_NE(wrong->message.find(end), std::string::npos) << wrong->message;
    }
}

// Makes the checksum fit, so that the code behind it sees the damage.
void sum_again(bytes& message) {
    frame::checksum sum;
    const std::size_t end = message.size() - frame::checksum_size;
    sum.add(byte_view(message).first(end));
    store_little(&message[end], sum.value());
}

// Whatever bytes arrive: an error, or the right answer. Where the texts are fetched, nothing wrong goes
// unnoticed by who asks, since digests and texts have to fit.
TEST(reconcile_session, damaged_messages_never_give_a_wrong_difference) {
    const side a(0, 400, digest_width::half);
    const side few(6, 408, digest_width::half), many(80, 480, digest_width::half);  // by symbols, and by list
    std::mt19937_64 random(11);
    int refused = 0, survived = 0;
    for (const method how : {method::exact, method::filter, method::tree}) {
        for (int round = 0; round < 300; ++round) {
            const side& b = round % 2 ? few : many;
            const auto only_a = without(a.set.elements(), b.set.elements());
            const auto only_b = without(b.set.elements(), a.set.elements());
            const settings s{.method = how, .fetch = true, .limits = {1 << 22}};
            conversation c{*session::ask(a.set, s, a.owner()), session::answer(b.set, s, b.owner())};
            int countdown = static_cast<int>(random() % 8);
            c.run([&](bytes& message) {
                if (countdown-- != 0 || message.empty()) return;
                if (random() % 4 == 0) {
                    message.resize(random() % message.size());
                } else {
                    message[random() % message.size()] ^= static_cast<std::byte>(1 << random() % 8);
                }
                if (message.size() > frame::checksum_size) sum_again(message);
            });
            if (!c.good()) {
                ++refused;
                continue;
            }
            ++survived;
            EXPECT_TRUE(std::ranges::includes(only_b, c.ask.found().only_there, ascending{}));
            if (how == method::exact) {
                EXPECT_EQ(c.ask.found().only_here, only_a);
                EXPECT_EQ(c.ask.found().only_there, only_b);
            }
        }
    }
    EXPECT_GT(refused, 200);
    EXPECT_GT(survived, 30);
}

// ---- The long form ----------------------------------------------------------------------------------------

// Two sets of a million, 1,000 differences; a few minutes: POSY_LONG_TESTS=1 ctest -R reconcile/session
TEST(reconcile_session, long_form) {
    if (!std::getenv("POSY_LONG_TESTS")) GTEST_SKIP() << "set POSY_LONG_TESTS=1 to run it";
    for (const digest_width width : {digest_width::half, digest_width::full}) {
        const costs c = measure(999'500, 500, width, 25);
        std::string trips;
        for (const auto& [number, pairs] : c.round_trips)
            trips += " " + std::to_string(number) + ":" + std::to_string(pairs);
        std::printf("symbols an element %.3f on average, %.3f at most; round trips%s\n", c.mean_bytes,
                    c.most_bytes, trips.c_str());
        EXPECT_LT(c.mean_bytes, 1.53);
        EXPECT_LE(c.pairs - c.within, 7);  // 4 % expected: more than 7 of 25 once in 10^5
    }
    for (const method how : {method::filter, method::tree}) {
        const auto sets = make_sets(999'500, 500, 500);
        auto c = talk(sets, {.method = how});
        c.run();
        ASSERT_TRUE(c.good());
        const auto& found = c.ask.found();
        std::printf("%s: %zu and %zu of 500, expected share %.4f, nodes %llu, elements %llu\n",
                    std::string(name_of(how)).c_str(), found.only_here.size(), found.only_there.size(),
                    found.here_expected, static_cast<unsigned long long>(found.nodes_visited),
                    static_cast<unsigned long long>(found.elements_visited));
        if (how == method::tree) {
            EXPECT_LT(found.nodes_visited + found.elements_visited, 50'000u);
        }
    }
}

}  // namespace
}  // namespace posy::reconcile
