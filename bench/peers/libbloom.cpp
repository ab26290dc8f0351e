// libbloom, the filter that Debian ships: classic, MurmurHash2, one key a call.
#include <bloom.h>

#include <cmath>

#include "peer.hpp"

namespace {

using namespace compare;

class libbloom {
  public:
    libbloom(std::uint64_t keys, double bits_per_key) {
        // It takes a rate and computes bits per key = −ln(rate) / ln² 2 from it.
        bloom_init(&bloom_, static_cast<int>(keys), std::exp(-bits_per_key * std::pow(std::log(2), 2)));
        bloom_reset(&bloom_);  // touches the pages
    }
    libbloom(const libbloom&) = delete;
    ~libbloom() { bloom_free(&bloom_); }
    void insert(integer key) { bloom_add(&bloom_, &key, sizeof key); }
    void insert(text key) { bloom_add(&bloom_, key.data(), static_cast<int>(key.size())); }
    bool contains(integer key) const { return bloom_check(&bloom_, &key, sizeof key) == 1; }
    bool contains(text key) const {
        return bloom_check(&bloom_, key.data(), static_cast<int>(key.size())) == 1;
    }
    std::uint64_t bytes() const { return static_cast<std::uint64_t>(bloom_.bytes); }

  private:
    mutable bloom bloom_{};
};

const description about{.name = "libbloom", .version = bloom_version(), .against = "Posy spread"};
const entry<integer, libbloom> integers{about};
const entry<text, libbloom> strings{[] {
    description same = about;
    same.suite = suite::strings;
    return same;
}()};

}  // namespace
