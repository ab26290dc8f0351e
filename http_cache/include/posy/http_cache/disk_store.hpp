// Stored responses in a directory, which survive a restart: one file each, in the form of stored_bytes.hpp.
//
// A file is DIRECTORY/ab/ab12…, with the 32 hexadecimal digits of the label's name under the secret key in
// DIRECTORY/key, so URLs cannot be chosen to have the same name. A file is written under a temporary name,
// renamed into place and never changed: if the process is killed, every file is whole. (After a loss of power
// a file may be damaged, since nothing waits for the disk; the checksums detect it.) The index of URLs,
// variants and sizes is in memory, in S3-FIFO queues like the memory store's. Anything else under such a name
// (a pipe, a link, a file that grew) is never followed, waited for or read: it is a miss, and removed. Cost:
// a put writes a file, a find reads one; both block. The index takes index_overhead plus three times the URL
// per file. Thread safety: every call from any thread. One lock guards index and directory; contents are read
// and written outside of it. DIRECTORY/lock keeps a second store out.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string_view>

#include "posy/base/file.hpp"
#include "posy/http_cache/fields.hpp"
#include "posy/http_cache/observer.hpp"
#include "posy/http_cache/room.hpp"
#include "posy/http_cache/stored_response.hpp"
#include "posy/result.hpp"

namespace posy::http_cache {

struct disk_options {
    std::filesystem::path directory{};  // made when missing
    std::uint64_t bytes = std::uint64_t{4} << 30;
    // Memory for the index; 0: no limit. With a limit, a file counts in `bytes` as at least the share that
    // its entry takes of the index: many small files fill the folder like few large ones.
    std::uint64_t index_bytes = 0;
    // Larger objects are refused, and removed when found; 0: only the store's own limit applies.
    std::uint64_t largest = 0;
};

// What the index takes for one file, beside its URL and its variant.
inline constexpr std::uint64_t index_overhead = 512;

struct filed;

class disk_store {
  public:
    // Reads the heads of the files, oldest first, and tells the observer each URL. Files of the store that
    // are cut off, have a damaged head or the wrong name are removed, and so are leftovers of unfinished
    // writes. All other files are left alone, and so is every folder that is a link. A damaged body is found
    // when it is read. An error for a directory that another store has open, for one whose key cannot be
    // read, and for one that has files but no key, because it was never a cache.
    static result<std::unique_ptr<disk_store>> open(const disk_options&, observer* watching = nullptr);
    // Could open() use that folder, if no other process does? Makes nothing.
    static result<void> check(const disk_options&);
    ~disk_store();

    // As the memory store's; find() reads the file, and drops it when it is damaged. Its memory is taken from
    // `within`, if given; null when that has not enough left.
    stored find(std::string_view url, const request_head&, const std::shared_ptr<room>& within = nullptr);
    bool has(std::string_view url) const;

    // As the memory store's. On a full file system others are evicted until the file fits, within reason. An
    // error when it cannot be written even so; the old variant is gone then, too.
    result<bool> put(const stored_response&);
    bool erase(std::string_view url);
    void erase_variant(const label&);
    // When the file of that variant, if there is one, was answered; 0 when an earlier process wrote it.
    moment answered(const label&) const;
    // The largest file that put() writes.
    std::uint64_t largest() const;

    void for_each_url(const std::function<void(std::string_view)>&) const;
    store_counts counts() const;

  private:
    struct index;
    disk_store(const disk_options&, const hasher& names, std::unique_ptr<index> empty);
    void scan();
    filed measured(label, std::uint64_t bytes) const;
    auto dropping();
    std::filesystem::path path_of(const label&) const;
    std::uint64_t remove_file(const label&) const;
    result<base::atomic_file> write(const stored_response&, std::string_view head) const;
    bool give_back(std::uint64_t bytes);

    disk_options how_;
    hasher names_;
    std::unique_ptr<index> index_;
};

}  // namespace posy::http_cache
