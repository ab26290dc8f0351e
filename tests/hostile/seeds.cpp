#include "seeds.hpp"

#include <algorithm>
#include <bit>
#include <fstream>
#include <iterator>

#include "base/varint.hpp"
#include "codec/choose.hpp"
#include "reconcile/coded_symbols.hpp"
#include "reconcile/key_texts.hpp"
#include "reconcile/tree.hpp"

namespace posy::hostile {
namespace {

constexpr std::uint64_t limit_bits =
    8 * (read_limits{}.believed_bytes / (2 << 20) * (2 << 20));  // what any message may ask for

byte_string file_bytes(const std::filesystem::path& path) {
    std::ifstream in(path, std::ios::binary);
    const std::string text((std::istreambuf_iterator<char>(in)), {});
    const byte_view bytes = as_byte_view(text);
    return {bytes.begin(), bytes.end()};
}

bloom_filter filter_of(const geometry& g, std::uint64_t keys) {
    auto filter = *bloom_filter::make(g);
    for (std::uint64_t key = 0; key < keys; ++key) filter.insert(filter.hash()(key));
    return filter;
}

counting_filter counting_of(const geometry& g, unsigned width, std::uint64_t keys) {
    auto filter = *counting_filter::make(g, width);
    for (std::uint64_t key = 0; key < keys; ++key) filter.insert(filter.hash()(key));
    return filter;
}

std::vector<digest> digests(std::uint64_t count) {
    std::vector<digest> all;
    for (std::uint64_t key = 0; key < count; ++key) all.push_back(hasher()(key));
    return all;
}

void add_coded_filters(std::vector<byte_string>& all, const geometry& g, std::uint64_t keys) {
    const auto filter = filter_of(g, keys), later = filter_of(g, keys + 10);
    for (const codec_id id :
         {codec_id::raw, codec_id::adaptive, codec_id::range, codec_id::bytes, codec_id::gaps}) {
        all.push_back(to_bytes(filter, {.codec = id, .generation = 3}));
        all.push_back(to_bytes(*make_delta(filter, later, 3), {.codec = id, .generation = 4}));
    }
    for (const auto form : {queryable_form::small, queryable_form::fast, queryable_form::list})
        all.push_back(to_bytes(*compressed_filter::make(filter, form)));
}

void add_sketches(std::vector<byte_string>& all, std::uint64_t width, std::uint32_t keys) {
    auto sketch = *count_min::make(hasher(), width, 3, update_rule::plain);
    auto heavy = *heavy_hitters::top(*count_min::make(hasher(), width, 3, update_rule::conservative), keys);
    for (std::uint32_t key = 0; key < keys; ++key) {
        sketch.add(hasher()(key), key % 7 + 1);
        heavy.add(std::to_string(key), hasher()(key), key % 7 + 1);
    }
    all.push_back(to_bytes(sketch));
    all.push_back(to_bytes(heavy));
    auto wide = *heavy_hitters::above(
        *count_min::make(hasher(), width, 3, update_rule::plain, counter_width::bits_64), 0.5);
    for (std::uint64_t key = 0; key < keys; ++key) wide.add(std::to_string(key), hasher()(key), key << 40);
    all.push_back(to_bytes(wide));
    all.push_back(to_bytes(wide.sketch()));
    for (const auto method : {spectral_method::recurring_minimum, spectral_method::minimum_increase}) {
        auto spectral = *spectral_filter::make(
            {width, 3, layout_id::spread}, method,
            method == spectral_method::minimum_increase ? counter_width::bits_64 : counter_width::bits_32);
        for (std::uint32_t key = 0; key < keys; ++key) spectral.insert(hasher()(key), key % 7 + 1);
        all.push_back(to_bytes(spectral));
    }
}

void add_sealed(std::vector<byte_string>& all, std::uint64_t keys) {
    const auto set = digests(keys);
    std::vector<std::uint64_t> values(set.size());
    for (std::size_t i = 0; i < set.size(); ++i) values[i] = i % 128;
    all.push_back(to_bytes(*sealed_filter::make(hasher(), set)));
    all.push_back(to_bytes(*bloomier_map::make(hasher(), set, values, {.value_bits = 7})));
}

void add_growing(std::vector<byte_string>& all, std::uint64_t first_bytes, std::uint64_t keys) {
    auto growing = *growing_filter::make({.first_bytes = first_bytes});
    (void)growing.insert(digests(keys));
    all.push_back(to_bytes(growing));
}

void add_window(std::vector<byte_string>& all, const geometry& g, std::uint64_t keys) {
    auto window = *window_filter::make(g, {100, 0.1}, 100, 4);
    for (std::uint64_t key = 0; key < keys; ++key) window.insert(window.hash()(key), key);
    all.push_back(to_bytes(window));
}

// A window of many arrays, all of them the same coded bytes: what no window would write.
byte_string window_of(std::uint64_t bits, std::uint64_t count, codec_id id, byte_view coded) {
    byte_string empty = to_bytes(*window_filter::make({512, 1, layout_id::spread}, {100, 0.1}, 100, 4));
    byte_string payload{std::byte{1}, std::byte{1}, std::byte{4}};
    payload.resize(11);
    store_little(&payload[3], std::bit_cast<std::uint64_t>(0.1));
    for (const std::uint64_t number : {bits, std::uint64_t{25}, std::uint64_t{100}, std::uint64_t{90}, count})
        base::put_varint(payload, number);
    for (std::uint64_t i = 0; i < count; ++i) {
        base::put_varint(payload, 0);
        base::put_varint(payload, 7);
        payload.push_back(static_cast<std::byte>(id));
        base::put_varint(payload, coded.size());
        payload.insert(payload.end(), coded.begin(), coded.end());
    }
    // The header of an empty one, and its length, the last varint, anew.
    const auto header = std::to_integer<std::size_t>(empty[7]);
    byte_view old = byte_view(empty).subspan(header - 1);
    byte_string message(empty.begin(), empty.begin() + static_cast<std::ptrdiff_t>(header - 1));
    (void)base::take_varint(old);
    base::put_varint(message, payload.size());
    message[7] = static_cast<std::byte>(message.size());
    message.insert(message.end(), payload.begin(), payload.end());
    message.resize(message.size() + 4);
    repair_checksum(message);
    return message;
}

void add_windows_at_the_limits(std::vector<byte_string>& all) {
    const auto coded = [](codec_id id, std::uint64_t bits, std::uint64_t ones) {
        auto array = *bit_array::make(bits);
        for (std::uint64_t i = 0; i < ones; ++i) array.set(bits / (2 * ones) * (2 * i));
        byte_string bytes;
        codec::encode(id, {array.words(), bits, array.ones()}, bytes);
        return bytes;
    };
    for (const std::uint64_t count : {1'000u, 10'000u}) {
        all.push_back(window_of(64, count, codec_id::gaps, coded(codec_id::gaps, 64, 0)));
        all.push_back(window_of(1'000, count, codec_id::range, coded(codec_id::range, 1'000, 1)));
        all.push_back(window_of(1'000, count, codec_id::adaptive, coded(codec_id::adaptive, 1'000, 1)));
        all.push_back(window_of(1'000, count, codec_id::bytes, coded(codec_id::bytes, 1'000, 10)));
        all.push_back(window_of(20'000, count, codec_id::range, coded(codec_id::range, 20'000, 1)));
        all.push_back(window_of(20'000, count, codec_id::gaps, coded(codec_id::gaps, 20'000, 1)));
        all.push_back(window_of(20'000, count, codec_id::gaps, coded(codec_id::gaps, 20'000, 60)));
        all.push_back(window_of(20'000, count, codec_id::gaps, coded(codec_id::gaps, 20'000, 20'000)));
    }
    all.push_back(window_of(limit_bits / 64, 60, codec_id::gaps, coded(codec_id::gaps, limit_bits / 64, 1)));
}

