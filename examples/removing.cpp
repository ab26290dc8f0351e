#include <cstdio>
#include <posy/typed/counting.hpp>
#include <string>

int main() {
    posy::typed::counting<std::string> cached(100'000, 0.01);  // items at any one time, false-positive rate
    cached.insert("/index.html");
    cached.insert("/logo.png");
    cached.remove("/index.html");
    std::printf("index: %d, logo: %d\n", cached.may_contain("/index.html"), cached.may_contain("/logo.png"));
    std::printf("removed what was never there: %d\n", cached.remove("/nothing"));
}
