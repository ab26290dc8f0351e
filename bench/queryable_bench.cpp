// The queryable forms beside the raw array: how many bytes over log2 C(m, x), and how long a lookup takes.
//
// A lookup asks for one random bit; the next does not wait for its answer. "ahead" fetches memory 8 lookups
// earlier. Every figure is the best of 7 passes over 2^20 positions, the raw array's taken in between.
//
//   c++ -std=c++20 -O2 -DPOSY_MD5 -Iinclude -Isrc bench/queryable_bench.cpp src/*/*.cpp -lxxhash -lcrypto
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <vector>

#include "codec/elias_fano.hpp"
#include "codec/position_list.hpp"
#include "codec/rice_blocks.hpp"
#include "posy/bit_array.hpp"
#include "posy/compressed_filter.hpp"
#include "posy/layout/probe.hpp"
#include "posy/theory.hpp"

namespace {

using namespace posy;

struct sample {
    bit_array bits;
    std::vector<std::uint64_t> positions;
};

template <class Work>
double nanoseconds_each(std::size_t count, Work work) {
    const auto start = std::chrono::steady_clock::now();
    work();
    const std::chrono::duration<double, std::nano> passed = std::chrono::steady_clock::now() - start;
    return passed.count() / static_cast<double>(count);
}

[[noreturn]] void give_up(const char* what) {
    std::fprintf(stderr, "queryable_bench: %s\n", what);
    std::exit(1);
}

template <class Form>
void measure(const char* name, const sample& s, const std::vector<std::byte>& bytes) {
    const auto opened = Form::open(bytes, s.bits.size());
    if (!opened) give_up(opened.error().text().c_str());
    const Form& form = *opened;
    for (const std::uint64_t p : s.positions) {
        if (form.test(p) != s.bits.test(p)) give_up("a wrong answer");
    }
    double one = 1e9, ahead = 1e9, raw = 1e9;
    std::uint64_t yes = 0;
    const std::size_t count = s.positions.size();
    for (int pass = 0; pass < 7; ++pass) {
        one = std::min(one, nanoseconds_each(count, [&] {
                           for (const std::uint64_t p : s.positions) yes += form.test(p);
                       }));
        raw = std::min(raw, nanoseconds_each(count, [&] {
                           for (const std::uint64_t p : s.positions) yes += s.bits.test(p);
                       }));
        ahead = std::min(ahead, nanoseconds_each(count, [&] {
                             for (std::size_t i = 0; i < count; ++i) {
                                 form.prefetch(s.positions[std::min(i + 8, count - 1)]);
                                 yes += form.test(s.positions[i]);
                             }
                         }));
    }
    const double ideal =
        theory::log2_binomial(static_cast<double>(s.bits.size()), static_cast<double>(s.bits.ones())) / 8;
    std::printf("  %-6s %11zu bytes  %+8.2f %%  %7.1f ns  %7.1f ns ahead  %5.1f ns raw  x %-6.1f%s\n", name,
                bytes.size(), 100 * (static_cast<double>(bytes.size()) / ideal - 1), one, ahead, raw,
                one / raw, yes == 0 ? " (all no)" : "");
}

// Whole keys that are absent: the first zero ends the question.
void measure_keys(const bloom_filter& filter, queryable_form form, const char* name) {
    const auto compressed = compressed_filter::make(filter, form);
    if (!compressed) give_up(compressed.error().text().c_str());
    std::mt19937_64 random(99);
    std::vector<digest> digests(1 << 19);
    for (digest& d : digests) d = {random(), random()};
    const std::unique_ptr<bool[]> answers(new bool[digests.size()]);
    double one = 1e9, batch = 1e9, raw = 1e9;
    std::size_t yes = 0;
    for (int pass = 0; pass < 5; ++pass) {
        one = std::min(one, nanoseconds_each(digests.size(), [&] {
                           for (const digest d : digests) yes += compressed->may_contain(d);
                       }));
        batch = std::min(batch, nanoseconds_each(digests.size(), [&] {
                             yes += compressed->may_contain(digests, {answers.get(), digests.size()});
                         }));
        raw = std::min(raw, nanoseconds_each(digests.size(), [&] {
                           for (const digest d : digests) yes += filter.may_contain(d);
                       }));
    }
    std::printf("  %-6s absent keys: %7.1f ns  %7.1f ns in a batch  %5.1f ns in the filter  (%zu yes)\n",
                name, one, batch, raw, yes);
}

}  // namespace

int main() {
    struct shape {
        std::uint64_t bits_per_item;
        unsigned hashes;
    };
    for (const std::uint64_t items : {std::uint64_t{10'000}, std::uint64_t{10'000'000}}) {
        for (const auto [per_item, hashes] : {shape{14, 2}, shape{92, 1}}) {
            const geometry g{items * per_item, hashes, layout_id::spread};
            auto filter = *bloom_filter::make(g);
            std::mt19937_64 random(1);
            for (std::uint64_t i = 0; i < items; ++i) filter.insert({random(), random()});
            sample s{*filter.bits().clone(), std::vector<std::uint64_t>(1 << 20)};
            for (std::uint64_t& p : s.positions) p = layouts::scale(random(), g.bits);
            const codec::bit_view view{s.bits.words(), g.bits, s.bits.ones()};
            std::printf("n = %llu, (%llu, %u)\n", static_cast<unsigned long long>(items),
                        static_cast<unsigned long long>(per_item), hashes);
            measure<codec::rice_blocks>("small", s, codec::encode_rice_blocks(view));
            measure<codec::elias_fano>("fast", s, codec::encode_elias_fano(view));
            measure<codec::position_list>("list", s, codec::encode_position_list(view));
            measure_keys(filter, queryable_form::small, "small");
            measure_keys(filter, queryable_form::fast, "fast");
        }
    }
}
