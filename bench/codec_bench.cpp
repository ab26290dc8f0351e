// How small and how fast the codecs are: size over the bound, MB/s of raw array both ways, per instruction
// set.
//
//     codec_bench [items = 10000000] [rounds = 3] [threads = 1]
//
// Filters of n items are simulated by kn uniform positions, deltas by the density 2p(1 − p^c) of theory.hpp;
// buffers are warm (the best of the rounds is printed, the first one pays for the pages).
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include "codec/bytes.hpp"
#include "codec/counters.hpp"
#include "codec/gaps.hpp"
#include "posy/theory.hpp"

namespace {

using namespace posy;
using namespace posy::codec;

double seconds_of(const auto& work) {
    const auto start = std::chrono::steady_clock::now();
    work();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// Prints one line; returns the bytes coded.
void measure(const std::string& what, instruction_set set, std::span<const std::uint64_t> words, double bound,
             int rounds, const auto& encode, const auto& decode) {
    std::vector<std::byte> coded;
    std::vector<std::uint64_t> back(words.size());
    double encoding = 1e9, decoding = 1e9;
    bool same = true;
    for (int i = 0; i < rounds; ++i) {
        coded.clear();
        std::ranges::fill(back, 0);
        encoding = std::min(encoding, seconds_of([&] { encode(coded); }));
        decoding = std::min(decoding, seconds_of([&] { same &= decode(coded, std::span(back)).ok(); }));
        same &= std::ranges::equal(words, back);
    }
    const double megabytes = static_cast<double>(words.size()) * 8e-6,
                 size = static_cast<double>(coded.size());
    std::printf("%-28s %-7s %12.0f %+9.4f %% %+8.0f %8.0f %8.0f%s\n", what.c_str(), name_of(set), size,
                (size / bound - 1) * 100, size - bound, megabytes / encoding, megabytes / decoding,
                same ? "" : "  WRONG");
}

std::vector<std::uint64_t> positions(std::uint64_t bits, double throws, std::uint64_t& ones) {
    std::vector<std::uint64_t> words((bits + 63) / 64);
    std::mt19937_64 next(1);
    ones = 0;
    for (double i = 0; i < throws; ++i) {
        const std::uint64_t at = (next() >> 24) % bits, bit = std::uint64_t{1} << at % 64;
        ones += (words[at / 64] & bit) == 0;
        words[at / 64] |= bit;
    }
    return words;
}

}  // namespace

int main(int argc, char** argv) {
    const double n = argc > 1 ? std::atof(argv[1]) : 1e7;
    const int rounds = argc > 2 ? std::atoi(argv[2]) : 3;
    const unsigned threads = argc > 3 ? static_cast<unsigned>(std::atoi(argv[3])) : 1;
    std::vector<instruction_set> sets;
    for (const auto set : {instruction_set::scalar, instruction_set::avx2, instruction_set::avx512})
        if (has(set)) sets.push_back(set);
    std::printf("%-28s %-7s %12s %11s %8s %8s %8s\n", "n, (m/n, k)", "kernel", "bytes", "over bound", "bytes",
                "enc MB/s", "dec MB/s");

    struct shape {
        const char* name;
        double bits_per_item, throws_per_item;
    };
    const double p = std::exp(-1. / 16);
    const auto delta = [&](double c) { return -32 * std::log1p(-theory::delta_density(p, c)); };
    const shape shapes[] = {{"(14, 2)", 14, 2},
                            {"(28, 4)", 28, 4},
                            {"(48, 3)", 48, 3},
                            {"(92, 1)", 92, 1},
                            {"delta (32, 2, .05)", 32, delta(.05)},
                            {"delta (32, 2, .01)", 32, delta(.01)}};
    for (const shape& one : shapes) {
        const auto bits = static_cast<std::uint64_t>(n * one.bits_per_item);
        std::uint64_t ones;
        const auto words = positions(bits, n * one.throws_per_item, ones);
        const bit_view view{words, bits, ones};
        const double bound = theory::log2_binomial(static_cast<double>(bits), static_cast<double>(ones)) / 8;
        for (const auto set : sets) {
            const how run{threads, set};
            measure(
                std::string("bytes ") + one.name, set, words, bound, rounds,
                [&](auto& out) { encode_bytes(view, out, run); },
                [&](byte_view coded, auto back) {
                    return decode_bytes(coded, {back, bits}, run);
                });
        }
        const how run{threads};
        if (one.throws_per_item / one.bits_per_item < .02)
            measure(
                std::string("gaps ") + one.name, run.instructions, words, bound, rounds,
                [&](auto& out) { encode_gaps(view, out, run); },
                [&](byte_view coded, auto back) {
                    return decode_gaps(coded, {back, bits}, run);
                });
    }

    for (const unsigned width : {4u, 8u}) {
        const auto size = static_cast<std::uint64_t>(10 * n);
        std::vector<std::uint64_t> words((size * width + 63) / 64);
        std::mt19937_64 next(1);
        const std::uint64_t most = (1u << width) - 1;
        for (double i = 0; i < 7 * n; ++i) {
            const std::uint64_t at = (next() >> 24) % size * width;
            if ((words[at / 64] >> at % 64 & most) < most) words[at / 64] += std::uint64_t{1} << at % 64;
        }
        std::vector<double> counts(256);
        for (std::uint64_t i = 0; i < size; ++i) ++counts[words[i * width / 64] >> i * width % 64 & most];
        double entropy = 0;
        for (const double count : counts)
            if (count > 0) entropy -= count * std::log2(count / static_cast<double>(size)) / 8;
        for (const auto set : sets) {
            const how run{threads, set};
            measure(
                "counters (10, 7), " + std::to_string(width) + " bits", set, words, entropy, rounds,
                [&](auto& out) { encode_counters(words, size, width, out, run); },
                [&](byte_view coded, auto back) { return decode_counters(coded, back, size, width, run); });
        }
    }
}
