#include <cstdio>
#include <posy/filter.hpp>
#include <string>

int main() {
    posy::filter<std::string> seen(1000, 0.001);
    seen.insert("rose");
    seen.save("seen.posy");

    const auto again = posy::filter<std::string>::load("seen.posy");
    if (!again) return std::printf("%s\n", again.error().text().c_str()), 1;
    std::printf("rose: %d, tulip: %d\n", again->may_contain("rose"), again->may_contain("tulip"));

    const auto none = posy::filter<std::string>::load("nothing.posy");
    std::printf("%s\n", none.error().text().c_str());
}
