// Bytes from elsewhere cost little: bombs are refused by their headers, and what our own writer sends is
// taken.
#include <gtest/gtest.h>

#include <chrono>
#include <random>

#include "base/reader.hpp"
#include "bits/cell_words.hpp"
#include "codec/choose.hpp"
#include "codec/elias_fano.hpp"
#include "codec/nested.hpp"
#include "codec/rice_blocks.hpp"
#include "message/frame.hpp"
#include "posy/message.hpp"
#include "posy/reconcile/session.hpp"
#include "posy/subscriber.hpp"

namespace posy {
namespace {

using byte_string = std::vector<std::byte>;

byte_string framed(frame::header h, byte_view payload) {
    h.payload_size = payload.size();
    byte_string message = frame::encode(h);
    message.insert(message.end(), payload.begin(), payload.end());
    frame::checksum sum;
    sum.add(message);
    message.resize(message.size() + frame::checksum_size);
    store_little(&message[message.size() - frame::checksum_size], sum.value());
    return message;
}

byte_string bytes_of(std::initializer_list<unsigned> values) {
    byte_string bytes;
    for (const unsigned value : values) bytes.push_back(static_cast<std::byte>(value));
    return bytes;
}

frame::header header_of(std::uint64_t bits, codec_id codec) {
    frame::header h;
    h.geometry = {bits, 1, layout_id::spread};
    h.codec = codec;
    return h;
}

// Tens of seconds, where work has no bound; microseconds, where it has.
template <class Work>
void expect_quick(Work work) {
    const auto start = std::chrono::steady_clock::now();
    work();
    EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(5));
}

TEST(read_limits, believes_in_proportion_to_what_came) {
    constexpr read_limits usual;
    EXPECT_EQ(usual.most(0), 62u << 20);
    EXPECT_EQ(usual.most(1000), (62u << 20) + 32'000);
    EXPECT_EQ(usual.most(std::uint64_t{1} << 40), std::uint64_t{4} << 30);
    EXPECT_EQ(usual.most(~std::uint64_t{0}), std::uint64_t{4} << 30);
    EXPECT_EQ(usual.holding(1 << 30).most(0), 1u << 30);
    EXPECT_EQ(usual.holding(5).most(0), 62u << 20);
    // An array that is made is made of whole huge pages; and what is held is allowed, whatever the limits
    // are.
    EXPECT_EQ(usual.holding((95u << 20) + 1).most(0), 96u << 20);
    EXPECT_EQ(read_limits::exactly(7).holding(100).most(0), 100u);
    EXPECT_EQ(read_limits::exactly(7).most(1 << 20), 7u);
    EXPECT_EQ((read_limits{.max_bytes = 100}).most(1), 100u);
}

TEST(hostile_parsers, a_bomb_of_31_bytes_is_refused_at_once) {
    for (const codec_id codec : {codec_id::adaptive, codec_id::range, codec_id::bytes, codec_id::gaps}) {
        for (const unsigned log2 : {28u, 33u}) {
            const auto bomb =
                framed(header_of(std::uint64_t{1} << log2, codec), bytes_of({0x81, 1, 5, 7, 1}));
            expect_quick([&] {
                for (int i = 0; i < 20; ++i) EXPECT_FALSE(from_bytes(bomb)) << name_of(codec) << log2;
            });
        }
    }
    // Nothing is set: no work, and the memory decides.
    const auto empty = framed(header_of(std::uint64_t{1} << 33, codec_id::gaps), bytes_of({0}));
    EXPECT_NE(from_bytes(empty).error().message.find("raise it"), std::string::npos);
    EXPECT_TRUE(from_bytes(empty, read_limits::exactly(std::uint64_t{1} << 30)));
}

TEST(hostile_parsers, slow_codings_are_for_small_arrays) {
    // What is nearly empty takes few bytes of it, and as much time as any other.
    for (const codec_id codec : {codec_id::adaptive, codec_id::range}) {
        for (const std::uint64_t bits : {codec::slow_array, codec::slow_array + 64}) {
            auto array = *bit_array::make(bits);
            array.set(77);
            byte_string payload;
            codec::encode(codec, {array.words(), bits, 1}, payload);
            EXPECT_EQ(from_bytes(framed(header_of(bits, codec), payload)).ok(), bits == codec::slow_array);
        }
    }
}

// However an array is made, whatever codec is asked for: what comes out is taken by a reader who has the
// memory.
TEST(hostile_parsers, what_a_writer_sends_is_taken) {
    std::mt19937_64 random(1);
    for (const std::uint64_t bits : {64u, 1'000u, 5'000u, 300'000u, 1u << 21, (1u << 21) + 64, 10'000'000u}) {
        for (const double density : {0.0, 1e-6, 1e-4, 0.009, 0.011, 0.5, 0.99, 0.9999, 1.0}) {
            for (const bool in_a_row : {false, true}) {
                auto filter = *bloom_filter::make({bits, 1, layout_id::spread});
                const auto ones = static_cast<std::uint64_t>(density * static_cast<double>(bits));
                for (std::uint64_t i = 0; i < ones; ++i) filter.bits().set(in_a_row ? i : random() % bits);
                std::vector<packing> ways{{.want = coding::smallest}, {.want = coding::fastest}};
                if (bits < 1'000'000)
                    for (const codec_id id :
                         {codec_id::adaptive, codec_id::range, codec_id::bytes, codec_id::gaps})
                        ways.push_back({.codec = id});
                for (const packing& how : ways) {
                    const auto read = from_bytes(to_bytes(filter, how), read_limits::exactly(1 << 30));
                    ASSERT_TRUE(read) << bits << " " << density << " " << in_a_row << read.error().text();
                    ASSERT_EQ(std::get<bloom_filter>(read->body), filter);
                }
                byte_string part;
                codec::append_bits(filter.bits(), part);
                base::reader in(part);
                const auto nested = codec::take_bits(in, bits, 1 << 30);
                ASSERT_TRUE(nested) << bits << " " << density << " " << in_a_row << nested.error().text();
                ASSERT_EQ(*nested, filter.bits());
            }
        }
    }
}

TEST(hostile_parsers, a_codec_out_of_place_is_not_used) {
    auto filter = *bloom_filter::make({codec::slow_array * 2, 1, layout_id::spread});
    for (int key = 0; key < 100'000; ++key) filter.insert(filter.hash()(key));
    const auto message = to_bytes(filter, {.codec = codec_id::range});
    EXPECT_EQ(static_cast<codec_id>(message[6]), codec_id::bytes);
    EXPECT_EQ(std::get<bloom_filter>(from_bytes(message)->body), filter);
}

// Parts are many: none of them may take long for few bytes.
TEST(hostile_parsers, parts_of_a_message_are_taken_in_proportion) {
    const auto refused = [](codec_id id, std::uint64_t bits, const byte_string& coded) {
        byte_string part{static_cast<std::byte>(id)};
        base::put_varint(part, coded.size());
        part.insert(part.end(), coded.begin(), coded.end());
        base::reader in(part);
        return !codec::take_bits(in, bits, 1 << 30);
    };
    const auto coded = [](codec_id id, std::uint64_t bits, std::uint64_t ones) {
        auto array = *bit_array::make(bits);
        for (std::uint64_t i = 0; i < ones; ++i) array.set(i);
        byte_string bytes;
        codec::encode(id, {array.words(), bits, ones}, bytes);
        return bytes;
    };
    EXPECT_FALSE(refused(codec_id::range, 1'000, coded(codec_id::range, 1'000, 1)));
    EXPECT_TRUE(refused(codec_id::range, 50'000, coded(codec_id::range, 50'000, 1)));
    EXPECT_TRUE(refused(codec_id::adaptive, 1'000, coded(codec_id::adaptive, 1'000, 1)));
    EXPECT_TRUE(refused(codec_id::bytes, 1'000, coded(codec_id::bytes, 1'000, 500)));
    // Ones that follow each other are free at the end of the coder's state: 60,000 of them in four bytes.
    ASSERT_LT(coded(codec_id::gaps, 1 << 20, 60'000).size(), 8u);
    EXPECT_TRUE(refused(codec_id::gaps, 1 << 20, coded(codec_id::gaps, 1 << 20, 60'000)));
    EXPECT_FALSE(refused(codec_id::gaps, 1 << 20, coded(codec_id::gaps, 1 << 20, 60)));
}

TEST(hostile_parsers, a_queryable_form_unpacks_within_the_limits) {
    frame::header h = header_of(std::uint64_t{1} << 40, codec_id::raw);
    h.kind = frame::kind::queryable;
    h.form = queryable_form::list;
    byte_string list{std::byte{1}};
    list.resize(1 + 5 + 8);
    const auto bomb = framed(h, list);
    ASSERT_LE(bomb.size(), 48u);
    const auto read = from_bytes(bomb);
    ASSERT_TRUE(read) << read.error().text();
    const auto& filter = std::get<compressed_filter>(read->body);
    EXPECT_FALSE(filter.may_contain(filter.hash()(1)));
    const auto unpacked = filter.unpack();
    ASSERT_FALSE(unpacked);
    EXPECT_NE(unpacked.error().message.find("137438953472 bytes of memory, above the limit"),
              std::string::npos);
    // The same as a small one, which is allowed.
    h.geometry.bits = 1 << 20;
    list.resize(1 + 3 + 8);
    EXPECT_TRUE(std::get<compressed_filter>(from_bytes(framed(h, list))->body).unpack());
}

// A directory of one bit for 64 blocks took longer to walk through than its bytes to read.
TEST(hostile_parsers, a_directory_has_no_more_blocks_than_bytes) {
    constexpr std::uint64_t bits = std::uint64_t{1} << 22;
    byte_string rice = bytes_of({6, 1, 0, 0, 0, 0, 1, 0, 0});  // 65,536 blocks of 64 positions, none set
    rice.resize(rice.size() + (1024 + 1) / 8 + 1 + 8);
    const auto opened = codec::rice_blocks::open(rice, bits);
    ASSERT_FALSE(opened);
    EXPECT_NE(opened.error().message.find("more blocks than bytes"), std::string::npos);
    byte_string fast = bytes_of({6, 0, 0, 1, 0, 0});
    fast.resize(fast.size() + (1024 + 1) / 8 + 1 + 65'536 / 8 + 8);
    const auto split = codec::elias_fano::open(fast, bits);
    ASSERT_FALSE(split);
    EXPECT_NE(split.error().message.find("more blocks than bytes"), std::string::npos);
}

TEST(hostile_parsers, a_subscriber_decodes_only_what_it_wants) {
    const geometry g{320'000, 2, layout_id::spread};
    auto filter = *bloom_filter::make(g);
    for (int key = 0; key < 100; ++key) filter.insert(filter.hash()(key));
    auto later = *filter.clone();
    later.insert(later.hash()(1'000));
    // Nothing larger than what came, but for what is held.
    subscriber s(read_limits{.believed_bytes = 1'000, .expansion = 1});
    ASSERT_EQ(s.receive(to_bytes(filter, {.generation = 7}), 1), reception::replaced);
    const auto nonsense = [&](frame::kind kind, std::uint64_t generation, std::uint64_t base) {
        frame::header h = header_of(std::uint64_t{1} << 40, codec_id::gaps);
        h.kind = kind;
        h.generation = generation;
        h.base_generation = base;
        return framed(h, bytes_of({1, 2, 3}));
    };
    EXPECT_EQ(s.receive(nonsense(frame::kind::filter, 7, 0), 2), reception::duplicate);
    EXPECT_EQ(s.receive(nonsense(frame::kind::filter, 6, 0), 2), reception::outdated);
    EXPECT_EQ(s.receive(nonsense(frame::kind::delta, 9, 8), 2), reception::gap);
    EXPECT_EQ(s.receive(nonsense(frame::kind::filter, 8, 0), 2), reception::too_large);
    const auto delta = to_bytes(*make_delta(filter, later, 7), {.want = coding::smallest, .generation = 8});
    ASSERT_LT(delta.size(), 100u);
    EXPECT_FALSE(from_bytes(delta, {.believed_bytes = 1'000, .expansion = 1}));
    EXPECT_EQ(s.receive(delta, 3), reception::updated);
    EXPECT_EQ(*s.filter(), later);
    EXPECT_EQ(s.receive(nonsense(frame::kind::delta, 9, 8), 4), reception::wrong_base);
}

// A question costs the side that answers a pass over its set: after a number of them it sends everything.
TEST(hostile_parsers, questions_without_end_are_answered_by_the_list) {
    using namespace reconcile;
    std::vector<digest> digests;
    for (int key = 0; key < 10'000; ++key) digests.push_back(hasher()(key));
    const digest_set mine(hasher(), digest_width::half, digests);
    digests.resize(9'990);
    const digest_set theirs(hasher(), digest_width::half, digests);
    auto asker = *session::ask(theirs, {});
    auto victim = session::answer(mine, {});
    ASSERT_TRUE(victim.receive(*asker.send()));
    std::uint64_t symbols = 0;
    int questions = 0;
    for (auto said = victim.send(); said; said = victim.send()) {
        const auto part = from_bytes(*said);
        const auto kind = std::get<envelope>(part->body).kind();
        if (kind == reconcile::kind::list) break;
        ASSERT_EQ(kind, reconcile::kind::symbols);
        symbols = victim.found().symbols;
        byte_string more;
        base::put_varint(more, symbols + 1);
        ASSERT_TRUE(victim.receive(to_bytes(envelope(reconcile::kind::more, hasher(), more))));
        ASSERT_LT(++questions, 1'000);
    }
    EXPECT_LE(questions, 65);
}

TEST(cell_words, agree_with_one_counter_at_a_time) {
    std::mt19937_64 random(1);
    for (int round = 0; round < 10'000; ++round) {
        std::uint64_t word = random() & random();
        if (round % 3 == 0) word &= random() & random();
        if (round % 3 == 1) word |= random() | random();
        for (const unsigned width : {4u, 8u}) {
            std::uint64_t above = 0;
            unsigned full = 0;
            for (unsigned i = 0; i < 64 / width; ++i) {
                const std::uint64_t cell = word >> i * width & ((1u << width) - 1);
                above |= std::uint64_t{cell != 0} << i;
                full += cell == (1u << width) - 1;
            }
            ASSERT_EQ(bits::cells_above_0(word, width), above) << word;
            ASSERT_EQ(bits::cells_full(word, width), full) << word;
        }
    }
}

}  // namespace
}  // namespace posy
