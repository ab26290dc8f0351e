// Key bytes → digests, many keys a call, in every family.
#include "support.hpp"

namespace posy::bench {
namespace {

constexpr std::size_t count = 4096;  // the digests stay in the cache

template <class Key>
void hash_all(benchmark::State& state, hash_family family, const std::vector<Key>& keys) {
    std::vector<digest> digests(keys.size());
    const hasher hash(family);
    for (auto _ : state) {
        hash(keys, digests);
        benchmark::DoNotOptimize(digests.data());
    }
    per_item(state, keys.size());
}

const bool registered = [] {
    for (const hash_family family : hash_families()) {
        const std::string name = "hash/" + std::string(name_of(family));
        benchmark::RegisterBenchmark((name + "/integers").c_str(), [=](benchmark::State& state) {
            hash_all(state, family, random_keys(count));
        });
        const auto text = [=](benchmark::State& state) {
            const auto length = static_cast<std::size_t>(state.range(0));
            const std::string bytes(count + length, 'x');
            std::vector<std::string_view> keys;
            for (std::size_t i = 0; i < count; ++i) keys.push_back(std::string_view(bytes).substr(i, length));
            hash_all(state, family, keys);
        };
        benchmark::RegisterBenchmark((name + "/text").c_str(), text)->Arg(8)->Arg(36)->Arg(256);
    }
    return true;
}();

}  // namespace
}  // namespace posy::bench
