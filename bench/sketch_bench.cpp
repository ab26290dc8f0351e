// Count-Min in 1 MiB over 10^8 items of a Zipf 1.1 stream of 10^7 keys (or as many as given): updates a
// second and errors, plain and conservative.
//
// A run adds the whole stream in batches of 64-bit keys; hashing is part of it, making the stream is not.
// Time is that of the thread, so others on the machine do not count. The mean error is over the different
// keys that came, and over the items of the stream (each key as often as it came); "beyond" is the share of
// the keys above the guarantee, of which δ are allowed.
//
//   scripts/build bench && build/bench/bench/posy-bench-sketch [ITEMS [KEYS [BYTES]]]
#include <ctime>

#include <cstdio>
#include <cstdlib>
#include <vector>

#include "posy/count_min.hpp"
#include "posy/theory.hpp"
#include "sketch/zipf.hpp"

namespace {

using namespace posy;

double thread_seconds() {
    timespec now{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

struct outcome {
    double seconds = 0, by_key = 0, by_item = 0, largest = 0, beyond = 0;
};

outcome measure(count_min& sketch, const stream& s) {
    outcome o;
    const double start = thread_seconds();
    sketch.add(std::span<const std::uint64_t>(s.items));
    o.seconds = thread_seconds() - start;
    double keys = 0;
    for (std::uint64_t key = 1; key < s.truth.size(); ++key) {
        if (s.truth[key] == 0) continue;
        const double truth = s.truth[key];
        const double excess = static_cast<double>(sketch.estimate(sketch.hash()(key))) - truth;
        if (excess < 0)
            std::fprintf(stderr, "key %llu is under-estimated\n", static_cast<unsigned long long>(key));
        ++keys;
        o.by_key += excess;
        o.by_item += excess * truth;
        o.largest = std::max(o.largest, excess);
        o.beyond += excess > sketch.error_bound();
    }
    o.by_key /= keys;
    o.beyond /= keys;
    o.by_item /= static_cast<double>(s.items.size());
    return o;
}

}  // namespace

int main(int argc, char** argv) {
    const auto argument = [&](int i, double otherwise) { return argc > i ? std::atof(argv[i]) : otherwise; };
    const auto items = static_cast<std::size_t>(argument(1, 1e8));
    const auto keys = static_cast<std::uint64_t>(argument(2, 1e7));
    const auto bytes = static_cast<std::uint64_t>(argument(3, 1 << 20));
    const stream s(1.1, keys, items, 1);
    std::vector<double> frequencies;
    for (const std::uint32_t f : s.truth)
        if (f > 0) frequencies.push_back(f);
    std::printf("%zu items, %zu different keys, %llu bytes\n", items, frequencies.size(),
                static_cast<unsigned long long>(bytes));
    for (const unsigned depth : {2u, 3u, 4u, 5u, 6u, 8u}) {
        outcome plain;
        for (const update_rule rule : {update_rule::plain, update_rule::conservative}) {
            auto sketch = *count_min::with_bytes(hasher(), bytes, depth, rule);
            const outcome o = measure(sketch, s);
            std::printf(
                "  %u rows %-12s %6.1f M/s  mean error %9.2f (an item %9.2f)  largest %8.0f  bound %6.0f  "
                "beyond %.1e (δ %.1e)",
                depth, std::string(name_of(rule)).c_str(), 1e-6 * static_cast<double>(items) / o.seconds,
                o.by_key, o.by_item, o.largest, sketch.error_bound(), o.beyond, sketch.delta());
            if (rule == update_rule::plain) {
                plain = o;
                std::printf("  predicted %9.2f\n",
                            theory::count_min_error(frequencies, static_cast<double>(sketch.width()), depth));
            } else {
                std::printf("  gain %.2f (%.2f)\n", plain.by_key / o.by_key, plain.by_item / o.by_item);
            }
        }
    }
}
