#include <cstdio>
#include <posy/filter.hpp>
#include <string>
#include <tuple>
#include <utility>

namespace shop {
struct order {
    std::string customer;
    int number;
};
auto posy_key(const order& o) { return std::tie(o.customer, o.number); }
}  // namespace shop

int main() {
    posy::filter<shop::order> shipped(1000, 0.001);
    shipped.insert({"Ada", 7});
    std::printf("Ada 7: %d, Ada 8: %d\n", shipped.may_contain({"Ada", 7}), shipped.may_contain({"Ada", 8}));

    posy::filter<std::pair<int, int>> crossings(1000, 0.001);
    crossings.insert({3, 4});
    std::printf("(3, 4): %d, (4, 3): %d\n", crossings.may_contain({3, 4}), crossings.may_contain({4, 3}));
}
