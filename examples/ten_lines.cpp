#include <cstdio>
#include <posy/filter.hpp>

int main() {
    posy::filter<int> seen(1'000'000, 0.001);  // items, false-positive rate
    for (int i = 0; i < 1'000'000; ++i) seen.insert(i);
    int mistaken = 0;
    for (int i = 1'000'000; i < 11'000'000; ++i) mistaken += seen.may_contain(i);
    std::printf("%d of ten million absent keys seem to be there\n", mistaken);
}
