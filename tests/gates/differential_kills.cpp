// Differential files whose process is killed: differential-kills STORE KILLS [SEED]; STORE is sqlite or
// leveldb.
//
// A child process writes and merges as fast as it can, and notes every write that was acknowledged. It is
// killed by SIGKILL after a random time. Then the file must have what all acknowledged writes left; the write
// that was under way is there as a whole or not at all. The next child goes on from there. The writes follow
// from the seed, so the number of acknowledged ones is the whole log.
//
// What is not tested is a loss of power: what the process wrote is in the memory of the system.
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <random>
#include <string>

#include "posy/gates/leveldb_pairs.hpp"
#include "posy/gates/sqlite_pairs.hpp"
#include "posy/store/differential.hpp"

namespace {

using namespace posy;

[[noreturn]] void fail(const std::string& what) {
    std::fprintf(stderr, "differential-kills: %s\n", what.c_str());
    std::exit(2);
}

template <class T>
T take(result<T> value) {
    if (!value) fail(value.error().text());
    if constexpr (!std::is_void_v<T>) return std::move(*value);
}

constexpr unsigned keys = 400;
std::string key_number(std::uint64_t i) { return "key " + std::to_string(i); }

// The i-th write: a few changes.
std::vector<store::change> write_number(std::uint64_t seed, std::uint64_t i) {
    std::mt19937_64 random(seed * 0x9e3779b97f4a7c15 + i);
    std::vector<store::change> made(1 + random() % 4);
    for (auto& each : made) {
        each.key = key_number(random() % keys);
        if (random() % 3 != 0) each.value = std::to_string(i) + std::string(random() % 200, '.');
    }
    return made;
}

// What the child is doing, in memory that outlives it.
enum class phase : unsigned { opening, writing, merging };
struct progress {
    std::atomic<std::uint64_t> acknowledged = 0;
    std::atomic<phase> now = phase::opening;
};

progress& shared_progress(const std::string& folder) {
    const int file = open((folder + "/progress").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (file < 0 || ftruncate(file, sizeof(progress)) != 0) fail("cannot make a file in " + folder);
    void* const at = mmap(nullptr, sizeof(progress), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
    if (at == MAP_FAILED) fail("cannot map a file");
    return *static_cast<progress*>(at);
}

struct opened_file {
    std::unique_ptr<store::pairs> base, changes;
    store::differential file;

    static opened_file open(const std::string& kind, const std::string& folder) {
        const auto one = [&](const char* name) -> std::unique_ptr<store::pairs> {
            const std::string path = folder + "/" + name;
            if (kind == "sqlite") return take(gates::sqlite_pairs::open(path, false));
            if (kind == "leveldb") return take(gates::leveldb_pairs::open(path, false));
            fail("unknown store " + kind);
        };
        auto base = one("base"), changes = one("changes");
        auto file =
            take(store::differential::open(*base, *changes, {.changes = 200, .rate = 0.05, .batch = 30}));
        return {std::move(base), std::move(changes), std::move(file)};
    }
};

// Writes and merges until it is killed.
[[noreturn]] void work(const std::string& kind, const std::string& folder, std::uint64_t seed) {
    progress& made = shared_progress(folder);
    opened_file opened = opened_file::open(kind, folder);
    for (;;) {
        made.now = phase::writing;
        for (int i = 0; i < 20; ++i) {
            take(opened.file.write(write_number(seed, made.acknowledged)));
            ++made.acknowledged;
        }
        made.now = phase::merging;
        // Sometimes a step, sometimes all.
        if (made.acknowledged / 20 % 5 == 0) {
            take(opened.file.merge());
        } else {
            take(opened.file.merge_step());
        }
    }
}

using state = std::map<std::string, std::string>;

void make_changes(state& to, const std::vector<store::change>& changes) {
    for (const auto& each : changes) {
        if (each.value) {
            to[each.key] = *each.value;
        } else {
            to.erase(each.key);
        }
    }
}

// What the file says of every key.
state read_all(store::differential& file) {
    state found;
    for (unsigned i = 0; i < keys; ++i)
        if (auto value = take(file.get(key_number(i)))) found[key_number(i)] = *value;
    return found;
}

class killing {
  public:
    killing(std::string program, std::string kind, std::string folder, std::uint64_t seed)
        : program_(std::move(program)),
          kind_(std::move(kind)),
          folder_(std::move(folder)),
          seed_(seed),
          made_(shared_progress(folder_)),
          random_(seed) {}

    void kill_once() {
        made_.now = phase::opening;
        const pid_t child = fork();
        if (child == 0) {
            execl(program_.c_str(), program_.c_str(), "--work", kind_.c_str(), folder_.c_str(),
                  std::to_string(seed_).c_str(), nullptr);
            _exit(3);
        }
        pollfd ended{static_cast<int>(syscall(SYS_pidfd_open, child, 0)), POLLIN, 0};
        const auto wait = [&](long nanoseconds) {
            const timespec patience{0, nanoseconds};
            if (ppoll(&ended, 1, &patience, nullptr) != 0) fail("the child ended by itself");
        };
        // Opening takes most of a child's short life: only one kill in eight may meet it.
        const bool early = random_() % 8 == 0;
        while (!early && made_.now == phase::opening) wait(1'000'000);
        wait(static_cast<long>(random_() % 20'000'000));
        close(ended.fd);
        kill(child, SIGKILL);
        waitpid(child, nullptr, 0);
        ++killed_[static_cast<std::size_t>(made_.now.load())];
    }
    // Against the acknowledged writes, with or without the one that was under way.
    void check() {
        for (; applied_ < made_.acknowledged; ++applied_) make_changes(truth_, write_number(seed_, applied_));
        state with_next = truth_;
        make_changes(with_next, write_number(seed_, applied_));
        opened_file opened = opened_file::open(kind_, folder_);
        const state found = read_all(opened.file);
        if (found != truth_ && found != with_next)
            fail("after " + std::to_string(applied_) + " acknowledged writes the file has something else");
    }
    // After a merge, the base alone has all.
    void finish() {
        check();
        opened_file opened = opened_file::open(kind_, folder_);
        const state before = read_all(opened.file);
        take(opened.file.merge());
        state in_base;
        take(opened.base->each({}, [&](std::string_view key, std::string_view value) {
            in_base.emplace(key, value);
            return true;
        }));
        if (in_base != before) fail("the merged base has something else");
        std::printf(
            "%s: %u kills (%u while opening, %u writing, %u merging), %llu acknowledged writes, none lost\n",
            kind_.c_str(), killed_[0] + killed_[1] + killed_[2], killed_[0], killed_[1], killed_[2],
            static_cast<unsigned long long>(applied_));
        if (killed_[1] == 0 || killed_[2] == 0)
            fail("no kill during a write, or none during a merge: more kills");
    }

  private:
    std::string program_, kind_, folder_;
    std::uint64_t seed_;
    progress& made_;
    std::mt19937_64 random_;
    state truth_;
    std::uint64_t applied_ = 0;
    unsigned killed_[3] = {};
};

}  // namespace

int main(int argc, char** argv) {
    const std::vector<std::string> arguments(argv, argv + argc);
    if (argc == 5 && arguments[1] == "--work") work(arguments[2], arguments[3], std::stoull(arguments[4]));
    if (argc != 3 && argc != 4) fail("usage: differential-kills sqlite|leveldb KILLS [SEED]");
    std::string folder = std::filesystem::temp_directory_path() / "posy-kills-XXXXXX";
    if (mkdtemp(folder.data()) == nullptr) fail("cannot make a folder");
    killing run("/proc/self/exe", arguments[1], folder, argc == 4 ? std::stoull(arguments[3]) : 1);
    const unsigned long kills = std::stoul(arguments[2]);
    for (unsigned long i = 0; i < kills; ++i) {
        run.kill_once();
        if (i % 4 != 3) run.check();  // otherwise the next child finds the files as the kill left them
    }
    run.finish();
    std::filesystem::remove_all(folder);
}
