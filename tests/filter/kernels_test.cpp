// Every kernel gives the bits of the scalar one: every layout, every number of hashes, batches of every
// shape.
#include "filter/kernels.hpp"

#include <random>

#include "filter/counting_kernels.hpp"
#include "layout/all.hpp"
#include "posy/counting_filter.hpp"
#include "support.hpp"

namespace posy {
namespace {

using base::instruction_set;

std::vector<geometry> every_number_of_hashes(std::uint64_t bits) {
    std::vector<geometry> shapes;
    for (const layout_id layout : members<layout_id>) {
        for (unsigned hashes = 1; hashes <= 32; ++hashes) {
            const geometry g{round_up_bits(bits, hashes, layout), hashes, layout};
            if (check(g)) shapes.push_back(g);
        }
    }
    return shapes;
}

// What a layout's own positions make of the digests.
bit_array set_one_by_one(const geometry& g, std::span<const digest> digests) {
    auto bits = *bit_array::make(g.bits);
    layouts::with_layout(g, [&](const auto& layout) {
        for (const digest d : digests)
            layout.positions(d, [&](std::uint64_t position) { return bits.set(position), true; });
    });
    return bits;
}

TEST(kernels, insert_and_look_up_like_the_positions) {
    const auto in = random_digests(400, 1), out = random_digests(400, 2);
    for (const geometry& g : every_number_of_hashes(6000)) {
        const auto expected = set_one_by_one(g, in);
        for (const instruction_set set : base::instruction_sets()) {
            SCOPED_TRACE(describe(g) + " " + std::string(name_of(set)));
            const auto& kernel = kernels::kernel_for(g, set);
            // With a window behind, and the tail without one.
            auto bits = *bit_array::make(g.bits);
            const std::size_t most = in.size() - kernels::window;
            kernel.fetch(bits.words().data(), g, in.data(), kernels::window);
            kernel.insert(bits.words().data(), g, in.data(), most, true);
            kernel.insert(bits.words().data(), g, in.data() + most, kernels::window, false);
            ASSERT_TRUE(bits == expected);

            for (const auto& digests : {in, out}) {
                const std::unique_ptr<bool[]> answers(new bool[digests.size()]);
                std::size_t yes = 0;
                for (const std::size_t count : {std::size_t{0}, std::size_t{1}, std::size_t{63}, most}) {
                    const bool more = count == most;
                    yes = kernel.may_contain(bits.words().data(), g, digests.data(), count, more,
                                             answers.get());
                    std::size_t expected_yes = 0;
                    for (std::size_t i = 0; i < count; ++i) {
                        const bool there = layouts::with_layout(g, [&](const auto& layout) {
                            return layout.positions(digests[i],
                                                    [&](std::uint64_t p) { return expected.test(p); });
                        });
                        ASSERT_EQ(answers[i], there) << i;
                        ASSERT_EQ(
                            kernel.may_contain_one(bits.words().data(), g, digests[i].low, digests[i].high),
                            there);
                        expected_yes += there;
                    }
                    ASSERT_EQ(yes, expected_yes);
                }
            }
        }
    }
}

// Through the public batches, in arrays below and above the size from which memory is asked for ahead, of
// digests, integers and text, with tails of every length around the window and the piece.
TEST(kernels, batches_of_any_length_equal_single_calls) {
    for (const std::uint64_t bits :
         {std::uint64_t{20'000}, kernels::cached_bits + 1024, kernels::cached_probe_bits + 1024}) {
        for (const layout_id layout : members<layout_id>) {
            const unsigned hashes = layout == layout_id::sliced ? 4 : 8;
            const geometry g{round_up_bits(bits, hashes, layout), hashes, layout};
            for (const std::size_t count : {0u, 1u, 63u, 64u, 65u, 127u, 575u, 576u, 577u, 1500u}) {
                SCOPED_TRACE(describe(g) + " " + std::to_string(count));
                std::vector<std::uint64_t> keys(count);
                for (std::size_t i = 0; i < count; ++i) keys[i] = i * i + 7;
                std::vector<std::string> texts(count);
                for (std::size_t i = 0; i < count; ++i) texts[i] = std::to_string(keys[i]);
                const std::vector<std::string_view> views(texts.begin(), texts.end());

                auto one = *bloom_filter::make(g), many = *bloom_filter::make(g);
                for (const std::uint64_t key : keys) one.insert(one.hash()(key));
                for (const std::string_view text : views) one.insert(one.hash()(text));
                many.insert(keys);
                many.insert(views);
                ASSERT_TRUE(one == many);
                ASSERT_EQ(one.items(), many.items());

                const std::unique_ptr<bool[]> answers(new bool[count]);
                EXPECT_EQ(many.may_contain(std::span<const std::uint64_t>(keys), {answers.get(), count}),
                          count);
                EXPECT_EQ(many.may_contain(std::span<const std::string_view>(views), {answers.get(), count}),
                          count);
                std::vector<std::uint64_t> others(count);
                for (std::size_t i = 0; i < count; ++i) others[i] = ~keys[i];
                many.may_contain(std::span<const std::uint64_t>(others), {answers.get(), count});
                for (std::size_t i = 0; i < count; ++i)
                    ASSERT_EQ(answers[i], one.may_contain(one.hash()(others[i]))) << i;
            }
        }
    }
}

// Keys come and go, often enough in one line that counters saturate; a removal that must be refused is among
// them. Every kernel leaves the same counters, bits, flips and counts as the scalar one.
TEST(kernels, counting_lines_change_like_single_counters) {
    for (unsigned hashes = 1; hashes <= 16; ++hashes) {
        const geometry g{256, hashes, layout_id::narrow};
        const auto pool = random_digests(20, hashes);
        struct state {
            counter_array counters;
            bit_array projection, flipped;
            std::uint64_t flipped_count = 0;
        };
        const auto run = [&](instruction_set set, std::vector<bool>& log) {
            state s{*counter_array::make(g.bits, 4), *bit_array::make(g.bits), *bit_array::make(g.bits)};
            kernels::counting_arrays arrays{s.counters, s.projection, &s.flipped, s.flipped_count};
            const auto& kernel = kernels::counting_kernel_for(g, 4, set);
            std::mt19937_64 random(5);
            for (int step = 0; step < 900; ++step) {
                std::vector<digest> batch(1 + random() % 3);
                for (digest& d : batch) d = pool[random() % pool.size()];
                bool removed[3];
                if (random() % 5 < 3) {
                    kernel.insert(arrays, g, batch.data(), batch.size(), false);
                } else {
                    const std::size_t yes =
                        kernel.remove(arrays, g, batch.data(), batch.size(), false, removed);
                    for (std::size_t i = 0; i < batch.size(); ++i) log.push_back(removed[i]);
                    log.push_back(yes % 2 != 0);
                }
            }
            return s;
        };
        std::vector<bool> reference_log;
        const state reference = run(instruction_set::scalar, reference_log);
        EXPECT_GT(reference.counters.saturated(), 0u);
        for (const instruction_set set : base::instruction_sets()) {
            SCOPED_TRACE(std::to_string(hashes) + " " + std::string(name_of(set)));
            std::vector<bool> log;
            const state s = run(set, log);
            EXPECT_TRUE(s.counters == reference.counters);
            EXPECT_TRUE(s.projection == reference.projection);
            EXPECT_TRUE(s.flipped == reference.flipped);
            EXPECT_EQ(s.flipped_count, reference.flipped_count);
            EXPECT_EQ(s.counters.saturated(),
                      counter_array::from_cells(*s.counters.cells().clone(), 4).saturated());
            EXPECT_EQ(log, reference_log);
        }
    }
}

}  // namespace
}  // namespace posy
