// Stored responses in a directory, which survive a restart: one file each, in the form of stored_bytes.hpp.
//
// A file is DIRECTORY/ab/ab12… with the 32 hexadecimal digits of the label's name under the secret key of the
// directory, which is in DIRECTORY/key: a client that chooses URLs cannot make two of one name. It is written
// aside and renamed into place, and never changed: whenever the process is killed, what is there is whole.
// (After a loss of power a file may be damaged, since nothing waits for the disk; the checksums find it.) The
// index of URLs, variants and sizes is in memory, within the same S3-FIFO queues as the memory store's. What
// others put under a name of ours (a pipe, a link, a file that grew) is never followed, waited for or read:
// it is a miss, and removed. Cost: a put writes a file, a find reads one; both block. The index takes
// index_overhead and the URL, three times, a file. Thread safety: every call from any thread. One lock guards
// index and directory; contents are read and written outside of it. DIRECTORY/lock keeps a second store out.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string_view>

#include "posy/http_cache/fields.hpp"
#include "posy/http_cache/observer.hpp"
#include "posy/http_cache/room.hpp"
#include "posy/http_cache/stored_response.hpp"
#include "posy/result.hpp"

namespace posy::http_cache {

struct disk_options {
    std::filesystem::path directory{};  // made when missing
    std::uint64_t bytes = std::uint64_t{4} << 30;
    // Memory for the index; 0: as much as it takes. With a limit a file counts in `bytes` as the same share
    // of them as its entry is of the index, if that is more: many small files fill the folder like few large
    // ones.
    std::uint64_t index_bytes = 0;
    // Larger objects are refused, and removed when they are found; 0: the store's own limit alone.
    std::uint64_t largest = 0;
};

// What the index takes for one file, beside its URL and its variant.
inline constexpr std::uint64_t index_overhead = 512;

class disk_store {
  public:
    // Reads the heads of what is there, oldest first; the observer hears of each URL. Files that are cut off,
    // have a damaged head or stand under the wrong name, and leftovers of unfinished writes, are removed. All
    // others are left alone, and so is every folder that is a link. A damaged body is found when it is read.
    // An error for a directory that another store has open, for one with a key that cannot be read, and for
    // one that has files and no key: it never was a cache.
    static result<std::unique_ptr<disk_store>> open(const disk_options&, observer* watching = nullptr);
    ~disk_store();

    // As the memory store's; find() reads the file, and drops it when it is damaged. Its memory is taken from
    // the room, if there is one; null when that has not enough left.
    stored find(std::string_view url, const request_head&, const std::shared_ptr<room>& within = nullptr);
    bool has(std::string_view url) const;

    // As the memory store's. An error when the file cannot be written; the old variant is gone then, too.
    result<bool> put(const stored_response&);
    bool erase(std::string_view url);
    // The largest file that put() writes.
    std::uint64_t largest() const;

    void for_each_url(const std::function<void(std::string_view)>&) const;
    store_counts counts() const;

  private:
    struct index;
    disk_store(const disk_options&, const hasher& names, std::unique_ptr<index> empty);
    void scan();
    std::uint64_t counted(const label&, std::uint64_t bytes) const;
    std::filesystem::path path_of(const label&) const;
    void remove_file(const label&) const;

    disk_options how_;
    hasher names_;
    std::unique_ptr<index> index_;
};

}  // namespace posy::http_cache
