// An observer is told which URLs a store holds; the proxy uses one to keep a counting Bloom filter of them.
// And the counts that a store reports.
#pragma once

#include <cstdint>
#include <string_view>

namespace posy::http_cache {

// entered() is called when the first variant of a URL is stored, left() when the last one is removed;
// replacing a variant calls neither. The calls for one URL alternate, entered() first, because they are made
// under the lock that guards the URL. So an observer must be quick, must not call the store, and must accept
// calls from several threads about different URLs.
class observer {
  public:
    virtual ~observer() = default;
    virtual void entered(std::string_view url) = 0;
    virtual void left(std::string_view url) = 0;
    // A stored file that is not what was written was found and removed. Under the same lock, or before
    // open() returns.
    virtual void damaged(std::string_view /*file*/) {}
};

struct store_counts {
    std::uint64_t bytes = 0;    // of stored_responses as their sizes are counted, or of files
    std::uint64_t objects = 0;  // variants
    std::uint64_t urls = 0;
    std::uint64_t evictions = 0;  // objects dropped to make room, in total
    std::uint64_t entries = 0;    // bytes of a disk's index
    // Of a disk, in total:
    std::uint64_t for_space = 0;  // of the evictions, those because the file system was full
    std::uint64_t unwritten = 0;  // objects that could not be written
    std::uint64_t unread = 0;     // files that could not be opened, for want of a descriptor
    store_counts& operator+=(const store_counts&);
};

}  // namespace posy::http_cache
