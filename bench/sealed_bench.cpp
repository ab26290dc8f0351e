// The sealed filter and the Bloomier map: bits a key, measured rate, and the CPU time a key to build and to
// ask. CPU time, because a busy machine takes the clock on the wall with it.
//
// Keys are random digests; lookups are of digests that are not members, in one batch and one by one. Times
// are the best of three.
//
//   scripts/build bench && build/bench/bench/posy-bench-sealed [KEYS [THREADS]]
//   10 million and 1 unless given; more than one thread are timed by the wall
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <memory>
#include <optional>
#include <random>
#include <vector>

#include "posy/bloomier_map.hpp"
#include "posy/sealed_filter.hpp"
#include "posy/theory.hpp"

namespace {

using namespace posy;

[[noreturn]] void give_up(const std::string& what) {
    std::fprintf(stderr, "sealed_bench: %s\n", what.c_str());
    std::exit(1);
}

std::vector<digest> random_digests(std::size_t count, std::uint64_t seed) {
    std::mt19937_64 random(seed);
    std::vector<digest> digests(count);
    for (digest& d : digests) d = {random(), random()};
    return digests;
}

// The best of three runs of work(), in nanoseconds for each of `count`.
template <class Work>
double nanoseconds_each(std::size_t count, bool by_the_wall, const Work& work) {
    double best = HUGE_VAL;
    for (int run = 0; run < 3; ++run) {
        const auto start = std::chrono::steady_clock::now();
        const std::clock_t cpu = std::clock();
        work();
        const std::chrono::duration<double, std::nano> passed = std::chrono::steady_clock::now() - start;
        const double used = 1e9 * static_cast<double>(std::clock() - cpu) / CLOCKS_PER_SEC;
        best = std::min(best, by_the_wall ? passed.count() : used);
    }
    return best / static_cast<double>(count);
}

void measure(std::size_t keys, double rate, unsigned threads) {
    const auto members = random_digests(keys, 1),
               absent = random_digests(std::max<std::size_t>(keys, 1'000'000), 2);
    std::optional<sealed_filter> filter;
    const double build = nanoseconds_each(keys, threads > 1, [&] {
        auto built = sealed_filter::make(hasher(), members, {.rate = rate, .threads = threads});
        if (!built) give_up(built.error().text());
        filter = std::move(*built);
    });
    const std::unique_ptr<bool[]> answers(new bool[absent.size()]);
    if (filter->may_contain(members, {answers.get(), keys}) != keys) give_up("a member was denied");
    std::size_t yes = 0, also = 0;
    const double batch = nanoseconds_each(absent.size(), false, [&] {
        yes = filter->may_contain(absent, {answers.get(), absent.size()});
    });
    const double one = nanoseconds_each(absent.size(), false, [&] {
        for (const digest d : absent) also += filter->may_contain(d);
    });
    if (also != 3 * yes) give_up("one by one is not the same as in a batch");
    const auto n = static_cast<double>(keys), asked = static_cast<double>(absent.size());
    const double bits = 8 * static_cast<double>(filter->bytes().size()) / n;
    const double measured = static_cast<double>(yes) / asked;
    std::printf(
        "  rate %-9.7g %8.4f bits a key  %+7.2f %%  (predicted %8.4f)  measured %.6f, %+.1f deviations  "
        "build %6.1f ns  batch %5.1f ns  one by one %5.1f ns\n",
        rate, bits, 100 * (bits / -std::log2(rate) - 1), theory::sealed_bits(n, rate) / n, measured,
        (measured - rate) / std::sqrt(rate * (1 - rate) / asked), build, batch, one);
}

void measure_map(std::size_t keys, unsigned threads) {
    const auto members = random_digests(keys, 3), absent = random_digests(keys, 4);
    std::vector<std::uint64_t> values(keys);
    for (std::size_t i = 0; i < keys; ++i) values[i] = i % 256;
    std::optional<bloomier_map> map;
    const double build = nanoseconds_each(keys, threads > 1, [&] {
        auto built = bloomier_map::make(hasher(), members, values,
                                        {.value_bits = 8, .rate = 0.01, .threads = threads});
        if (!built) give_up(built.error().text());
        map = std::move(*built);
    });
    std::vector<std::optional<std::uint64_t>> found(keys);
    const double batch = nanoseconds_each(keys, false, [&] { map->find(members, found); });
    for (std::size_t i = 0; i < keys; ++i) {
        if (found[i] != values[i]) give_up("a wrong value");
    }
    const auto n = static_cast<double>(keys);
    const double bits = 8 * static_cast<double>(map->bytes().size()) / n;
    std::printf(
        "  8-bit values, rate 0.01: %8.4f bits a key  %+.2f %%  measured %.6f  build %6.1f ns  batch %5.1f "
        "ns\n",
        bits, 100 * (bits / (8 + std::log2(100)) - 1), static_cast<double>(map->find(absent, found)) / n,
        build, batch);
}

}  // namespace

int main(int count, char** words) {
    const std::size_t keys =
        count > 1 ? static_cast<std::size_t>(std::strtod(words[1], nullptr)) : 10'000'000;
    const auto threads = static_cast<unsigned>(count > 2 ? std::strtoul(words[2], nullptr, 10) : 1);
    std::printf("%zu keys\n", keys);
    for (const double rate : {1.0 / 256, 0.01, 0.001, 0.0041}) measure(keys, rate, threads);
    std::printf("a map of a million keys\n");
    measure_map(1'000'000, threads);
    for (const std::size_t few : {1, 10, 100, 1000, 10'000, 100'000, 1'000'000}) {
        std::printf("%zu keys\n", few);
        measure(few, 0.01, threads);
    }
}
