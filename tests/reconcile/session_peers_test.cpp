// Peers that do not match, or do not mean well.
#include "conversation.hpp"
#include "message/frame.hpp"
#include "reconcile/coded_symbols.hpp"
#include "reconcile/key_texts.hpp"
#include "reconcile/set_part.hpp"

namespace posy::reconcile {
namespace {

TEST(reconcile_session_peers, other_hashes_and_widths_are_refused_on_both_sides) {
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

TEST(reconcile_session_peers, messages_out_of_turn_are_refused) {
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

TEST(reconcile_session_peers, a_refusal_cannot_write_to_the_terminal) {
    const auto sets = make_sets(10, 1, 1);
    auto asking = *session::ask(sets.a, {});
    const auto received = asking.receive(to_bytes(
        envelope(kind::refusal, hasher(), as_byte_view("no\x1b[2J\n\x7f" + std::string(9999, 'x')))));
    ASSERT_FALSE(received);
    EXPECT_EQ(received.error().message.substr(0, 27), "the peer gave up: no?[2J??x");
    EXPECT_LT(received.error().message.size(), 600u);
}

// A list that is not what was asked for, or repeats what was listed.
TEST(reconcile_session_peers, wrong_parts_are_refused) {
    const auto sets = make_sets(100, 20, 20);
    const auto part_of = [&](std::uint64_t first, std::uint64_t end) {
        return to_bytes(envelope(kind::list, hasher(), payload_of(set_part::of(sets.b, first, end))));
    };
    const auto expect_error = [&](session& asking, const message_bytes& message) {
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

// A peer that asks for endless symbols gets the list.
TEST(reconcile_session_peers, a_peer_is_sent_no_more_symbols_than_the_list) {
    const auto sets = make_sets(1000, 3, 3);
    auto asking = *session::ask(sets.a, {});
    auto answering = session::answer(sets.b, {});
    ASSERT_TRUE(answering.receive(*asking.send()));
    (void)answering.send();
    ASSERT_TRUE(answering.receive(to_bytes(envelope(kind::more, hasher(), unhex("ffffffffffffffffff01")))));
    const auto answer = *from_bytes(*answering.send());
    EXPECT_EQ(std::get<envelope>(answer.body).kind(), kind::list);
}

// The sizes of the sets bound how many symbols are taken that never decode: then the list is asked for. Where
// memory is short and counts say that the difference is small, the limit of memory is the bound.
TEST(reconcile_session_peers, endless_nonsense_comes_to_an_end) {
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
void sum_again(message_bytes& message) {
    frame::checksum sum;
    const std::size_t end = message.size() - frame::checksum_size;
    sum.add(byte_view(message).first(end));
    store_little(&message[end], sum.value());
}

// Whatever bytes arrive: an error, or the right answer. Where texts are fetched, the side that asks notices
// everything that is wrong, since digests and texts have to fit.
TEST(reconcile_session_peers, damaged_messages_never_give_a_wrong_difference) {
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
            c.run([&](message_bytes& message) {
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

}  // namespace
}  // namespace posy::reconcile
