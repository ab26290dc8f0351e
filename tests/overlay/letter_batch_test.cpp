#include "posy/overlay/letter_batch.hpp"

#include <gtest/gtest.h>

#include "posy/overlay/attenuated_node.hpp"
#include "posy/overlay/tree_node.hpp"

namespace posy::overlay {
namespace {

const std::vector<std::string> addresses{"http://10.0.0.1:3130", "http://10.0.0.2:3130"};

std::vector<std::byte> sample() {
    const std::vector<byte_view> letters{as_byte_view(std::string_view("first")),
                                         as_byte_view(std::string_view("second"))};
    return write_batch(addresses, letters);
}

std::string text(byte_view bytes) { return {reinterpret_cast<const char*>(bytes.data()), bytes.size()}; }

TEST(LetterBatch, ComesBack) {
    const auto bytes = sample();
    const auto batch = read_batch(bytes);
    ASSERT_TRUE(batch) << batch.error().text();
    EXPECT_EQ(batch->addresses, addresses);
    ASSERT_EQ(batch->letters.size(), 2U);
    EXPECT_EQ(text(batch->letters[0]), "first");
    EXPECT_EQ(text(batch->letters[1]), "second");
    EXPECT_TRUE(read_batch(write_batch({}, {}))->letters.empty());
}

// A cut lies between two letters, or the batch is refused.
TEST(LetterBatch, EveryCutIsRefused) {
    const auto bytes = sample();
    const std::size_t head = 2 + addresses[0].size() + 1 + addresses[1].size() + 1;
    for (std::size_t size = 0; size < bytes.size(); ++size) {
        const auto batch = read_batch(byte_view(bytes).first(size));
        const bool whole = size == head || size == head + 4 + 5;
        EXPECT_EQ(static_cast<bool>(batch), whole) << size;
    }
}

TEST(LetterBatch, LimitsHold) {
    const auto bytes = sample();
    EXPECT_FALSE(read_batch(bytes, {.bytes = bytes.size() - 1}));
    EXPECT_FALSE(read_batch(bytes, {.letters = 1}));
    EXPECT_FALSE(read_batch(bytes, {.addresses = 1}));
    EXPECT_TRUE(read_batch(bytes, {.bytes = bytes.size(), .letters = 2, .addresses = 2}));
    const std::vector<byte_view> empty(1);
    EXPECT_FALSE(read_batch(write_batch({}, empty)));
}

tree_settings tree_terms() {
    tree_settings how;
    how.terms.geometry = {1024, 3, layout_id::spread};
    return how;
}

// A child asks through its parent: what it sends names the child, and the parent's letter of the family names
// the ancestors and the heirs.
TEST(LetterBatch, TreeNamesOriginAndFamily) {
    tree_node root(1, tree_terms(), 1, 11), child(2, tree_terms(), 1, 12);
    outbox out;
    child.join(1, 0, out);
    ASSERT_EQ(out.size(), 1U);
    EXPECT_TRUE(named_in_tree(out[0].message).empty());
    outbox answers;
    root.receive(2, out[0].message, 0, answers);
    ASSERT_EQ(answers.size(), 1U);
    EXPECT_EQ(named_in_tree(answers[0].message), std::vector<node_id>{2});
    outbox more;
    child.receive(1, answers[0].message, 0, more);
    more.clear();
    ASSERT_TRUE(child.look_up(hasher()("x"), 0, more));
    ASSERT_EQ(more.size(), 1U);
    EXPECT_EQ(named_in_tree(more[0].message), std::vector<node_id>{2});
    const byte_view whole = more[0].message;
    EXPECT_TRUE(named_in_tree(whole.first(whole.size() - 1)).empty());
    outbox farewell;
    root.leave(farewell);
    ASSERT_EQ(farewell.size(), 1U);
    EXPECT_EQ(named_in_tree(farewell[0].message), std::vector<node_id>{2});
}

TEST(LetterBatch, AttenuatedNamesOriginAndHolder) {
    attenuated_settings how;
    how.terms.geometry = {1024, 3, layout_id::spread};
    how.terms.levels = 3;
    attenuated_node a(1, how, 1, 11);
    outbox out;
    const std::vector<node_id> members{1, 2};
    a.set_members(members, 0, out);
    unsigned published = 0, asked = 0;
    for (unsigned key = 0; key < 40; ++key) {
        outbox said;
        a.insert(hasher()(key), 0, said);
        for (const letter& each : said) {
            ++published;
            EXPECT_EQ(named_in_attenuated(each.message), std::vector<node_id>{1});
        }
        said.clear();
        a.look_up(hasher()(1000 + key), 0, said);
        for (const letter& each : said) {
            ++asked;
            EXPECT_EQ(named_in_attenuated(each.message), std::vector<node_id>{1});
        }
    }
    EXPECT_GT(published, 0U);
    EXPECT_GT(asked, 0U);
}

}  // namespace
}  // namespace posy::overlay
