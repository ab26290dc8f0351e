#include <array>
#include <cstdio>
#include <posy/filter.hpp>
#include <thread>
#include <vector>

int main() {
    posy::filter<std::uint64_t> seen(2'000'000, 0.01);
    std::vector<std::uint64_t> keys(1'000'000);
    for (std::size_t i = 0; i < keys.size(); ++i) keys[i] = i * i;
    seen.insert(keys);

    const std::array<std::uint64_t, 4> asked{9, 10, 16, 17};
    std::array<bool, 4> answers{};
    const std::size_t yes = seen.may_contain(asked, answers);
    std::printf("%zu of 4: %d %d %d %d\n", yes, answers[0], answers[1], answers[2], answers[3]);

    std::vector<std::jthread> threads;
    for (std::uint64_t t = 0; t < 4; ++t) {
        threads.emplace_back([&seen, t] {
            for (std::uint64_t i = 0; i < 1000; ++i)
                seen.insert_concurrently(1'000'000'000'000 + 1000 * t + i);
        });
    }
    threads.clear();
    std::printf("%llu insertions\n", static_cast<unsigned long long>(*seen.items()));
}
