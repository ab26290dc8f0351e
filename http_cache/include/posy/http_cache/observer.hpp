// Who wants to know which URLs a store holds, as the proxy that keeps a counting Bloom filter of them; and
// what a store can say about itself.
#pragma once

#include <cstdint>
#include <string_view>

namespace posy::http_cache {

// entered() is called when the first variant of a URL comes, left() when the last one is gone; a replaced
// variant is neither. Calls about one URL come in the order in which it happened, strictly in turns,
// entered() first, because they are made under the lock that guards the URL. So: be quick, do not call the
// store from inside, and be ready for calls from several threads at once about different URLs.
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
    std::uint64_t evictions = 0;  // objects dropped for want of room, ever
    store_counts& operator+=(const store_counts&);
};

}  // namespace posy::http_cache
