// How many keys a store has and which, in 72 bytes of a file of their own: the witness of the store.
//
// LevelDB notices most damage, but not all: a log that ends too early looks like that of a process that was
// killed, and a log that is missing like one that was never needed. So every change of the keys is noted here
// as well: before it is made, what the store will hold, and after it was made, that it does. A process that
// is killed at any moment leaves a store that is either; any other store has lost something. Which keys they
// are is told by the sum of their digests, which does not depend on their order.
//
// The file, KEYS in the folder of the store (numbers are 64 bits, little-endian):
//
//     0   "POSYKEYS"
//     8   1: the store is being made and has no keys yet; 2: it is in use
//     16  keys before the change, the sums of the low and of the high halves of their digests (XXH3-128, seed
//     0) 40  the same after the change; both are equal when none is under way 64  XXH3-128 of the bytes
//     before, its low half
//
// Thread safety: none; the store has a lock. Cost: a write of 72 bytes into the page cache, twice per change.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "posy/base/file.hpp"

namespace posy::node {

// It has to show accidents only: a program that can write to the folder can write a tally as well.
struct key_tally {
    std::uint64_t keys = 0, low = 0, high = 0;

    void add(std::string_view key);
    void remove(std::string_view key);
    friend bool operator==(const key_tally&, const key_tally&) = default;
};

class tally_file {
  public:
    struct content {
        enum state : std::uint64_t { empty = 0, being_made = 1, in_use = 2 } is = empty;
        key_tally before, after;
    };

    // Opens the file in the folder and locks it against other processes; it is made if it is not there.
    static result<tally_file> open(const std::string& folder);
    static std::string path_in(const std::string& folder);

    // An error if it is damaged.
    result<content> read() const;
    result<void> write(const content&, bool sync);

  private:
    explicit tally_file(base::descriptor file) : file_(std::move(file)) {}
    base::descriptor file_;
};

}  // namespace posy::node
