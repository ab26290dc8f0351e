#include "posy/envelope.hpp"

#include "posy/message.hpp"
#include "reconcile/coded_symbols.hpp"
#include "reconcile/difference_sketch.hpp"
#include "reconcile/key_texts.hpp"
#include "reconcile/set_part.hpp"
#include "reconcile/sets.hpp"
#include "reconcile/tree.hpp"

namespace posy::reconcile {
namespace {

digest_set integers(int from, int to, digest_width width = digest_width::half) {
    std::vector<digest> digests;
    for (int key = from; key < to; ++key) digests.push_back(hasher()(key));
    return {hasher(), width, std::move(digests)};
}

// One message of every kind, of the integers 0 to 99 or some of them.
std::vector<envelope> one_of_each() {
    const digest_set all = integers(0, 100);
    std::vector<envelope> each;
    const auto add = [&](kind what, byte_view payload) { each.emplace_back(what, hasher(), payload); };
    add(kind::sketch, payload_of(difference_sketch::of(all)));
    add(kind::symbols, payload_of(symbol_encoder(all).next(5)));
    add(kind::more, unhex("ac02"));
    add(kind::list, payload_of(set_part::of(integers(0, 3), 1, 3)));
    add(kind::filter, to_bytes(filter_of({1000, 7, layout_id::spread}, 0, 100), {.want = coding::smallest}));
    add(kind::tree, payload_of(*reconciliation_tree::make(
                        all, {.node_bits = 200, .leaf_bits = 800, .node_hashes = 2, .leaf_hashes = 5})));
    add(kind::offer, payload_of(integers(0, 2, digest_width::full)));
    add(kind::want, payload_of(integers(0, 0)));
    add(kind::texts, payload_of(key_texts{{"0", "1", ""}}));
    add(kind::refusal, as_byte_view("the peer hashes in another way"));
    return each;
}

// Written once, and to be read and written forever, like the other messages there (message_test).
TEST(reconcile_envelope, golden_bytes) {
    const auto golden = std::filesystem::path(POSY_TESTDATA) / "messages" / "reconciliation.posy";
    const auto each = one_of_each();
    ASSERT_EQ(each.size(), static_cast<std::size_t>(kind::refusal));
    std::vector<std::byte> stream;
    for (const envelope& e : each) std::ranges::copy(to_bytes(e), std::back_inserter(stream));
    if (std::getenv("POSY_WRITE_GOLDEN")) write_file(golden, stream);
    ASSERT_EQ(file_bytes(golden), stream);
    byte_view rest = stream;
    for (const envelope& e : each) {
        const auto read = from_bytes(rest);
        ASSERT_TRUE(read) << name_of(e.kind()) << ": " << read.error().text();
        const auto& back = std::get<envelope>(read->body);
        EXPECT_EQ(back.kind(), e.kind());
        EXPECT_EQ(back.hash(), e.hash());
        EXPECT_EQ(hex(back.payload()), hex(e.payload()));
        rest = rest.subspan(read->size);
    }
    EXPECT_TRUE(rest.empty());
}

TEST(reconcile_envelope, hash_and_seed_travel) {
    const hasher keyed(hash_family::siphash, {300, ~std::uint64_t{0}});
    const auto read = from_bytes(to_bytes(envelope(kind::more, keyed, unhex("2a"))));
    ASSERT_TRUE(read);
    EXPECT_EQ(std::get<envelope>(read->body).hash(), keyed);
}

TEST(reconcile_envelope, kinds_have_names_and_others_are_refused) {
    EXPECT_EQ(name_of(kind::sketch), "sketch");
    EXPECT_EQ(name_of(kind::refusal), "refusal");
    for (const int unknown : {0, 11, 255}) {
        EXPECT_FALSE(is_member(static_cast<kind>(unknown)));
        const auto bytes = to_bytes(envelope(static_cast<kind>(unknown), hasher(), unhex("0102")));
        const auto read = from_bytes(bytes);
        ASSERT_FALSE(read) << unknown;
        EXPECT_EQ(read.error().offset, bytes.size() - 4 - 3);  // checksum, kind and payload from the end
        EXPECT_NE(read.error().message.find("unknown kind of reconciliation message"), std::string::npos);
    }
}

TEST(reconcile_envelope, sizes_are_checked_before_memory_is_taken) {
    EXPECT_FALSE(envelope::parse(hasher(), {}, read_limits::exactly(100)));
    const auto bytes = to_bytes(envelope(kind::texts, hasher(), std::vector<std::byte>(99)));
    EXPECT_TRUE(from_bytes(bytes, {.max_bytes = 100}));
    const auto above = from_bytes(bytes, {.max_bytes = 99});
    ASSERT_FALSE(above);
    EXPECT_NE(above.error().message.find("100 bytes of memory, above the limit of 99"), std::string::npos);
}

}  // namespace
}  // namespace posy::reconcile
