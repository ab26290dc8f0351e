// How fast the codecs are, and how small: bytes per second of raw array both ways, on one core, and what is
// coded over the bound log2 C(m, x) (for counters, over their entropy).
//
// Filters of n items are simulated by kn uniform positions, deltas by the density 2p(1 − p^c) of theory.hpp.
#include <cmath>

#include "bits/word_kernels.hpp"
#include "codec/bytes.hpp"
#include "codec/counters.hpp"
#include "codec/gaps.hpp"
#include "posy/theory.hpp"
#include "support.hpp"

namespace posy::bench {
namespace {

using namespace codec;

constexpr double items = 1e6;

struct coded_array {
    std::vector<std::uint64_t> words;
    std::uint64_t size;  // in bits or counters
    double bound;        // bytes that it takes at least
};

// Counts up cells of `width` bits at random, as often as asked; a cell that is full stays.
coded_array throw_at(std::uint64_t size, unsigned width, double throws) {
    coded_array made{std::vector<std::uint64_t>((size * width + 63) / 64), size, 0};
    std::mt19937_64 random(1);
    const std::uint64_t most = (1u << width) - 1;
    for (double i = 0; i < throws; ++i) {
        const std::uint64_t at = random() % size * width;
        if ((made.words[at / 64] >> at % 64 & most) < most)
            made.words[at / 64] += std::uint64_t{1} << at % 64;
    }
    return made;
}

coded_array bits_of(double per_item, double throws_per_item) {
    auto made = throw_at(static_cast<std::uint64_t>(items * per_item), 1, items * throws_per_item);
    made.bound = theory::log2_binomial(static_cast<double>(made.size),
                                       static_cast<double>(bits::count_ones(made.words))) /
                 8;
    return made;
}

coded_array counters_of(unsigned width) {
    auto made = throw_at(static_cast<std::uint64_t>(10 * items), width, 7 * items);
    std::vector<double> counts(256);
    for (std::uint64_t i = 0; i < made.size; ++i)
        ++counts[made.words[i * width / 64] >> i * width % 64 & ((1u << width) - 1)];
    for (const double count : counts)
        if (count > 0) made.bound -= count * std::log2(count / static_cast<double>(made.size)) / 8;
    return made;
}

// Both ways of one codec over one array; a decoder that gives back something else is an error.
void both_ways(const std::string& name, coded_array (*make)(double, double), double a, double b, auto encode,
               auto decode) {
    const auto bytes = [](benchmark::State& state, const coded_array& array) {
        state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(array.words.size() * 8));
    };
    benchmark::RegisterBenchmark(("encode/" + name).c_str(), [=](benchmark::State& state) {
        const auto array = make(a, b);
        std::vector<std::byte> coded;
        for (auto _ : state) {
            coded.clear();
            encode(array, coded);
        }
        bytes(state, array);
        const auto size = static_cast<double>(coded.size());
        state.counters["over_bound_%"] = (size / array.bound - 1) * 100;
        state.counters["over_bound_bytes"] = size - array.bound;
    })->Unit(benchmark::kMillisecond);
    benchmark::RegisterBenchmark(("decode/" + name).c_str(), [=](benchmark::State& state) {
        const auto array = make(a, b);
        std::vector<std::byte> coded;
        encode(array, coded);
        coded_array back = array;
        for (auto _ : state) {
            if (!decode(coded, back).ok()) state.SkipWithError("refused");
        }
        if (back.words != array.words) state.SkipWithError("decoded to something else");
        bytes(state, array);
    })->Unit(benchmark::kMillisecond);
}

bit_view view(const coded_array& array) { return {array.words, array.size, bits::count_ones(array.words)}; }
bit_room room(coded_array& array) { return {array.words, array.size}; }

const bool registered = [] {
    const double p = std::exp(-1. / 16);
    const auto delta = [=](double c) { return -32 * std::log1p(-theory::delta_density(p, c)); };
    struct shape {
        const char* name;
        double bits_per_item, throws_per_item;
    };
    const shape shapes[] = {{"14,2", 14, 2},
                            {"28,4", 28, 4},
                            {"48,3", 48, 3},
                            {"92,1", 92, 1},
                            {"delta_of_5%", 32, delta(.05)},
                            {"delta_of_1%", 32, delta(.01)}};
    for (const auto& [name, bits, throws] : shapes) {
        both_ways(
            std::string("bytes/") + name, bits_of, bits, throws,
            [](const coded_array& from, auto& out) { encode_bytes(view(from), out, base::how{}); },
            [](byte_view coded, coded_array& to) { return decode_bytes(coded, room(to), base::how{}); });
        if (throws / bits < .02)
            both_ways(
                std::string("gaps/") + name, bits_of, bits, throws,
                [](const coded_array& from, auto& out) { encode_gaps(view(from), out, base::how{}); },
                [](byte_view coded, coded_array& to) { return decode_gaps(coded, room(to), base::how{}); });
    }
    both_ways(
        "range/14,2", bits_of, 14, 2,
        [](const coded_array& from, auto& out) { encode_range(view(from), out); },
        [](byte_view coded, coded_array& to) { return decode_range(coded, room(to)); });
    both_ways(
        "adaptive/14,2", bits_of, 14, 2,
        [](const coded_array& from, auto& out) { encode_adaptive(view(from), out); },
        [](byte_view coded, coded_array& to) { return decode_adaptive(coded, room(to)); });
    for (const unsigned width : {4u, 8u})
        both_ways(
            "counters/" + std::to_string(width) + "_bits",
            [](double of, double) { return counters_of(static_cast<unsigned>(of)); }, width, 0,
            [=](const coded_array& from, auto& out) { encode_counters(from.words, from.size, width, out); },
            [=](byte_view coded, coded_array& to) {
                return decode_counters(coded, to.words, to.size, width);
            });
    return true;
}();

}  // namespace
}  // namespace posy::bench
