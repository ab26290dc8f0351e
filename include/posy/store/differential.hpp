// A differential file (Gremillion 1982; Broder & Mitzenmacher 2004, 3.2): a large base that is only read
// during the day, and beside it a small store of the day's changes, which are merged into the base at night.
// A filter of the changed keys decides where to read: a key that it does not know is read from the base
// alone, all others from the changes first.
//
// Invariant: the value of a key is that of the changes if they have the key (an erased one is marked there),
// else that of the base. The merge writes a batch of changes to the base, and erases it from the changes
// afterwards; each of the two steps leaves every value as it is. So a process may be killed at any point, and
// there is nothing to repair: the next merge does again what was not finished, and writes the same. The
// filter lives in memory and is made from the changes when they are opened, so no crash makes it forget one.
//
// Cost: 1 + f accesses per read of a key that is not changed, f the rate of the filter, and 1 of one that
// is. Opening reads all changes. Thread safety: none.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "posy/filter.hpp"
#include "posy/store/pairs.hpp"

namespace posy::store {

struct differential_options {
    std::uint64_t changes = 10'000;  // different keys between two merges; the filter grows if there are more
    double rate = 0.01;              // of false positives: unchanged keys that are read twice
    std::size_t batch = 1'000;       // changes per step of a merge
    std::optional<hasher> hash{};    // a secret one, if somebody hostile chooses the keys
};

struct differential_counters {
    std::uint64_t reads = 0;
    std::uint64_t base_reads = 0, change_reads = 0;  // accesses
    std::uint64_t false_positives = 0;               // keys that were looked for in the changes in vain
};

class differential {
  public:
    // Both stores must outlive it, and nobody else writes to them. The base is as it was, the changes are
    // those of an earlier differential or empty.
    static result<differential> open(pairs& base, pairs& changes, const differential_options& = {});

    result<std::optional<std::string>> get(std::string_view key);
    // All of these or none.
    result<void> write(std::span<const change>);
    result<void> put(std::string_view key, std::string_view value);
    result<void> erase(std::string_view key);

    // The next batch of changes goes into the base. False: that was the last one, and the filter has been
    // made anew. Reads and writes may come between two steps; what they change behind the last batch waits
    // for the next merge.
    result<bool> merge_step();
    // All steps.
    result<void> merge();

    const differential_counters& counters() const { return counters_; }
    const filter<std::string>& changed() const { return filter_; }

  private:
    differential(pairs& base, pairs& changes, const differential_options& options, filter<std::string> made)
        : base_(&base), changes_(&changes), options_(options), filter_(std::move(made)) {}

    static result<filter<std::string>> filter_of_changes(const pairs&, const differential_options&,
                                                         std::uint64_t room);

    pairs* base_;
    pairs* changes_;
    differential_options options_;
    filter<std::string> filter_;
    std::string merged_;  // where the next step of the merge begins
    differential_counters counters_;
};

}  // namespace posy::store
