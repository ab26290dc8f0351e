#include <cstdio>
#include <posy/gates/leveldb_pairs.hpp>
#include <posy/store/differential.hpp>

int main() {
    const auto base = *posy::gates::leveldb_pairs::open("base");
    const auto changes = *posy::gates::leveldb_pairs::open("changes");
    auto file = *posy::store::differential::open(*base, *changes, {.changes = 1'000, .rate = 0.01});

    *file.put("ann", "London");
    *file.put("bob", "Paris");
    *file.erase("bob");
    std::printf("ann: %s, bob: %s\n", (*file.get("ann"))->c_str(), *file.get("bob") ? "there" : "gone");

    *file.merge();  // at night
    std::printf("ann in the base: %s\n", (*base->get("ann"))->c_str());
    *file.get("ann");
    const auto& c = file.counters();
    std::printf("reads: %d, of the base: %d\n", int(c.reads), int(c.base_reads));
}
