#include <cstdio>
#include <posy/filter.hpp>
#include <posy/secret_hash.hpp>
#include <string>

int main() {
    // Who does not know the seed cannot find keys that are false positives, or that fill the filter.
    const posy::hasher secret(posy::hash_family::siphash, *posy::hash::random_seed());
    posy::filter<std::string> seen(100'000, 0.001, secret);
    seen.insert("rose");
    std::printf("rose: %d\n", seen.may_contain("rose"));

    try {
        posy::filter<std::string> impossible(1'000'000, 0);
    } catch (const posy::exception& e) {
        std::printf("%s\n", e.what());
    }
}
