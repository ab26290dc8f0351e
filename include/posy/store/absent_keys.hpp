// The keys that a store said it does not have: exact, and bounded in memory.
//
// A table of sets of four. A secret digest of the key chooses the set; the keys in it are compared as they
// are, so contains() is true only for a key that was inserted and not erased since, whatever digests collide.
// A key that is found moves to the front of its set, and a new one takes the place of the last: keys that are
// asked for again and again stay.
//
// Cost: a SipHash and at most four comparisons. Thread safety: none.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <optional>
#include <vector>

#include "posy/key.hpp"
#include "posy/secret_hash.hpp"

namespace posy::store {

// For tables of keys that strangers may choose.
template <class Key>
struct secret_key_hash {
    std::size_t operator()(const Key& key) const {
        return hash_key(hash::secret_hasher(), static_cast<key_argument<Key>>(key)).low;
    }
};

template <class Key>
class absent_keys {
  public:
    // Room for this many keys, rounded up to four times a power of two; 0: it learns nothing.
    explicit absent_keys(std::size_t most) : sets_(most == 0 ? 0 : std::bit_ceil((most + ways - 1) / ways)) {}

    bool contains(const Key& key) {
        if (sets_.empty()) return false;
        set& where = set_of(key);
        const auto found = std::find(where.begin(), where.end(), key);
        if (found == where.end()) return false;
        std::rotate(where.begin(), found, found + 1);
        return true;
    }
    void insert(const Key& key) {
        if (sets_.empty() || contains(key)) return;
        set& where = set_of(key);
        std::rotate(where.begin(), where.end() - 1, where.end());
        where.front() = key;
    }
    void erase(const Key& key) {
        if (contains(key)) set_of(key).front().reset();
    }

    std::size_t room() const { return sets_.size() * ways; }

  private:
    static constexpr std::size_t ways = 4;
    using set = std::array<std::optional<Key>, ways>;

    set& set_of(const Key& key) { return sets_[secret_key_hash<Key>()(key) & (sets_.size() - 1)]; }

    std::vector<set> sets_;
};

}  // namespace posy::store
