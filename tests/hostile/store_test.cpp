// Damaged stores of keys: no key that was acknowledged is lost without an error.
//
// Every trial copies one store, which has tables and a log, damages the copy in one place, opens it and
// compares it with the keys that were acknowledged. What is refused is repaired, and the keys that came back
// are counted. There are 60 trials; POSY_LONG_TESTS=1 makes 1,000, and prints the table that docs/node.md
// has.
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <fstream>
#include <map>
#include <random>
#include <set>

#include "node/key_repair.hpp"
#include "node/key_store.hpp"
#include "node/store_files.hpp"
#include "support.hpp"

namespace posy::node {
namespace {

namespace fs = std::filesystem;
using keys = std::set<std::string>;

void add(key_store& store, keys& acknowledged, const std::string& key) {
    store.add(key, [] {});
    acknowledged.insert(key);
}

void remove(key_store& store, keys& acknowledged, const std::string& key) {
    store.remove(key, [] {});
    acknowledged.erase(key);
}

std::string key(unsigned i) { return "http://example.org/" + std::to_string(i * 2654435761U) + "/page"; }

// Each opening turns the log into a table: tables with 4,500 keys, some of which are removed again, and a log
// with 1,500 more and some removals.
keys make_store(const std::string& folder) {
    keys acknowledged;
    for (unsigned round = 0; round < 4; ++round) {
        key_store store(folder);
        for (unsigned i = 0; i < 1500; ++i) add(store, acknowledged, key(1500 * round + i));
        if (round > 0)
            for (unsigned i = 0; i < 100; ++i) remove(store, acknowledged, key(1500 * round - i - 1));
    }
    return acknowledged;
}

keys listed(const key_store& store) {
    keys all;
    store.for_each([&](std::string_view key) { all.emplace(key); });
    return all;
}

std::string refusal(const std::string& folder) {
    try {
        const key_store store(folder);
    } catch (const std::runtime_error& e) {
        return e.what();
    }
    return "";
}

std::string contents(const fs::path& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

void flip(const fs::path& path, std::uint64_t at, unsigned char by) {
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    file.seekg(static_cast<std::streamoff>(at));
    const int old = file.get();
    file.seekp(static_cast<std::streamoff>(at));
    file.put(static_cast<char>(old ^ by));
}

std::vector<fs::path> files_in(const fs::path& folder) {
    std::vector<fs::path> all;
    for (const auto& each : fs::directory_iterator(folder))
        if (each.is_regular_file()) all.push_back(each.path());
    std::ranges::sort(all);
    return all;
}

std::string sort_of(const fs::path& path) {
    const auto name = path.filename().string();
    if (name.starts_with("MANIFEST")) return "MANIFEST";
    if (path.extension() == ".log") return "log";
    if (path.extension() == ".ldb") return "table";
    return name;
}

struct tally_row {
    unsigned tried = 0, refused = 0, later = 0, harmless = 0, lost = 0, repaired = 0, whole = 0;
    std::uint64_t back = 0, all = 0, least = ~std::uint64_t{0};
};

class damage {
  public:
    explicit damage(const fs::path& folder) : original_(folder / "original"), copy_(folder / "copy") {
        acknowledged_ = make_store(original_);
        for (unsigned i = 0; i < 6000; ++i) ever_.insert(key(i));
    }

    void trial(std::mt19937_64& random) {
        fs::remove_all(copy_);
        fs::copy(original_, copy_);
        auto files = files_in(copy_);
        // The lock and LevelDB's diary have nothing to lose: one trial in ten is enough for them.
        const auto idle =
            std::ranges::stable_partition(files, [](const auto& f) { return !sort_of(f).starts_with("LO"); });
        const auto useful = files.size() - idle.size();
        const auto& path = random() % 10 == 0 ? idle[random() % idle.size()] : files[random() % useful];
        const auto size = fs::file_size(path);
        // Half of the trials flip a byte, a quarter each cut a file and remove one.
        const unsigned how = static_cast<unsigned>(random() % 4);
        const std::string row = (how == 0   ? "missing "
                                 : how == 1 ? "truncated "
                                            : "flipped byte in ") +
                                sort_of(path);
        if (how == 0 || size == 0) {
            fs::remove(path);
        } else if (how == 1) {
            fs::resize_file(path, random() % size);
        } else {
            flip(path, random() % size, static_cast<unsigned char>(1 + random() % 255));
        }
        look(rows[row]);
    }

    std::map<std::string, tally_row> rows;

  private:
    void look(tally_row& row) {
        ++row.tried;
        try {
            const key_store store(copy_);
            try {
                const bool same =
                    listed(store) == acknowledged_ &&
                    std::ranges::all_of(acknowledged_, [&](const auto& k) { return store.has(k); });
                ++(same ? row.harmless : row.lost);
                return;
            } catch (const std::runtime_error&) {
                ++row.later;
            }
        } catch (const std::runtime_error&) {
            ++row.refused;
        }
        repair(row);
    }

    void repair(tally_row& row) {
        const auto done = repair_keys(copy_);
        ++row.repaired;
        const auto found = listed(key_store(copy_));
        std::uint64_t back = 0;
        for (const auto& each : found) {
            ASSERT_TRUE(ever_.contains(each)) << each;  // nothing is made up
            back += acknowledged_.contains(each);
        }
        EXPECT_EQ(done.keys, found.size());
        if (done.exact) {
            EXPECT_EQ(found, acknowledged_);
        }
        row.whole += back == acknowledged_.size();
        row.back += back;
        row.all += acknowledged_.size();
        row.least = std::min(row.least, back);
    }

    fs::path original_, copy_;
    keys acknowledged_, ever_;
};

TEST(hostile_store, loses_no_acknowledged_key_without_an_error) {
    const scratch_directory scratch;
    damage d(scratch.path());
    std::mt19937_64 random(12);
    const unsigned trials = std::getenv("POSY_LONG_TESTS") ? 1000 : 60;
    for (unsigned i = 0; i < trials; ++i) d.trial(random);
    std::printf(
        "| damage | tried | refused at the start | noticed later | harmless | lost silently | repaired | "
        "with every "
        "key | keys back, %% | fewest |\n|---|---|---|---|---|---|---|---|---|---|\n");
    tally_row sum;
    const auto print = [](const std::string& name, const tally_row& r) {
        std::printf("| %s | %u | %u | %u | %u | %u | %u | %u |", name.c_str(), r.tried, r.refused, r.later,
                    r.harmless, r.lost, r.repaired, r.whole);
        if (r.repaired == 0) return void(std::printf(" – | – |\n"));
        std::printf(" %.3f | %llu |\n", 100.0 * static_cast<double>(r.back) / static_cast<double>(r.all),
                    static_cast<unsigned long long>(r.least));
    };
    for (const auto& [name, r] : d.rows) {
        print(name, r);
        sum.tried += r.tried, sum.refused += r.refused, sum.later += r.later, sum.harmless += r.harmless;
        sum.lost += r.lost, sum.repaired += r.repaired, sum.whole += r.whole, sum.back += r.back,
            sum.all += r.all;
        sum.least = std::min(sum.least, r.least);
    }
    print("all", sum);
    EXPECT_EQ(sum.lost, 0u);
    EXPECT_GT(sum.refused, trials / 3);
    EXPECT_GT(sum.harmless, 0u);
}

TEST(hostile_store, says_what_is_wrong_and_what_to_do) {
    const scratch_directory scratch;
    const std::string folder = scratch / "keys";
    const auto acknowledged = make_store(folder);
    const auto refused = [&](const std::string& saying) {
        const auto why = refusal(folder);
        EXPECT_NE(why.find(saying), std::string::npos) << why;
        EXPECT_NE(why.find("posy node --repair --data " + folder), std::string::npos) << why;
    };
    fs::rename(folder + "/CURRENT", scratch / "CURRENT");
    refused("its file CURRENT is missing");
    EXPECT_FALSE(fs::exists(folder + "/CURRENT"));  // no new store in its place
    fs::rename(scratch / "CURRENT", folder + "/CURRENT");
    fs::rename(folder + "/KEYS", scratch / "KEYS");
    refused("its file KEYS is missing");
    std::ofstream(folder + "/KEYS").close();
    refused("its file KEYS is empty");
    fs::rename(scratch / "KEYS", folder + "/KEYS");
    flip(folder + "/KEYS", 20, 1);
    refused("its file KEYS is damaged");
    flip(folder + "/KEYS", 20, 1);
    EXPECT_EQ(listed(key_store(folder)), acknowledged);
}

TEST(hostile_store, a_store_that_is_refused_keeps_its_files) {
    const scratch_directory scratch;
    const std::string folder = scratch / "keys";
    const auto acknowledged = make_store(folder);
    std::map<fs::path, std::string> before;
    for (const auto& path : files_in(folder))
        if (sort_of(path) == "log") before[path] = contents(path);
    ASSERT_EQ(before.size(), 1u);
    // A record in the middle of the log that is no longer one: LevelDB would drop the rest of the block, and
    // the log.
    const auto log = before.begin()->first;
    flip(log, 20'000, 1);
    before[log] = contents(log);
    for (int start = 0; start < 3; ++start) {
        EXPECT_NE(refusal(folder), "");
        EXPECT_EQ(contents(log), before[log]);
    }
    const auto done = repair_keys(folder);
    EXPECT_EQ(done.expected, acknowledged.size());
    EXPECT_EQ(contents(fs::path(done.copy) / log.filename()), before[log]);
    // One record is lost: a key that was added, or a removal.
    const auto found = listed(key_store(folder));
    std::vector<std::string> differ;
    std::ranges::set_symmetric_difference(found, acknowledged, std::back_inserter(differ));
    EXPECT_EQ(differ.size(), 1u);
    EXPECT_FALSE(done.exact);
}

TEST(hostile_store, damage_while_it_is_open_is_an_error_of_the_read) {
    const scratch_directory scratch;
    const std::string folder = scratch / "keys";
    keys acknowledged = make_store(folder);
    const key_store store(folder);  // all is in tables now
    for (const auto& path : files_in(folder))
        if (sort_of(path) == "table")
            for (std::uint64_t at = 1000; at < fs::file_size(path) - 5000; at += 4000) flip(path, at, 1);
    unsigned noticed = 0;
    for (const auto& each : acknowledged) {
        try {
            EXPECT_TRUE(store.has(each));
        } catch (const std::runtime_error&) {
            ++noticed;
        }
    }
    EXPECT_GT(noticed, 100u);
    EXPECT_THROW(listed(store), std::runtime_error);
}

TEST(hostile_store, takes_no_change_after_one_that_could_not_be_written) {
    const scratch_directory scratch;
    const std::string folder = scratch / "keys";
    auto acknowledged = make_store(folder);
    {
        key_store store(folder);
        rlimit old{};
        getrlimit(RLIMIT_FSIZE, &old);
        std::signal(SIGXFSZ, SIG_IGN);
        const rlimit little{10'000, old.rlim_max};
        setrlimit(RLIMIT_FSIZE, &little);
        unsigned failed = 0;
        for (unsigned i = 0; i < 1000; ++i) {
            try {
                add(store, acknowledged, key(100'000 + i));
            } catch (const std::runtime_error&) {
                ++failed;
            }
        }
        setrlimit(RLIMIT_FSIZE, &old);
        EXPECT_GT(failed, 100u);
        EXPECT_THROW(add(store, acknowledged, "there is room again"), std::runtime_error);
        EXPECT_THROW(remove(store, acknowledged, key(0)), std::runtime_error);
        EXPECT_TRUE(store.has(key(0)));
    }
    EXPECT_EQ(listed(key_store(folder)), acknowledged);
}

TEST(hostile_store, changes_that_come_together_are_made_in_their_order) {
    const scratch_directory scratch;
    for (const std::string& folder : {std::string(), std::string(scratch / "keys")}) {
        key_store store(folder);
        store.add("there", [] {});
        const std::vector<key_change> wanted{{"a", true},  {"a", true},      {"a", false}, {"there", false},
                                             {"b", false}, {"there", false}, {"b", true},  {"a", true}};
        std::string told;
        const auto made = store.change(
            wanted, [&](const key_change& each) { told += (each.enters ? "+" : "-") + each.key; });
        EXPECT_EQ(made.size(), 5u);
        EXPECT_EQ(told, "+a-a-there+b+a");
        EXPECT_EQ(listed(store), (keys{"a", "b"}));  // which compares with the tally, too
    }
    EXPECT_EQ(listed(key_store(scratch / "keys")), (keys{"a", "b"}));
}

TEST(hostile_store, one_process_at_a_time) {
    const scratch_directory scratch;
    const std::string folder = scratch / "keys";
    const key_store store(folder);
    EXPECT_NE(refusal(folder).find("another process uses it"), std::string::npos);
    EXPECT_THROW(repair_keys(folder), std::runtime_error);
}

TEST(hostile_store, a_store_whose_making_was_cut_short_is_made) {
    const scratch_directory scratch;
    const std::string folder = scratch / "keys";
    { const key_store store(folder); }
    auto tally = contents(folder + "/KEYS");
    ASSERT_EQ(tally.size(), 72u);
    // What a kill leaves at each step of it: an empty KEYS, KEYS of a store being made, and that with a
    // manifest.
    fs::remove_all(folder);
    fs::create_directory(folder);
    std::ofstream(folder + "/KEYS").close();
    EXPECT_EQ(refusal(folder), "");
    {
        auto file = *tally_file::open(folder);
        ASSERT_TRUE(file.write({tally_file::content::being_made, {}, {}}, false));
    }
    EXPECT_EQ(refusal(folder), "");
    {
        auto file = *tally_file::open(folder);
        ASSERT_TRUE(file.write({tally_file::content::being_made, {}, {}}, false));
    }
    fs::remove(folder + "/CURRENT");
    EXPECT_EQ(refusal(folder), "");
}

TEST(hostile_store, intact_records_are_found_behind_damaged_ones) {
    const scratch_directory scratch;
    const std::string folder = scratch / "keys";
    keys acknowledged;
    {
        key_store store(folder);
        for (unsigned i = 0; i < 2000; ++i)
            add(store, acknowledged, key(i) + std::string(i % 500 == 7 ? 70'000 : 0, 'x'));
    }
    std::string log;
    for (const auto& path : files_in(folder))
        if (sort_of(path) == "log") log = contents(path);
    ASSERT_GT(log.size(), 300'000u);
    EXPECT_EQ(intact_records(log), log);
    std::mt19937_64 random(3);
    for (int i = 0; i < 50; ++i) {
        auto damaged = log;
        damaged[random() % log.size()] ^= static_cast<char>(1 + random() % 255);
        const auto left = intact_records(damaged);
        EXPECT_GT(left.size() + 70'100, log.size());  // at most the longest record is gone
        EXPECT_EQ(intact_records(left), left);
    }
}

}  // namespace
}  // namespace posy::node
