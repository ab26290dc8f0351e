// What the three ways of reconciling cost: bytes and round trips until the difference is known, the share of
// it that was found and expected, what was looked up, and the seconds both sides took together.
//
//     scripts/build bench && build/bench/bench/posy-bench-reconcile [items = 1000000] [pairs = 5]
//
// Half of a difference is on either side; digests are random and of 64 bits.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <vector>

#include "posy/reconcile/session.hpp"

namespace {

using namespace posy;
using namespace posy::reconcile;

struct row {
    double bytes = 0, round_trips = 0, found = 0, expected = 0, visited = 0, seconds = 0;
};

void exchange(session& asking, session& answering) {
    while (!asking.done() || !answering.done()) {
        while (const auto message = asking.send()) {
            if (!answering.receive(*message)) std::abort();
        }
        while (const auto message = answering.send()) {
            if (!asking.receive(*message)) std::abort();
        }
    }
}

row reconcile_once(method how, std::size_t items, std::size_t differences, std::mt19937_64& random) {
    std::vector<digest> a(items - differences / 2);
    for (digest& d : a) d = {random(), 0};
    std::vector<digest> b = a;
    for (std::size_t i = 0; i < differences; ++i) (i % 2 == 0 ? a : b).push_back({random(), 0});
    const digest_set mine(hasher(), digest_width::half, std::move(a));
    const digest_set theirs(hasher(), digest_width::half, std::move(b));
    const auto start = std::chrono::steady_clock::now();
    session asking = *session::ask(mine, {.method = how});
    session answering = session::answer(theirs, {.method = how});
    exchange(asking, answering);
    row r;
    r.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    const outcome& o = asking.found();
    r.bytes = static_cast<double>(o.finding.sent + o.finding.received);
    r.round_trips = static_cast<double>(o.finding.round_trips);
    r.found =
        static_cast<double>(o.only_here.size() + o.only_there.size()) / static_cast<double>(differences);
    r.expected = (o.here_expected + o.there_expected) / 2;
    r.visited = static_cast<double>(o.elements_visited + o.nodes_visited) / static_cast<double>(items);
    return r;
}

}  // namespace

int main(int argc, char** argv) {
    const std::size_t items = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 1'000'000;
    const int pairs = argc > 2 ? std::atoi(argv[2]) : 5;
    std::printf("%-7s %12s %12s %12s %7s %8s %9s %9s %8s\n", "way", "differences", "bytes", "an element",
                "trips", "found", "expected", "looked up", "seconds");
    for (const method how : {method::exact, method::filter, method::tree}) {
        for (const std::size_t differences : {2u, 10u, 100u, 1'000u, 10'000u, 100'000u}) {
            if (differences > items) continue;
            std::mt19937_64 random(differences);
            row sum;
            for (int i = 0; i < pairs; ++i) {
                const row r = reconcile_once(how, items, differences, random);
                sum.bytes += r.bytes / pairs;
                sum.round_trips += r.round_trips / pairs;
                sum.found += r.found / pairs;
                sum.expected += r.expected / pairs;
                sum.visited += r.visited / pairs;
                sum.seconds += r.seconds / pairs;
            }
            std::printf("%-7s %12zu %12.0f %12.2f %7.2f %8.4f %9.4f %8.2f%% %8.3f\n", name_of(how).data(),
                        differences, sum.bytes, sum.bytes / static_cast<double>(differences), sum.round_trips,
                        sum.found, sum.expected, 100 * sum.visited, sum.seconds);
        }
    }
}
