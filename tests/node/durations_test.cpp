#include "node/durations.hpp"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "node/metrics.hpp"

namespace posy::node {
namespace {

using namespace std::chrono_literals;

TEST(Durations, ABoundBelongsToItsBucketAndBucketsAddUp) {
    durations d;
    d.add(500us);    // exactly the first bound
    d.add(501us);    // the second
    d.add(-1s);      // a clock that was set back counts as no time
    d.add(30s);      // the last bound
    d.add(10'000s);  // beyond all
    const auto now = d.read();
    EXPECT_EQ(now.up_to[0], 2U);
    EXPECT_EQ(now.up_to[1], 3U);
    EXPECT_EQ(now.up_to[durations::bounds.size() - 2], 3U);
    EXPECT_EQ(now.up_to[durations::bounds.size() - 1], 4U);
    EXPECT_EQ(now.count(), 5U);
    EXPECT_NEAR(now.seconds, 10'030.001001, 1e-9);
}

TEST(Durations, ThreadsLoseNothing) {
    durations d;
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i)
        threads.emplace_back([&d] {
            for (int n = 0; n < 10'000; ++n) d.add(1ms);
        });
    for (auto& each : threads) each.join();
    EXPECT_EQ(d.read().count(), 40'000U);
    EXPECT_NEAR(d.read().seconds, 40.0, 1e-9);
}

TEST(Durations, AHistogramIsOneFamily) {
    durations d;
    d.add(2ms);
    metrics m;
    m.histogram("took_seconds", "How long", d.read(), metrics::label("path", "/"));
    const auto text = m.text();
    EXPECT_TRUE(text.starts_with("# HELP took_seconds How long\n# TYPE took_seconds histogram\n")) << text;
    EXPECT_NE(text.find("took_seconds_bucket{path=\"/\",le=\"0.001\"} 0\n"), std::string::npos) << text;
    EXPECT_NE(text.find("took_seconds_bucket{path=\"/\",le=\"0.0025\"} 1\n"), std::string::npos) << text;
    EXPECT_NE(text.find("took_seconds_bucket{path=\"/\",le=\"+Inf\"} 1\n"), std::string::npos) << text;
    EXPECT_NE(text.find("took_seconds_sum{path=\"/\"} 0.002\n"), std::string::npos) << text;
    EXPECT_TRUE(text.ends_with("took_seconds_count{path=\"/\"} 1\n")) << text;
    EXPECT_EQ(m.samples().size(), durations::bounds.size() + 3);
}

}  // namespace
}  // namespace posy::node
