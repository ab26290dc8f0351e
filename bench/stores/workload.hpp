// Keys and lookups for the benchmarks of stores: n keys that are there, and as many that are not, between
// them; random ones, or consecutive numbers. The order of lookups is random; so are the values, in half of
// their bytes, as in LevelDB's db_bench.
#pragma once

#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

namespace stores_bench {

// SplitMix64's output function.
inline std::uint64_t mixed(std::uint64_t x) {
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
    x = (x ^ x >> 27) * 0x94d049bb133111eb;
    return x ^ x >> 31;
}

enum class keys_are { random, numbers };

// 16 bytes each; even numbers are there, odd ones are not.
class workload {
  public:
    keys_are kind;
    std::uint64_t keys, lookups;
    std::string folder;

    std::string key(std::uint64_t number) const {
        return kind == keys_are::random ? text("%016llx", mixed(number + 1)) : text("%016llu", number);
    }
    // The key of the i-th lookup.
    std::string wanted(std::uint64_t i, bool present) const {
        return key(2 * (mixed(i) % keys) + (present ? 0 : 1));
    }
    // All that are there, in their order.
    std::vector<std::string> sorted() const {
        std::vector<std::string> all(keys);
        for (std::uint64_t i = 0; i < keys; ++i) all[i] = key(2 * i);
        std::ranges::sort(all);
        return all;
    }
    static workload from(int argc, char** argv) {
        const auto number = [&](int i, std::uint64_t otherwise) {
            return argc > i ? std::strtoull(argv[i], nullptr, 10) : otherwise;
        };
        return {keys_are::random, number(1, 5'000'000), number(2, 2'000'000), argc > 3 ? argv[3] : "/tmp"};
    }

  private:
    static std::string text(const char* format, unsigned long long number) {
        char digits[24];
        std::snprintf(digits, sizeof digits, format, number);
        return digits;
    }
};

inline std::string value(std::uint64_t number) {
    std::string half;
    for (std::uint64_t i = 0; half.size() < 50; ++i) {
        const std::uint64_t random = mixed(number * 8 + i + 1);
        half.append(reinterpret_cast<const char*>(&random), sizeof random);
    }
    half.resize(50);
    return half + half;
}

// Wall and processor time since it was made.
class stopwatch {
  public:
    double wall() const {
        return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
    }
    double processor() const { return used() - used_; }

  private:
    static double used() {
        rusage use;
        getrusage(RUSAGE_SELF, &use);
        const auto seconds = [](const timeval& t) {
            return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
        };
        return seconds(use.ru_utime) + seconds(use.ru_stime);
    }

    std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
    double used_ = used();
};

// Ends the program if a lookup was answered wrongly.
inline void require_right(const char* name, const workload& t, std::uint64_t absent_found,
                          std::uint64_t found) {
    if (absent_found == 0 && found == t.lookups) return;
    std::fprintf(stderr, "%s: %llu absent keys found, %llu of %llu present ones\n", name,
                 static_cast<unsigned long long>(absent_found), static_cast<unsigned long long>(found),
                 static_cast<unsigned long long>(t.lookups));
    std::exit(1);
}

// A folder of its own that is removed in the end.
class scratch_folder {
  public:
    explicit scratch_folder(const std::string& under)
        : path_(under + "/posy-stores-bench-" + std::to_string(made_++)) {
        std::filesystem::remove_all(path_);
        std::filesystem::create_directories(under);
    }
    ~scratch_folder() { std::filesystem::remove_all(path_); }
    scratch_folder(const scratch_folder&) = delete;
    scratch_folder& operator=(const scratch_folder&) = delete;
    const std::string& path() const { return path_; }

  private:
    static inline int made_ = 0;
    std::string path_;
};

}  // namespace stores_bench
