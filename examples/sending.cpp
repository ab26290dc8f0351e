#include <cstdio>
#include <posy/message.hpp>
#include <posy/plan.hpp>

int main() {
    // 8 bits per item on the wire: a larger, sparser array, compressed, has half the rate of one of 8 bits.
    const auto plan = posy::choose({.items = 100'000, .message_bits_per_item = 8});
    auto filter = *posy::bloom_filter::make(plan->geometry());
    const auto hash = filter.hash();
    for (int i = 0; i < 100'000; ++i) filter.insert(hash(i));

    const auto message = posy::to_bytes(filter, {.want = posy::coding::smallest});
    std::printf("%.2f bits per item, rate %.4f\n", 8.0 * double(message.size()) / 100'000,
                filter.false_positive_rate());

    const auto received = posy::from_bytes(message);
    std::printf("the same bits: %d\n", std::get<posy::bloom_filter>(received->body) == filter);
}
