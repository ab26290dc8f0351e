// Measures every contender on the same keys in one process, round by round, and writes what it saw as JSON.
//
// A round runs all contenders one after the other, each round beginning with another one, so that a slow
// minute of the machine falls on all of them; ratios are taken within a round. Every repetition is kept. What
// was inserted must be found, or the run is void.
#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <regex>

#include "keys.hpp"
#include "machine.hpp"

namespace {

using namespace compare;
using nlohmann::json;

struct options {
    std::vector<std::uint64_t> keys{1'000'000, 10'000'000};
    std::vector<double> bits{10, 12};
    std::vector<std::string> suites{"integers", "strings", "counting"};
    unsigned rounds = 5;
    unsigned threads = 2;
    std::uint64_t most_queries = 10'000'000;
    std::string only = ".*";
    std::string out = "compare.json";
};

// Seconds that this thread had a core, so that whoever else runs on the machine is not measured too; what
// runs on several threads is measured by the clock on the wall.
double seconds(clockid_t clock) {
    timespec now{};
    clock_gettime(clock, &now);
    return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

[[noreturn]] void give_up(const std::string& why) {
    fmt::print(stderr, "compare: {}\n", why);
    std::exit(2);
}

// All that is learnt of one contender at one size: nanoseconds per key of every round, by cell.
struct record {
    std::map<std::string, std::vector<double>> nanoseconds;
    std::uint64_t bytes = 0;
    std::optional<double> rate;
};

template <class Key>
struct workload {
    std::uint64_t keys;
    double bits_per_key;
    key_list<Key> inserted, present, absent;
    std::unique_ptr<bool[]> answers;

    workload(const key_indices& at, double bits)
        : keys(at.keys),
          bits_per_key(bits),
          inserted(at.keys, [&](std::uint64_t i) { return at.inserted(i); }),
          present(at.queries, [&](std::uint64_t i) { return at.present(i); }),
          absent(at.queries, [&](std::uint64_t i) { return at.absent(i); }),
          answers(new bool[std::max(at.keys, at.queries)]) {}
};

template <class Key>
class round {
  public:
    round(const contender<Key>& who, const workload<Key>& work, unsigned threads, record& into)
        : who_(who), work_(work), threads_(threads), into_(into) {}

    void run() {
        const std::span<const Key> all = work_.inserted;
        insert("insert", operation::insert);
        insert("insert batched", operation::insert_batch);
        if (usable_cores() >= threads_) insert("insert threads", operation::insert_threads);
        into_.bytes = subject_->bytes();
        into_.rate =
            who_.about.is_floor ? std::nullopt : rate_of(time("absent", operation::contains, work_.absent));
        all_found(time("present", operation::contains, work_.present), work_.present);
        time("absent batched", operation::contains_batch, work_.absent);
        all_found(time("present batched", operation::contains_batch, work_.present), work_.present);
        const std::size_t half = all.size() / 2;
        all_found(time("remove", operation::remove, all.first(half)), all.first(half));
        all_found(time("remove batched", operation::remove_batch, all.subspan(half)), all.subspan(half));
    }

  private:
    // Into a fresh one; the one that remains is asked.
    void insert(const char* cell, operation what) {
        if (!is_able(what)) return;
        subject_.reset();
        note("make", CLOCK_THREAD_CPUTIME_ID, work_.keys, [&] {
            subject_ = who_.make(work_.keys, work_.bits_per_key);
            return true;
        });
        time(cell, what, work_.inserted);
    }
    bool is_able(operation what) const {
        return who_.make(1000, 10)->run(what, {}, {}, threads_).has_value();
    }
    std::optional<std::size_t> time(const char* cell, operation what, std::span<const Key> keys) {
        const std::span answers(work_.answers.get(), keys.size());
        const clockid_t clock = what == operation::insert_threads ? CLOCK_MONOTONIC : CLOCK_THREAD_CPUTIME_ID;
        return note(cell, clock, keys.size(), [&] { return subject_->run(what, keys, answers, threads_); });
    }
    // Does the work and notes what it took a key, if it could be done.
    template <class Work>
    auto note(const char* cell, clockid_t clock, std::uint64_t keys, Work work) {
        const double start = seconds(clock);
        const auto done = work();
        const double passed = seconds(clock) - start;
        if (done) into_.nanoseconds[cell].push_back(passed / static_cast<double>(keys) * 1e9);
        return done;
    }
    std::optional<double> rate_of(std::optional<std::size_t> yes) const {
        const std::span<const Key> asked = work_.absent;
        if (!yes) return std::nullopt;
        return static_cast<double>(*yes) / static_cast<double>(asked.size());
    }
    void all_found(std::optional<std::size_t> yes, std::span<const Key> asked) const {
        if (yes && *yes != asked.size())
            give_up(fmt::format("{} lost {} of {} keys", who_.about.name, asked.size() - *yes, asked.size()));
    }

    const contender<Key>& who_;
    const workload<Key>& work_;
    unsigned threads_;
    record& into_;
    std::unique_ptr<subject<Key>> subject_;
};

template <class Key>
void measure(const options& asked, suite where, const char* name, json& runs) {
    const std::regex wanted(asked.only);
    for (const std::uint64_t keys : asked.keys) {
        for (const double bits : asked.bits) {
            std::vector<const contender<Key>*> chosen;
            for (const auto& each : contenders<Key>()) {
                const description& about = each.about;
                if (about.suite == where && keys <= about.max_keys &&
                    about.only_bits.value_or(bits) == bits && std::regex_search(about.name, wanted))
                    chosen.push_back(&each);
            }
            if (chosen.empty()) continue;
            const workload<Key> work({keys, std::min(keys, asked.most_queries)}, bits);
            std::vector<record> records(chosen.size());
            for (unsigned r = 0; r < asked.rounds; ++r) {
                fmt::print(stderr, "compare: {}, {} keys, {} bits per key, round {} of {}\n", name, keys,
                           bits, r + 1, asked.rounds);
                for (std::size_t i = 0; i < chosen.size(); ++i) {
                    const std::size_t next = (i + r) % chosen.size();
                    round<Key>(*chosen[next], work, asked.threads, records[next]).run();
                }
            }
            for (std::size_t i = 0; i < chosen.size(); ++i) {
                const description& about = chosen[i]->about;
                runs.push_back({{"suite", name},
                                {"keys", keys},
                                {"bits_per_key", bits},
                                {"contender", about.name},
                                {"version", about.version},
                                {"against", about.against},
                                {"is_floor", about.is_floor},
                                {"bytes", records[i].bytes},
                                {"rate", records[i].rate ? json(*records[i].rate) : json()},
                                {"nanoseconds", records[i].nanoseconds}});
            }
        }
    }
}

}  // namespace

int main(int argc, char** argv) {
    options asked;
    CLI::App app("Posy beside its peers, on the same keys, in the same process");
    app.add_option("--keys", asked.keys, "how many keys (k, M, G allowed)")
        ->delimiter(',')
        ->transform(CLI::AsNumberWithUnit(
            std::map<std::string, std::uint64_t>{{"k", 1000}, {"M", 1'000'000}, {"G", 1'000'000'000}}));
    app.add_option("--bits", asked.bits, "bits per key")->delimiter(',');
    app.add_option("--suites", asked.suites, "integers, strings, counting")->delimiter(',');
    app.add_option("--rounds", asked.rounds, "repetitions")->check(CLI::PositiveNumber);
    app.add_option("--threads", asked.threads, "of the build on several cores")->check(CLI::Range(2, 1024));
    app.add_option("--queries", asked.most_queries, "at most so many lookups a cell");
    app.add_option("--only", asked.only, "contenders whose name holds this pattern");
    app.add_option("--out", asked.out, "where the JSON goes");
    CLI11_PARSE(app, argc, argv);

    json runs = json::array();
    for (const std::string& name : asked.suites) {
        if (name == "integers")
            measure<integer>(asked, suite::integers, "integers", runs);
        else if (name == "strings")
            measure<text>(asked, suite::strings, "strings", runs);
        else if (name == "counting")
            measure<integer>(asked, suite::counting, "counting", runs);
        else
            give_up("there is no suite " + name + "; take integers, strings or counting");
    }
    const json result{{"program", "posy-compare"},
                      {"machine", machine()},
                      {"rounds", asked.rounds},
                      {"threads", asked.threads},
                      {"runs", std::move(runs)}};
    if (!(std::ofstream(asked.out) << result.dump(1) << "\n")) give_up("cannot write " + asked.out);
}
