// The batches of bench/python/run.py in C++: KEYS RATE PASSES. Prints nanoseconds per key of an insertion and
// of a query.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <random>
#include <vector>

#include "posy/filter.hpp"

int main(int, char** arguments) {
    const auto count = std::strtoull(arguments[1], nullptr, 10);
    const double rate = std::strtod(arguments[2], nullptr);
    const int passes = std::atoi(arguments[3]);
    std::mt19937_64 random(1);
    std::vector<std::uint64_t> keys(count);
    for (auto& key : keys) key = random();
    const auto answers = std::make_unique<bool[]>(count);
    double insert = 1e300, query = 1e300;
    const auto seconds = [](auto work) {
        const auto start = std::chrono::steady_clock::now();
        work();
        return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    };
    for (int pass = 0; pass < passes; ++pass) {
        posy::filter<std::uint64_t> f(count, rate);
        insert = std::min(insert, seconds([&] { f.insert(keys); }));
        query = std::min(query, seconds([&] { f.may_contain(keys, {answers.get(), count}); }));
    }
    std::printf("%.3f %.3f\n", 1e9 * insert / static_cast<double>(count),
                1e9 * query / static_cast<double>(count));
}
