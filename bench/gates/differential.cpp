// What the filter of a differential file saves: reads of a store of which 1 % of the keys have changed, from
// both stores in turn, and where the filter says.
//
//     scripts/build bench && build/bench/bench/posy-bench-differential sqlite|leveldb [keys = 1000000] [reads
//     = 200000]
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <random>
#include <string>

#include "posy/gates/leveldb_pairs.hpp"
#include "posy/gates/sqlite_pairs.hpp"
#include "posy/store/differential.hpp"

namespace {

using namespace posy;

template <class T>
T take(result<T> value) {
    if (!value) {
        std::fprintf(stderr, "posy-bench-differential: %s\n", value.error().text().c_str());
        std::exit(2);
    }
    if constexpr (!std::is_void_v<T>) return std::move(*value);
}

std::string key_number(std::uint64_t i) { return "key" + std::to_string(i * 0x9e3779b97f4a7c15); }

std::unique_ptr<store::pairs> open(const std::string& kind, const std::string& path) {
    if (kind == "leveldb") return take(gates::leveldb_pairs::open(path, false));
    return take(gates::sqlite_pairs::open(path, false));
}

void fill(store::pairs& base, std::uint64_t keys) {
    std::vector<store::change> batch;
    for (std::uint64_t i = 0; i < keys; ++i) {
        batch.push_back({key_number(i), std::string(100, 'o')});
        if (batch.size() < 10'000 && i + 1 < keys) continue;
        take(base.write(batch));
        batch.clear();
    }
}

constexpr unsigned rounds = 10;
struct timing {
    double seconds = 0;
    std::uint64_t changed = 0;  // of the keys that were read

    timing& operator+=(const timing& more) {
        seconds += more.seconds;
        changed += more.changed;
        return *this;
    }
};
// Of so many reads of random keys, by read(key).
template <class Read>
timing time_reads(std::uint64_t keys, std::uint64_t reads, unsigned seed, const Read& read) {
    std::mt19937_64 random(seed);
    std::uint64_t changed = 0;
    const auto start = std::chrono::steady_clock::now();
    for (std::uint64_t i = 0; i < reads; ++i) changed += read(key_number(random() % keys)) == "new";
    return {std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(), changed};
}

}  // namespace

int main(int argc, char** argv) {
    const std::string kind = argc > 1 ? argv[1] : "sqlite";
    const std::uint64_t keys = argc > 2 ? std::stoull(argv[2]) : 1'000'000;
    const std::uint64_t reads = argc > 3 ? std::stoull(argv[3]) : 200'000;
    std::string folder = std::filesystem::temp_directory_path() / "posy-bench-XXXXXX";
    if (mkdtemp(folder.data()) == nullptr) return 2;
    {
        const auto base = open(kind, folder + "/base"), changes = open(kind, folder + "/changes");
        fill(*base, keys);
        auto file = take(store::differential::open(*base, *changes, {.changes = keys / 100, .rate = 0.01}));
        for (std::uint64_t i = 0; i < keys; i += 100) take(file.put(key_number(i), "new"));

        timing both, filtered;
        for (unsigned round = 0; round < rounds; ++round) {  // in turn, so that noise meets both
            both += time_reads(keys, reads / rounds, round, [&](const std::string& key) {
                // As the entries of the changes are: a mark before the value.
                if (const auto entry = take(changes->get(key))) return entry->substr(1);
                return *take(base->get(key));
            });
            filtered += time_reads(keys, reads / rounds, rounds + round,
                                   [&](const std::string& key) { return *take(file.get(key)); });
        }
        const auto& c = file.counters();
        const auto each = static_cast<double>(reads / rounds * rounds);
        std::printf("%s, %llu keys, 1 %% changed\n", kind.c_str(), static_cast<unsigned long long>(keys));
        std::printf("both stores   %.4f accesses, %.2f us per read\n",
                    2 - static_cast<double>(both.changed) / each, 1e6 * both.seconds / each);
        std::printf("by the filter %.4f accesses, %.2f us per read, %.2f times as fast\n",
                    static_cast<double>(c.base_reads + c.change_reads) / static_cast<double>(c.reads),
                    1e6 * filtered.seconds / each, both.seconds / filtered.seconds);
        const auto start = std::chrono::steady_clock::now();
        take(file.merge());
        std::printf("merged in %.2f s\n",
                    std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
    }
    std::filesystem::remove_all(folder);
}
