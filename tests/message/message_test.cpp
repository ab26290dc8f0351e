#include "posy/message.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <iterator>
#include <random>
#include <thread>

#include "message/frame.hpp"
#include "posy/algebra.hpp"
#include "posy/base/file.hpp"
#include "support.hpp"

namespace posy {
namespace {

bloom_filter sample(const geometry& g, int keys = 100) {
    auto filter = *bloom_filter::make(g);
    for (int key = 0; key < keys; ++key) filter.insert(filter.hash()(key));
    return filter;
}

counting_filter counting_sample(const geometry& g, unsigned width) {
    auto filter = *counting_filter::make(g, width);
    for (int key = 0; key < 100; ++key) filter.insert(filter.hash()(key));
    return filter;
}

std::vector<std::byte> bytes_of(std::string_view hex) {
    std::vector<std::byte> bytes;
    for (std::size_t i = 0; i + 1 < hex.size(); i += 2) {
        bytes.push_back(static_cast<std::byte>(std::stoi(std::string(hex.substr(i, 2)), nullptr, 16)));
    }
    return bytes;
}

// The array of whatever it is, for comparison.
std::vector<std::uint64_t> plain_of(const message& m) {
    const auto copy = [](const bit_array& bits) {
        return std::vector(bits.words().begin(), bits.words().end());
    };
    if (const auto* filter = std::get_if<bloom_filter>(&m.body)) return copy(filter->bits());
    if (const auto* filter = std::get_if<counting_filter>(&m.body)) return copy(filter->counters().cells());
    if (const auto* delta = std::get_if<filter_delta>(&m.body)) return copy(delta->flips);
    return copy(std::get<compressed_filter>(m.body).unpack()->bits());
}

filter_delta delta_sample(const geometry& g) { return *make_delta(sample(g, 100), sample(g, 120), 7); }

std::vector<digest> hundred_digests() {
    std::vector<digest> digests;
    for (int key = 0; key < 100; ++key) digests.push_back(hasher()(key));
    return digests;
}

struct named_message {
    const char* name;
    std::vector<std::byte> bytes;
};

// The kinds whose payload tells its own shape, of the integers 0 to 99; integer i has the value i and comes
// i % 7 + 1 times, and a window sees it at time i.
std::vector<named_message> shaped_by_payload() {
    const auto digests = hundred_digests();
    std::vector<std::uint64_t> values;
    auto sketch = *count_min::make(hasher(), 50, 3, update_rule::conservative);
    auto spectral = *spectral_filter::make({300, 3, layout_id::spread}, spectral_method::recurring_minimum);
    auto heavy = *heavy_hitters::top(*count_min::make(hasher(), 50, 3, update_rule::conservative), 5);
    auto growing = *growing_filter::make({.first_bytes = 512});
    auto window = *window_filter::make({512, 4, layout_id::blocked}, {100, 0.1}, 100, 4);
    for (std::uint32_t key = 0; key < digests.size(); ++key) {
        const digest d = digests[key];
        const std::uint32_t times = key % 7 + 1;
        values.push_back(key);
        sketch.add(d, times);
        spectral.insert(d, times);
        heavy.add(std::to_string(key), d, times);
        window.insert(d, key);
    }
    EXPECT_TRUE(growing.insert(digests));
    return {{"sealed.posy", to_bytes(*sealed_filter::make(hasher(), digests))},
            {"map.posy", to_bytes(*bloomier_map::make(hasher(), digests, values, {.value_bits = 7}))},
            {"count_min.posy", to_bytes(sketch)},
            {"spectral.posy", to_bytes(spectral)},
            {"heavy.posy", to_bytes(heavy)},
            {"growing.posy", to_bytes(growing)},
            {"window.posy", to_bytes(window)}};
}

// A small message of every kind in every coding.
std::vector<std::vector<std::byte>> all_kinds() {
    const geometry g{600, 3, layout_id::spread};
    std::vector<std::vector<std::byte>> all;
    for (const codec_id codec :
         {codec_id::raw, codec_id::adaptive, codec_id::range, codec_id::bytes, codec_id::gaps}) {
        all.push_back(to_bytes(sample(g, 20), {.codec = codec}));
        all.push_back(to_bytes(delta_sample(g), {.codec = codec, .generation = 8}));
    }
    for (const codec_id codec : {codec_id::raw, codec_id::counters}) {
        all.push_back(to_bytes(counting_sample(g, 4), {.codec = codec}));
        all.push_back(to_bytes(counting_sample(g, 8), {.codec = codec}));
    }
    for (const queryable_form form : {queryable_form::small, queryable_form::fast, queryable_form::list}) {
        all.push_back(to_bytes(*compressed_filter::make(sample(g, 20), form)));
    }
    for (auto& each : shaped_by_payload()) all.push_back(std::move(each.bytes));
    auto planned = sample(g, 20);
    planned.set_planned(promise{20, 0.0625});
    all.push_back(to_bytes(planned));
    all.push_back(to_bytes(reconcile::envelope(reconcile::kind::refusal, hasher(), as_byte_view("why"))));
    return all;
}

class every_message : public testing::TestWithParam<geometry> {};
INSTANTIATE_TEST_SUITE_P(message, every_message, testing::ValuesIn(all_shapes()),
                         [](const auto& row) { return std::to_string(row.index); });

TEST_P(every_message, comes_back_as_it_went) {
    SCOPED_TRACE(describe(GetParam()));
    const auto filter = sample(GetParam());
    const auto bytes = to_bytes(filter);
    const auto back = from_bytes(bytes);
    ASSERT_TRUE(back) << back.error().text();
    EXPECT_EQ(back->size, bytes.size());
    EXPECT_EQ(std::get<bloom_filter>(back->body), filter);
    EXPECT_EQ(std::get<bloom_filter>(back->body).items(), filter.items());
    for (const unsigned width : {4u, 8u}) {
        const auto counting = counting_sample(GetParam(), width);
        const auto again = from_bytes(to_bytes(counting));
        ASSERT_TRUE(again) << again.error().text();
        const auto& read = std::get<counting_filter>(again->body);
        EXPECT_EQ(read.counters(), counting.counters());
        EXPECT_EQ(read.projection(), counting.projection());
        EXPECT_EQ(read.items(), counting.items());
        EXPECT_EQ(read.saturated(), counting.saturated());
    }
}

TEST(message, seeds_and_unknown_counts_travel) {
    auto filter = sample({1024, 3, layout_id::blocked, hash_family::siphash, {~std::uint64_t{0}, 17}});
    filter.set_items(std::nullopt);
    const auto back = *from_bytes(to_bytes(filter));
    EXPECT_EQ(std::get<bloom_filter>(back.body), filter);
    EXPECT_EQ(std::get<bloom_filter>(back.body).items(), std::nullopt);
}

// A plan, and that the bits are an intersection's, in every kind that has bits and every coding.
TEST(message, the_provenance_travels) {
    const scratch_directory scratch;
    const geometry g{6000, 3, layout_id::spread};
    auto planned = sample(g), common = sample(g);
    planned.set_planned(promise{1000, 0.125});
    common.set_planned(promise{7, 0.25});
    ASSERT_TRUE(intersect(common, sample(g, 50)));
    auto counting = counting_sample(g, 4);
    counting.set_planned(promise{1000, 0.125});
    const auto expect_kept = [&](const auto& body, const provenance& kept, const packing& how = {}) {
        using body_type = std::remove_cvref_t<decltype(body)>;
        const auto back = from_bytes(to_bytes(body, how));
        ASSERT_TRUE(back) << back.error().text();
        EXPECT_EQ(std::get<body_type>(back->body).provenance(), kept);
        ASSERT_TRUE(save(scratch / "f", body, how));
        EXPECT_EQ(std::get<body_type>(load(scratch / "f")->body).provenance(), kept);
    };
    const provenance of_planned{100, false, promise{1000, 0.125}};
    for (const auto* filter : {&planned, &common}) {
        const provenance kept = filter == &planned ? of_planned : provenance{{}, true, promise{7, 0.25}};
        for (const coding want : {coding::raw, coding::smallest, coding::fastest})
            expect_kept(*filter, kept, {.want = want});
        for (const queryable_form form :
             {queryable_form::small, queryable_form::fast, queryable_form::list}) {
            const auto compressed = *compressed_filter::make(*filter, form);
            expect_kept(compressed, kept);
            EXPECT_EQ(compressed.unpack()->provenance(), kept);
        }
        EXPECT_EQ(filter->clone()->provenance(), kept);
    }
    for (const coding want : {coding::raw, coding::smallest})
        expect_kept(counting, of_planned, {.want = want});
    EXPECT_EQ(counting.projection().provenance(), of_planned);
}

// The files in testdata/messages were written once and must be read, and written, forever.
TEST(message, golden_bytes) {
    const std::filesystem::path golden = std::filesystem::path(POSY_TESTDATA) / "messages";
    std::vector<named_message> all = {
        {"spread.posy", to_bytes(sample({1000, 7, layout_id::spread}))},
        {"sliced.posy", to_bytes(sample({1001, 7, layout_id::sliced, hash_family::siphash, {1, 2}}))},
        {"paired.posy", to_bytes(sample({2048, 6, layout_id::paired, hash_family::xxh3, {5}}))},
        {"narrow.posy", to_bytes(sample({1280, 11, layout_id::narrow}))},
        {"blocked.posy",
         to_bytes(sample({1024, 11, layout_id::blocked, hash_family::multiply_shift, {300}}))},
        {"counting4.posy", to_bytes(counting_sample({1000, 7, layout_id::spread}, 4))},
        {"counting8.posy", to_bytes(counting_sample({1024, 3, layout_id::blocked}, 8))},
        {"adaptive.posy", to_bytes(sample({1400, 2, layout_id::spread}), {.codec = codec_id::adaptive})},
        {"range.posy", to_bytes(sample({1400, 2, layout_id::spread}), {.codec = codec_id::range})},
        {"bytes.posy", to_bytes(sample({1400, 2, layout_id::spread}), {.codec = codec_id::bytes})},
        {"gaps.posy", to_bytes(sample({9200, 1, layout_id::spread}), {.codec = codec_id::gaps})},
        {"counters.posy",
         to_bytes(counting_sample({1000, 7, layout_id::spread}, 4), {.codec = codec_id::counters})},
        {"delta.posy",
         to_bytes(delta_sample({3200, 2, layout_id::spread}), {.want = coding::smallest, .generation = 8})},
        {"queryable-small.posy",
         to_bytes(*compressed_filter::make(sample({1400, 2, layout_id::spread}), queryable_form::small))},
        {"queryable-fast.posy",
         to_bytes(*compressed_filter::make(sample({1400, 2, layout_id::spread}), queryable_form::fast))},
        {"queryable-list.posy",
         to_bytes(*compressed_filter::make(sample({9200, 1, layout_id::spread}), queryable_form::list))},
    };
    auto planned = sample({1000, 7, layout_id::spread});
    planned.set_planned(promise{120, 0.0625});
    all.push_back({"planned.posy", to_bytes(planned)});
    auto common = sample({1000, 7, layout_id::spread});
    ASSERT_TRUE(intersect(common, filter_of({1000, 7, layout_id::spread}, 50, 150)));
    all.push_back({"intersection.posy", to_bytes(common)});
    std::ranges::move(shaped_by_payload(), std::back_inserter(all));
    for (const auto& [name, bytes] : all) {
        if (std::getenv("POSY_WRITE_GOLDEN")) write_file(golden / name, bytes);
        EXPECT_EQ(file_bytes(golden / name), bytes) << name;
        const auto read = load(golden / name);
        ASSERT_TRUE(read) << name << ": " << read.error().text();
        if (read->body.index() < 4) {
            EXPECT_EQ(plain_of(*read), plain_of(*from_bytes(bytes))) << name;
        } else {
            EXPECT_EQ(to_bytes(read->body), bytes) << name;
        }
    }
}

TEST(message, every_prefix_is_refused) {
    for (const auto& bytes : all_kinds()) {
        for (std::size_t size = 0; size < bytes.size(); ++size) {
            const auto read = from_bytes(byte_view(bytes).first(size));
            ASSERT_FALSE(read) << size;
            ASSERT_TRUE(read.error().offset.has_value()) << size;
            ASSERT_LE(*read.error().offset, size);
        }
    }
}

TEST(message, every_flipped_bit_is_noticed) {
    for (auto bytes : all_kinds()) {
        for (std::size_t bit = 0; bit < 8 * bytes.size(); ++bit) {
            const auto mask = static_cast<std::byte>(1 << bit % 8);
            bytes[bit / 8] ^= mask;
            ASSERT_FALSE(from_bytes(bytes)) << "bit " << bit;
            bytes[bit / 8] ^= mask;
        }
        ASSERT_TRUE(from_bytes(bytes));
    }
}

// Headers made by hand, wrong in one way each.
TEST(message, corrupt_headers_say_what_and_where) {
    const struct {
        const char* hex;
        std::uint64_t offset;
        const char* message;
    } rows[] = {
        {"", 0, "cut off in its header"},
        {"504f", 2, "cut off in its header"},
        {"7f454c46", 0, "not a Posy message"},
        {"504f535902010040", 4, "version 2"},
        {"504f535901010003", 7, "header length of 3"},
        {"504f535901010020", 8, "cut off"},
        {"504f535901630010000000000000000000", 5, "unknown kind"},
        {"504f535901010910000000000000000000", 6, "unknown codec"},
        {"504f53590101000b010107", 11, "cut off"},
        // 2^60 bits
        {"504f5359010100200101078080808080808080100000000000000000000000000000000000000000", 11,
         "above the limit of 1099511627776"},
        {"504f535901010020010107ffffffffffffffffffff00000000000000000000000000000000000000", 11,
         "above 2^64"},
        {"504f535901010020630107e8070000000000000000000000000000000000000000000000000000", 8,
         "unknown layout 99"},
        {"504f535901010020010100e8070000000000000000000000000000000000000000000000000000", 8, "0 hashes"},
        {"504f535901020020010107e8070000010400000000000000000000000000000000000000000000", 15,
         "does not know its number of items"},
        {"504f535901020020010107e8070000020500000000000000000000000000000000000000000000", 16,
         "counters of 5 bits"},
        // planned for 5 items and a rate that is no number, or 2
        {"504f535901010020010107e807000000000005000000000000f87f00000000000000000000000000", 19,
         "planned rate that does not lie between 0 and 1"},
        {"504f535901010020010107e8070000000000050000000000000040000000000000000000000000", 19,
         "planned rate that does not lie between 0 and 1"},
        {"504f535901010020010107e8070000000000000100000000000000000000000000000000000000", 19,
         "payload of 1 bytes where the array has 128"},
        // a coded payload that is larger than the array by more than a padded header is
        {"504f535901010220010107e807000000000000c101000000000000000000000000000000000000", 19,
         "payload of 193 bytes where the array has 128"},
        // a counting filter with a codec of bits
        {"504f535901020220010107e8070000010400000000000000000000000000000000000000000000", 6,
         "unknown codec"},
    };
    for (const auto& [hex, offset, message] : rows) {
        const auto read = from_bytes(bytes_of(hex));
        ASSERT_FALSE(read) << hex;
        EXPECT_NE(read.error().message.find(message), std::string::npos)
            << hex << ": " << read.error().text();
        EXPECT_EQ(read.error().offset, offset) << hex << ": " << read.error().text();
    }
}

TEST(message, a_header_has_one_form) {
    auto bytes = to_bytes(sample({600, 3, layout_id::spread}));
    bytes[40] = std::byte{1};
    const auto read = from_bytes(bytes);
    ASSERT_FALSE(read);
    EXPECT_EQ(read.error().offset, 40u);
    EXPECT_NE(read.error().message.find("other padding"), std::string::npos);
}

// Damage with a checksum that fits, so that the code behind it sees it: every kind, every codec.
TEST(message, random_damage_never_crashes) {
    std::mt19937_64 random(11);
    for (const auto& good : all_kinds()) {
        for (int round = 0; round < 3000; ++round) {
            auto bytes = good;
            for (std::uint64_t i = 0; i <= random() % 6; ++i)
                bytes[random() % bytes.size()] = static_cast<std::byte>(random());
            if (round % 3 == 0) bytes.resize(std::max<std::size_t>(random() % (bytes.size() + 1), 4));
            frame::checksum sum;
            sum.add(byte_view(bytes).first(bytes.size() - 4));
            store_little(&bytes[bytes.size() - 4], sum.value());
            const auto read = from_bytes(bytes, {.max_bytes = 1 << 20});
            if (!read) continue;
            (void)to_bytes(read->body);
            for (int key = 0; key < 100; ++key) {
                if (const auto* set = std::get_if<sealed_filter>(&read->body))
                    (void)set->may_contain(set->hash()(key));
                if (const auto* map = std::get_if<bloomier_map>(&read->body))
                    (void)map->find(map->hash()(key));
            }
        }
    }
}

TEST(message, a_coded_array_above_the_limit_takes_no_memory) {
    const auto bytes = to_bytes(*bloom_filter::make({1 << 20, 3}), {.want = coding::smallest});
    EXPECT_LT(bytes.size(), 50u);
    EXPECT_TRUE(from_bytes(bytes, {.max_bytes = 1 << 17}));
    const auto refused = from_bytes(bytes, {.max_bytes = (1 << 17) - 1});
    ASSERT_FALSE(refused);
    EXPECT_NE(refused.error().message.find("above the limit of 131071"), std::string::npos);
}

TEST(message, every_codec_carries_every_shape) {
    for (const geometry& g : all_shapes()) {
        const auto filter = sample(g);
        for (const codec_id codec :
             {codec_id::raw, codec_id::adaptive, codec_id::range, codec_id::bytes, codec_id::gaps}) {
            const auto bytes = to_bytes(filter, {.codec = codec, .generation = 300});
            const auto back = from_bytes(bytes);
            ASSERT_TRUE(back) << describe(g) << " " << name_of(codec) << ": " << back.error().text();
            EXPECT_EQ(std::get<bloom_filter>(back->body), filter);
            EXPECT_EQ(back->generation, 300u);
        }
        EXPECT_LE(to_bytes(filter, {.want = coding::smallest}).size(), to_bytes(filter).size());
        EXPECT_LE(to_bytes(filter, {.want = coding::fastest}).size(), to_bytes(filter).size());
    }
}

TEST(message, codec_names_round_trip) {
    for (unsigned id = 0; id <= 5; ++id) {
        EXPECT_EQ(named<codec_id>(name_of(static_cast<codec_id>(id))), static_cast<codec_id>(id));
    }
    EXPECT_EQ(named<codec_id>("zip"), std::nullopt);
}

TEST(message, files_are_mapped_and_saved_whole) {
    const scratch_directory scratch;
    const auto filter = sample({1 << 20, 5}, 1000);
    ASSERT_TRUE(save(scratch / "f.posy", filter));
    EXPECT_EQ(scratch.files(), 1u);
    auto read = load(scratch / "f.posy");
    ASSERT_TRUE(read) << read.error().text();
    EXPECT_EQ(std::get<bloom_filter>(read->body), filter);
    // A mapped filter can be changed without changing the file.
    std::get<bloom_filter>(read->body).insert(filter.hash()("new"));
    EXPECT_EQ(std::get<bloom_filter>(load(scratch / "f.posy")->body), filter);
    EXPECT_EQ(load(scratch / "none").error().message, "cannot open: No such file or directory");
}

TEST(message, messages_concatenate_in_files_and_pipes) {
    const scratch_directory scratch;
    std::vector<std::byte> stream;
    for (const int keys : {1, 20, 300}) {
        const auto bytes = to_bytes(sample({6000, 3, layout_id::spread}, keys));
        stream.insert(stream.end(), bytes.begin(), bytes.end());
    }
    const auto check_stream = [&](int file) {
        message_reader reader(file);
        for (const int keys : {1, 20, 300}) {
            auto next = reader.next();
            ASSERT_TRUE(next) << next.error().text();
            ASSERT_TRUE(next->has_value());
            EXPECT_EQ(std::get<bloom_filter>((**next).body), sample({6000, 3, layout_id::spread}, keys));
        }
        const auto end = reader.next();
        ASSERT_TRUE(end);
        EXPECT_FALSE(end->has_value());
    };
    write_file(scratch / "three", stream);
    check_stream(base::open_for_reading(scratch / "three")->get());

    int ends[2];
    ASSERT_EQ(pipe(ends), 0);
    base::descriptor in(ends[0]), out(ends[1]);
    std::jthread writer([&] {
        ASSERT_TRUE(base::write_fully(out.get(), stream));
        out = base::descriptor();
    });
    check_stream(in.get());
}

TEST(message, errors_in_a_stream_count_from_its_start) {
    const scratch_directory scratch;
    const auto one = to_bytes(sample({600, 3, layout_id::spread}));
    auto stream = one;
    stream.insert(stream.end(), one.begin(), one.end() - 3);
    write_file(scratch / "cut", stream);
    const auto file = *base::open_for_reading(scratch / "cut");
    message_reader reader(file.get());
    ASSERT_TRUE(reader.next());
    const auto cut = reader.next();
    ASSERT_FALSE(cut);
    EXPECT_EQ(cut.error().offset, stream.size());
    write_file(scratch / "empty", {});
    EXPECT_EQ(load(scratch / "empty").error().message, "it is empty; a Posy message was expected");
}

}  // namespace
}  // namespace posy
