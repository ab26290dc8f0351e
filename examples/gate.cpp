#include <chrono>
#include <cstdio>
#include <posy/gate.hpp>
#include <string>
#include <unordered_map>

int main() {
    using users_gate = posy::gate<std::string, int>;
    std::unordered_map<std::string, int> table;  // stands for a slow database
    for (int i = 0; i < 10'000; ++i) table["user" + std::to_string(i)] = i;

    const users_gate::store store{
        [&](std::span<const std::string> keys, std::span<std::optional<int>> answers) {
            for (std::size_t i = 0; i < keys.size(); ++i)
                if (const auto found = table.find(keys[i]); found != table.end()) answers[i] = found->second;
            return posy::result<void>();
        },
        [&](const auto& visit) {
            for (const auto& [name, number] : table) visit(name);
            return posy::result<void>();
        }};
    auto gate = *users_gate::open(store, {.items = 10'000, .rate = 0.01, .batch = 100});

    int found = 0;
    const auto now = [] { return std::chrono::steady_clock::now(); };
    for (int i = 0; i < 200'000; ++i)  // 5 % are there
        *gate.find("user" + std::to_string(i), now(),
                   [&](const std::optional<int>& user) { found += user.has_value(); });
    *gate.flush(now());
    std::printf("%d found\n", found);
    std::printf("at least 50 times fewer queries: %d\n", gate.counters().queries < 200'000 / 50);

    table["guest"] = 7;  // first the store, then the gate
    *gate.insert("guest");
    *gate.find("guest", now(), [](const std::optional<int>& user) { std::printf("guest is %d\n", *user); });
    *gate.flush(now());
}
