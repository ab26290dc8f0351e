#include "posy/message_size.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "posy/message.hpp"
#include "posy/theory.hpp"
#include "statistics.hpp"
#include "support.hpp"

namespace posy {
namespace {

bloom_filter filled(const plan& p, std::uint64_t seed, std::uint64_t replaced = 0) {
    auto filter = *bloom_filter::make(p.geometry());
    filter.insert(random_digests(p.items - replaced, seed));
    if (replaced > 0) filter.insert(random_digests(replaced, seed + 1'000'000));
    filter.set_items(p.items);
    filter.set_planned(p.promise());
    return filter;
}

// The sizes of messages, one per run.
class sizes : public sample {
  public:
    template <class Size>
    sizes(unsigned runs, Size size, std::string what = "messages") : sample(runs, std::move(what)) {
        for (unsigned run = 0; run < runs; ++run) add(static_cast<double>(size(run)));
    }
    // Five standard errors of the mean, the byte that every coding is rounded up to, and 0.05 % of the coder.
    // The seeds are fixed; one alarm in a million rows would be false.
    void expect(const message_size& expected) const {
        expect_mean(static_cast<double>(expected.total()), 5, 1.5 + 0.0005 * mean());
    }
};

TEST(message_size, raw_messages_to_the_byte) {
    for (const geometry& g : all_shapes()) {
        const auto p = *predict(100, g);
        EXPECT_EQ(expected_message(p, coding::raw).total(), to_bytes(filled(p, 1)).size()) << describe(g);
        if (g.layout != layout_id::spread) continue;
        for (const unsigned width : {4u, 8u}) {
            auto counting = *counting_filter::make(g, width);
            counting.insert(random_digests(100, 1));
            counting.set_planned(p.promise());
            EXPECT_EQ(expected_message(p, predict_counters(p, width), coding::raw).total(),
                      to_bytes(counting).size());
        }
    }
}

TEST(message_size, packed_filters_sparse_and_dense) {
    at_least rows(8 * 4 * 3 * 3 - 10, "shapes");
    for (const std::uint64_t items : {1u, 2u, 3u, 10u, 50u, 300u, 3'000u, 30'000u}) {
        for (const double bits_per_item : {2.0, 8.0, 15.0, 100.0}) {
            for (const unsigned hashes : {1u, 6u, 16u}) {
                for (const layout_id layout : {layout_id::spread, layout_id::blocked, layout_id::sliced}) {
                    const auto p = choose(
                        {.items = items, .bits_per_item = bits_per_item, .hashes = hashes, .layout = layout});
                    ASSERT_TRUE(p);
                    const sizes real(
                        12,
                        [&](unsigned run) {
                            return to_bytes(filled(*p, run), {.want = coding::smallest}).size();
                        },
                        std::to_string(items) + " items, " + describe(p->geometry()));
                    // Where some sets are coded and some are raw, padded to 64, neither is expected.
                    if (real.deviation() > 8 && items < 300) continue;
                    real.expect(expected_message(*p, coding::smallest));
                    ++rows;
                }
            }
        }
    }
}

// A dense array within a budget of 8 bits per item, by every coder that may get it: it really is that small.
TEST(message_size, a_dense_filter_keeps_its_budget) {
    for (const std::uint64_t items : {10'000u, 1'000'000u}) {
        for (const unsigned hashes : {10u, 16u, 32u}) {
            const auto p = *choose({.items = items, .message_bits_per_item = 8, .hashes = hashes});
            const auto filter = filled(p, 7);
            EXPECT_NEAR(filter.fill(), p.fill, 0.01);
            for (const coding want : {coding::smallest, coding::fastest}) {
                // The number of ones strays, and each of them is worth the logarithm of its odds: 4.5
                // deviations, the frame, and the coder's share.
                const auto n = static_cast<double>(items), m = static_cast<double>(p.bits);
                const double stray = 4.5 * std::sqrt(theory::zero_count_variance(n, m, hashes)) *
                                     std::abs(std::log2(p.fill / (1 - p.fill))) / 8;
                const auto bytes = static_cast<double>(to_bytes(filter, {.want = want}).size());
                EXPECT_NEAR(bytes, n, stray + 50 + 0.0005 * n) << hashes;
                EXPECT_LT(stray, 0.02 * n);
            }
        }
    }
}

// More than 2^23 bits, nearly all of them ones: coded by the zeros between them.
TEST(message_size, a_nearly_full_filter) {
    const auto p =
        *choose({.items = 2'000'000, .bits_per_item = 4.5, .hashes = 32, .layout = layout_id::spread});
    ASSERT_GT(p.fill, 0.999);
    const sizes real(
        4, [&](unsigned run) { return to_bytes(filled(p, run), {.want = coding::smallest}).size(); });
    const message_size expected = expected_message(p, coding::smallest);
    EXPECT_EQ(expected.codec, codec_id::gaps);
    real.expect(expected);
}

TEST(message_size, deltas) {
    for (const std::uint64_t items : {20u, 1'000u, 20'000u}) {
        for (const double change : {0.05, 0.5}) {
            for (const unsigned hashes : {2u, 5u, 20u}) {
                const auto replaced = static_cast<std::uint64_t>(change * static_cast<double>(items));
                const geometry g{10 * items, hashes, layout_id::spread};
                const auto p = *predict(items, g, change);
                const sizes real(
                    12,
                    [&](unsigned run) {
                        return to_bytes(*make_delta(filled(p, run), filled(p, run, replaced)),
                                        {.want = coding::smallest})
                            .size();
                    },
                    describe(g) + " change " + std::to_string(change));
                real.expect(expected_delta(p));
            }
        }
    }
}

TEST(message_size, counting_filters) {
    constexpr unsigned runs = 6;
    for (const layout_id layout : {layout_id::spread, layout_id::narrow, layout_id::blocked}) {
        for (const unsigned width : {4u, 8u}) {
            for (const std::uint64_t items : {30u, 1'000u, 50'000u}) {
                for (const double bits_per_item : {4.0, 12.0}) {
                    const auto p = *choose(
                        {.items = items, .bits_per_item = bits_per_item, .hashes = 5, .layout = layout});
                    const counting_plan c = predict_counters(p, width);
                    sample highest(runs);
                    const sizes real(runs, [&](unsigned run) {
                        auto filter = *counting_filter::make(p.geometry(), width);
                        filter.insert(random_digests(items, 100 + run));
                        filter.set_planned(p.promise());
                        std::uint64_t most = 0;
                        for (std::uint64_t i = 0; i < p.bits; ++i)
                            most = std::max<std::uint64_t>(most, filter.counters()[i]);
                        highest.add(static_cast<double>(most));
                        return to_bytes(filter, {.want = coding::smallest}).size();
                    });
                    // The coder of bytes strays by some bytes more than that of bits.
                    EXPECT_NEAR(static_cast<double>(expected_message(p, c, coding::smallest).total()),
                                real.mean(), 6 + 0.003 * real.mean())
                        << describe(p.geometry());
                    // A maximum strays by about one from filter to filter: five errors of the mean of six.
                    EXPECT_NEAR(c.highest_counter, highest.mean(), 2) << describe(p.geometry());
                }
            }
        }
    }
}

TEST(message_size, sealed_and_growing_filters) {
    at_least foreseen(3, "growing filters");
    for (const std::size_t size : {1u, 40u, 1'000u, 20'000u}) {
        const auto sealed = *sealed_filter::make(hasher(), random_digests(size, 3), {.rate = 0.01});
        const auto payload = 8 * static_cast<double>(sealed.bytes().size());
        EXPECT_EQ(expected_sealed_message(payload).total(), to_bytes(sealed).size());

        const growing_filter::options how{.rate = 0.01, .first_bytes = 4096};
        auto growing = *growing_filter::make(how);
        ASSERT_TRUE(growing.insert(random_digests(size, 4)));
        ASSERT_TRUE(growing.shrink());
        const auto expected = *growing_filter::expect(how, size);
        if (expected.bits != growing.bits()) continue;  // it may have come to another divisor
        EXPECT_NEAR(static_cast<double>(expected_message(expected).total()),
                    static_cast<double>(to_bytes(growing).size()),
                    4 + 0.01 * static_cast<double>(to_bytes(growing).size()))
            << size;
        ++foreseen;
    }
}

}  // namespace
}  // namespace posy
