// The index of a disk store: a label for each file, in the order of the eviction queues, and what files and
// index take.
//
// Invariant: `bytes` and `entries` are the sums over all files of the shelf. Thread safety: `lock`.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>

#include "posy/base/file.hpp"
#include "posy/http_cache/disk_store.hpp"
#include "shelf.hpp"

namespace posy::http_cache {

// A file: its label, whose size is what it counts against the budget.
struct filed : label {
    explicit filed(label of) : label(std::move(of)) {}
    std::uint64_t bytes = 0;  // of the file
    std::uint64_t entry = 0;  // of the index
};

struct disk_store::index {
    index(std::uint64_t budget, base::descriptor claim, observer* whom)
        : directory(std::move(claim)), files(budget, whom), watching(whom) {}

    void tell_of_damage(const std::filesystem::path& file) const {
        if (watching) watching->damaged(file.native());
    }

    // Precondition: it fits. dropped() is called for those that had to go.
    template <class Dropped>
    bool put(std::shared_ptr<const filed> file, const Dropped& dropped) {
        if (const auto before = files.same(*file)) gone(*before);
        bytes += file->bytes;
        entries += file->entry;
        return files.put(std::move(file), dropped);
    }
    void gone(const filed& file) {
        bytes -= file.bytes;
        entries -= file.entry;
    }

    const base::descriptor directory;  // ours alone while this is open
    mutable std::mutex lock;
    shelf<filed> files;
    observer* const watching;
    std::uint64_t bytes = 0, entries = 0;  // of all files, and of what the index has of them
    std::uint64_t for_space = 0, unwritten = 0, unread = 0;  // as in store_counts
};

}  // namespace posy::http_cache
