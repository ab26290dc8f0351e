#include <chrono>
#include <iostream>
#include <posy/typed/counts.hpp>
#include <posy/typed/window.hpp>
#include <string>

int main() {
    using namespace std::chrono_literals;
    posy::typed::counts<std::string> visits(0.001, 0.01);  // error as a share of all, how often it is larger
    for (int i = 0; i < 10'000; ++i) visits.add(i % 10 == 0 ? "/" : "/page" + std::to_string(i));
    std::cout << "/: " << visits.estimate("/") << " of " << visits.total() << '\n';

    posy::typed::window<std::string> lately(10'000, 0.001, 1h);  // items in a window, rate, its length
    const auto noon = std::chrono::sys_days(std::chrono::year(2026) / 11 / 16) + 12h;
    lately.insert("Ada", noon);
    std::cout << "after 30 minutes: " << lately.may_contain("Ada", noon + 30min)
              << ", after two hours: " << lately.may_contain("Ada", noon + 2h) << '\n';
}
