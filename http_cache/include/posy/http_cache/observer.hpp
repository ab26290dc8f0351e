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
};

struct store_counts {
    std::uint64_t bytes = 0;    // as sizes are counted, stored_response's or a file's
    std::uint64_t objects = 0;  // variants
    std::uint64_t urls = 0;
    std::uint64_t evictions = 0;  // objects dropped to make room, in total
    store_counts& operator+=(const store_counts&);
};

}  // namespace posy::http_cache
