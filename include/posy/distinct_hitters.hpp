// Which keys come with the most different values, such as the sources with the most destinations.
//
// A key with n different values comes at least n times, so it is among the frequent ones. Those are found by
// heavy_hitters, and each that is kept has a distinct_counter of its values. A key may have come before it
// was kept, at most `missed` times; its values of then are not counted, and the interval has room for them.
//
// Cost: that of heavy_hitters, and up to 1 KiB for each of at most four times as many keys as there is room
// for. Thread safety: none; const calls may run together.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "posy/distinct_counter.hpp"
#include "posy/heavy_hitters.hpp"

namespace posy {

class distinct_hitters {
  public:
    // The sketch is to be empty.
    static result<distinct_hitters> make(count_min sketch, std::uint64_t room);

    // The key came with this value.
    void add(std::string_view key, digest d, digest value);

    struct key_values {
        std::string key{};
        estimate different{};     // values; the interval at 95 %
        std::uint64_t count = 0;  // how often the key came, at most
    };
    struct list {
        std::vector<key_values> keys{};  // the most values first, equals by text
        // Every key with at least this many values was considered.
        std::uint64_t complete_from = 0;
    };
    list report(std::uint64_t most) const;

    const count_min& sketch() const { return frequent_.sketch(); }
    hasher hash() const { return frequent_.hash(); }

  private:
    struct digest_hash {
        std::size_t operator()(const digest& d) const { return d.low ^ d.high; }
    };
    struct counted {
        distinct_counter values{};
        std::uint64_t missed = 0;
    };
    explicit distinct_hitters(heavy_hitters frequent) : frequent_(std::move(frequent)) {}

    heavy_hitters frequent_;
    std::unordered_map<digest, counted, digest_hash> values_;
};

}  // namespace posy
