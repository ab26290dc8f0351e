#include <cstdio>
#include <posy/bloom_filter.hpp>
#include <posy/plan.hpp>

int main() {
    const auto plan = posy::choose({.items = 1'000'000, .rate = 0.001});
    auto filter = posy::bloom_filter::make(plan->geometry());
    const auto hash = filter->hash();
    for (int i = 0; i < 1'000'000; ++i) filter->insert(hash(i));
    int mistaken = 0;
    for (int i = 1'000'000; i < 11'000'000; ++i) mistaken += filter->may_contain(hash(i));
    std::printf("%.1f bits per item, %.0f of ten million absent keys expected, %d seen\n",
                plan->bits_per_item(), 1e7 * plan->false_positive_rate, mistaken);
}
