// What the tests share: geometries to run every property over, digests and filters, and a directory that goes
// away.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include "posy/bloom_filter.hpp"

namespace posy {

// Every layout at small, odd, and large sizes, with few and many hashes.
inline std::vector<geometry> all_shapes() {
    std::vector<geometry> shapes;
    for (const layout_id layout : members<layout_id>) {
        for (const unsigned hashes : {1u, 2u, 3u, 7u, 8u, 9u, 12u, 16u, 24u, 32u}) {
            for (const std::uint64_t bits : {1u, 7u, 64u, 513u, 5000u, 100'003u}) {
                const geometry g{round_up_bits(bits, hashes, layout), hashes, layout};
                if (check(g)) shapes.push_back(g);
            }
        }
    }
    return shapes;
}

inline std::string describe(const geometry& g) {
    return std::string(name_of(g.layout)) + " m=" + std::to_string(g.bits) +
           " k=" + std::to_string(g.hashes) + " " + std::string(name_of(g.hash)) +
           " seed=" + std::to_string(g.seed.low);
}

// As random as a hasher makes them, and the same in every run.
inline std::vector<digest> random_digests(std::size_t count, std::mt19937_64& random) {
    std::vector<digest> digests(count);
    for (digest& d : digests) d = {random(), random()};
    return digests;
}
inline std::vector<digest> random_digests(std::size_t count, std::uint64_t seed) {
    std::mt19937_64 random(seed);
    return random_digests(count, random);
}

// The filter of the integers from … to − 1.
inline bloom_filter filter_of(const geometry& g, int from, int to) {
    auto filter = *bloom_filter::make(g);
    for (int key = from; key < to; ++key) filter.insert(filter.hash()(key));
    return filter;
}

inline std::vector<std::byte> file_bytes(const std::filesystem::path& path) {
    std::ifstream in(path, std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(in), {}};
    const auto bytes = as_byte_view(text);
    return {bytes.begin(), bytes.end()};
}

inline void write_file(const std::filesystem::path& path, byte_view bytes) {
    std::ofstream(path, std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
}

class scratch_directory {
  public:
    scratch_directory() {
        std::string name = (std::filesystem::temp_directory_path() / "posy-test-XXXXXX").string();
        path_ = mkdtemp(name.data());
    }
    ~scratch_directory() { std::filesystem::remove_all(path_); }
    const std::filesystem::path& path() const { return path_; }
    std::filesystem::path operator/(const std::string& name) const { return path_ / name; }
    std::size_t files() const {
        return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(path_), {}));
    }

  private:
    std::filesystem::path path_;
};

}  // namespace posy
