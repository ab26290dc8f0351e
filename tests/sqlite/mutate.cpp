// Damaged values against the functions of SQL: each is an error or an answer, and the process lives.
//
//   sqlite-mutate INPUTS [SEED]
//
// Messages of every kind are changed with knowledge of their structure and made whole again
// (tests/hostile/mutation.hpp); every fourth is left damaged. Prints how many were refused.
#include <cstdio>

#include "database.hpp"
#include "hostile/seeds.hpp"

int main(int argc, char** argv) {
    using namespace posy;
    if (argc < 2) return std::fprintf(stderr, "usage: sqlite-mutate INPUTS [SEED]\n"), 2;
    const std::uint64_t inputs = std::strtoull(argv[1], nullptr, 10);
    hostile::dice dice(argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1);
    const auto seeds = hostile::small_messages(POSY_TESTDATA);
    database db;
    const char* const questions[] = {
        "SELECT may_contain(?1, 'key') + may_contain(?1, 7)",
        "SELECT items(?1)",
        "SELECT rate(?1)",
        "SELECT length(info(?1))",
        "SELECT lookup(?1, 'key')",
        "SELECT estimate(?1, 'key')",
        "SELECT intersection_size(?1, ?2)",
        "SELECT length(filter_union(f)) FROM (SELECT ?1 AS f UNION ALL SELECT ?2)",
    };
    std::uint64_t refused = 0, asked = 0;
    for (std::uint64_t i = 0; i < inputs; ++i) {
        const auto& seed = seeds[dice.below(seeds.size())];
        auto value = hostile::mutated_message(dice, seed, seeds);
        if (i % 4 == 3 && !value.empty())
            value[dice.below(value.size())] ^= static_cast<std::byte>(1 + dice.below(255));
        for (const char* question : questions) {
            ++asked;
            try {
                db.ask(question, {value, seed});
            } catch (const std::runtime_error&) {
                ++refused;
            }
        }
    }
    std::printf("%llu values, %llu questions, %llu refused\n", static_cast<unsigned long long>(inputs),
                static_cast<unsigned long long>(asked), static_cast<unsigned long long>(refused));
    // Neither may be all of them: then something else is wrong.
    return refused > 0 && refused < asked ? 0 : 1;
}
