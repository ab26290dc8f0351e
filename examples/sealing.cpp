#include <cstdio>
#include <map>
#include <posy/typed/map.hpp>
#include <posy/typed/sealed.hpp>
#include <string>
#include <vector>

int main() {
    std::vector<std::string> list;
    std::map<std::string, int> ranks;
    for (int i = 0; i < 100'000; ++i) {
        list.push_back("word" + std::to_string(i));
        ranks[list.back()] = i % 100;
    }

    const posy::typed::sealed<std::string> words(list, 0.001);
    std::printf("%.1f bits per key, word5: %d\n", words.bits_per_key(), words.may_contain("word5"));

    const posy::typed::map<std::string, int> rank_of(ranks, 0.001);
    std::printf("%.1f bits per key, word5 has rank %d\n", rank_of.bits_per_key(), *rank_of.find("word5"));
}
