#include "reconcile/envelope.hpp"

#include <unistd.h>

#include <array>
#include <thread>

#include "base/file.hpp"
#include "sets.hpp"

namespace posy::reconcile {
namespace {

TEST(reconcile_envelope, golden_bytes) {
    const hasher hash(hash_family::siphash, {300, 7});
    const auto message = seal(kind::more, hash, unhex("2a"));
    EXPECT_EQ(hex(message),
              "06000000"
              "03"
              "02"
              "ac02"
              "07"
              "2a");
    const auto opened = open_envelope(message);
    ASSERT_TRUE(opened);
    EXPECT_EQ(opened->kind, kind::more);
    EXPECT_EQ(opened->hash, hash);
    EXPECT_EQ(hex(opened->payload), "2a");
}

TEST(reconcile_envelope, every_cut_and_every_wrong_field_is_refused) {
    const auto message = seal(kind::symbols, hasher(), unhex("0102030405"));
    for (std::size_t size = 0; size < message.size(); ++size)
        EXPECT_FALSE(open_envelope(byte_view(message).first(size))) << size;
    EXPECT_EQ(open_envelope(unhex("0400000000010000")).error().offset, 4u);  // kind 0
    EXPECT_EQ(open_envelope(unhex("040000000b010000")).error().offset, 4u);  // kind 11
    EXPECT_EQ(open_envelope(unhex("0400000001090000")).error().offset, 5u);  // hash family 9
    EXPECT_EQ(open_envelope(unhex("040000000101ff00")).error().offset, 6u);  // seed
    EXPECT_FALSE(open_envelope(unhex("ffffffff01010000")));
}

struct pipe_pair {
    base::descriptor from, to;
    pipe_pair() {
        std::array<int, 2> ends;
        if (pipe(ends.data()) == 0) from = base::descriptor(ends[0]), to = base::descriptor(ends[1]);
    }
};

TEST(reconcile_envelope, messages_are_read_one_by_one_from_a_descriptor) {
    const auto small = seal(kind::want, hasher(), unhex("08"));
    const auto large = seal(kind::texts, hasher(), std::vector<std::byte>(5'000'000, std::byte{7}));
    pipe_pair pipe;
    std::jthread writer([&, to = std::move(pipe.to)] {
        for (const auto& message : {small, large, small}) EXPECT_TRUE(base::write_fully(to.get(), message));
    });
    const read_limits limits{.max_bytes = 6'000'000};
    EXPECT_EQ(**read_message(pipe.from.get(), limits), small);
    EXPECT_EQ(**read_message(pipe.from.get(), limits), large);
    EXPECT_EQ(**read_message(pipe.from.get(), limits), small);
    writer.join();
}

TEST(reconcile_envelope, the_end_is_no_message_and_a_cut_message_is_an_error) {
    const auto message = seal(kind::want, hasher(), unhex("0801"));
    for (std::size_t size = 0; size < message.size(); ++size) {
        pipe_pair pipe;
        ASSERT_TRUE(base::write_fully(pipe.to.get(), byte_view(message).first(size)));
        pipe.to = base::descriptor();
        const auto read = read_message(pipe.from.get(), {});
        if (size == 0) {
            ASSERT_TRUE(read);
            EXPECT_FALSE(read->has_value());
        } else {
            ASSERT_FALSE(read) << size;
            EXPECT_NE(read.error().message.find("cut off"), std::string::npos);
        }
    }
}

TEST(reconcile_envelope, lengths_are_checked_before_memory_is_taken) {
    pipe_pair pipe;
    ASSERT_TRUE(base::write_fully(pipe.to.get(), as_byte_view("Welcome to this machine")));
    const auto text = read_message(pipe.from.get(), {});
    ASSERT_FALSE(text);
    EXPECT_NE(text.error().message.find("is there a 'posy reconcile' at the other end"), std::string::npos);
    pipe_pair other;
    ASSERT_TRUE(base::write_fully(other.to.get(), unhex("ffffff7f02010000")));
    const auto huge = read_message(other.from.get(), read_limits{.max_bytes = 1 << 30});
    ASSERT_FALSE(huge);
    EXPECT_NE(huge.error().message.find("2147483647 bytes, above the limit"), std::string::npos);
}

}  // namespace
}  // namespace posy::reconcile