byte_string reconciliation(reconcile::kind what, byte_view payload) {
    return to_bytes(reconcile::envelope(what, hasher(), payload));
}
template <class Payload>
byte_string reconciliation(reconcile::kind what, const Payload& payload) {
    byte_string bytes;
    payload.append_to(bytes);
    return reconciliation(what, byte_view(bytes));
}

void add_reconciliation_at_the_limits(std::vector<byte_string>& all) {
    dice d(7);
    reconcile::symbol_run run{hasher(), reconcile::digest_width::half, 1 << 20, 0, {}};
    for (int i = 0; i < 20'000; ++i)
        run.symbols.push_back({{d.roll(), 0}, static_cast<std::uint32_t>(d.roll()), std::uint8_t{1}});
    all.push_back(reconciliation(reconcile::kind::symbols, run));
    all.push_back(
        reconciliation(reconcile::kind::texts, reconcile::key_texts{std::vector<std::string>(50'000)}));
    const auto bomb = filter_of({limit_bits, 1, layout_id::spread}, 3);
    all.push_back(
        reconciliation(reconcile::kind::filter, byte_view(to_bytes(bomb, {.want = coding::smallest}))));
    const auto slow =
        to_bytes(filter_of({codec::slow_array, 1, layout_id::spread}, 3), {.codec = codec_id::adaptive});
    all.push_back(reconciliation(reconcile::kind::filter, byte_view(slow)));
    byte_string tree{std::byte{8}, std::byte{3}, std::byte{2}};
    for (int i = 0; i < 2; ++i) {
        base::put_varint(tree, slow.size());
        tree.insert(tree.end(), slow.begin(), slow.end());
    }
    all.push_back(reconciliation(reconcile::kind::tree, byte_view(tree)));
}

}  // namespace

std::vector<byte_string> small_messages(const std::filesystem::path& testdata) {
    std::vector<std::filesystem::path> files;
    for (const auto& entry : std::filesystem::directory_iterator(testdata / "messages"))
        files.push_back(entry.path());
    std::ranges::sort(files);
    std::vector<byte_string> all;
    for (const auto& path : files) {
        if (path.filename() != "reconciliation.posy") {
            all.push_back(file_bytes(path));
            continue;
        }
        const byte_string stream = file_bytes(path);
        for (byte_view rest = stream; !rest.empty();) {
            const std::size_t size = from_bytes(rest)->size;
            all.emplace_back(rest.begin(), rest.begin() + static_cast<std::ptrdiff_t>(size));
            rest = rest.subspan(size);
        }
    }
    add_coded_filters(all, {600, 3, layout_id::spread}, 20);
    add_coded_filters(all, {4096, 5, layout_id::blocked}, 300);
    add_coded_filters(all, {20'480, 1, layout_id::spread}, 30);
    for (const unsigned width : {4u, 8u})
        for (const codec_id id : {codec_id::raw, codec_id::counters})
            all.push_back(to_bytes(counting_of({601, 3, layout_id::spread}, width, 40), {.codec = id}));
    add_sketches(all, 60, 20);
    add_sealed(all, 100);
    add_sealed(all, 3'000);
    add_growing(all, 512, 400);
    add_window(all, {512, 4, layout_id::blocked}, 90);
    return all;
}

std::vector<byte_string> messages_at_the_limits() {
    std::vector<byte_string> all;
    const geometry largest{limit_bits, 1, layout_id::spread};
    for (const std::uint64_t keys : {0, 1, 3'000})
        all.push_back(to_bytes(filter_of(largest, keys), {.codec = codec_id::gaps}));
    auto full = filter_of(largest, 0);
    std::ranges::fill(full.bits().words(), ~std::uint64_t{0});
    for (const codec_id id : {codec_id::gaps, codec_id::bytes}) all.push_back(to_bytes(full, {.codec = id}));
    for (std::uint64_t i = 0; i < 5; ++i) full.bits().words()[i * 1000] = 7;
    all.push_back(to_bytes(full, {.codec = codec_id::gaps}));
    all.push_back(
        to_bytes(*make_delta(filter_of(largest, 0), filter_of(largest, 50)), {.codec = codec_id::gaps}));
    for (const auto form : {queryable_form::small, queryable_form::fast, queryable_form::list})
        all.push_back(to_bytes(*compressed_filter::make(filter_of(largest, 100), form)));
    const geometry slow{codec::slow_array, 2, layout_id::spread};
    for (const std::uint64_t keys : {1, 1'000, 400'000})
        for (const codec_id id : {codec_id::adaptive, codec_id::range})
            all.push_back(to_bytes(filter_of(slow, keys), {.codec = id}));
    for (const std::uint64_t keys : {1, 1'000, 100'000})
        all.push_back(to_bytes(filter_of({4 << 23, 2, layout_id::spread}, keys), {.codec = codec_id::bytes}));
    for (const std::uint64_t keys : {0, 1, 10'000}) {
        all.push_back(
            to_bytes(counting_of({1 << 23, 1, layout_id::spread}, 4, keys), {.codec = codec_id::counters}));
        all.push_back(
            to_bytes(counting_of({1 << 22, 1, layout_id::spread}, 8, keys), {.codec = codec_id::counters}));
    }
    all.push_back(to_bytes(*counting_filter::make({std::uint64_t{48} << 21, 1, layout_id::spread}, 4),
                           {.codec = codec_id::counters}));
    all.push_back(to_bytes(*counting_filter::make({std::uint64_t{54} << 20, 1, layout_id::spread}, 8),
                           {.codec = codec_id::counters}));
    add_sketches(all, limit_bits / 32 / 3 - 64, 5);
    add_sketches(all, 50'000, 5'000);
    add_sealed(all, 50'000);
    add_growing(all, limit_bits / 8 * 15 / 16, 1'000);
    add_windows_at_the_limits(all);
    add_reconciliation_at_the_limits(all);
    return all;
}

const reconcile::digest_set& set_of_victim() {
    static const reconcile::digest_set set(hasher(), reconcile::digest_width::half, digests(300));
    return set;
}

std::vector<conversation> conversations() {
    std::vector<digest> others = digests(310);
    others.erase(others.begin(), others.begin() + 20);
    std::vector<digest> distant = digests(900);
    distant.erase(distant.begin(), distant.begin() + 290);
    std::vector<conversation> all;
    for (const auto& elements : {others, distant}) {
        const reconcile::digest_set peer(hasher(), reconcile::digest_width::half, elements);
        for (const auto method :
             {reconcile::method::exact, reconcile::method::filter, reconcile::method::tree}) {
            for (const bool victim_asks : {true, false}) {
                conversation c{{.method = method}, victim_asks, {}};
                auto ask = *reconcile::session::ask(victim_asks ? set_of_victim() : peer, c.how);
                auto answer = reconcile::session::answer(victim_asks ? peer : set_of_victim(), c.how);
                while (!ask.done()) {
                    while (auto message = ask.send()) {
                        if (!victim_asks) c.to_victim.push_back(*message);
                        (void)answer.receive(*message);
                    }
                    while (auto message = answer.send()) {
                        if (victim_asks) c.to_victim.push_back(*message);
                        (void)ask.receive(*message);
                    }
                }
                all.push_back(std::move(c));
            }
        }
    }
    return all;
}

byte_string squid_digest_bytes(const std::filesystem::path& testdata) {
    return file_bytes(testdata / "squid" / "digest.bin");
}

}  // namespace posy::hostile
