// The exact set of the standard library: what a filter saves.
#include <unordered_set>

#include "peer.hpp"

namespace {

using namespace compare;

template <class Key>
class exact {
  public:
    exact(std::uint64_t keys, double) { set_.reserve(keys); }
    void insert(Key key) { set_.insert(key); }
    bool contains(Key key) const { return set_.contains(key); }
    // A node holds the next one's address, the key, and (for text) its hash; the allocator adds 8 bytes and
    // rounds up to 16.
    std::uint64_t bytes() const {
        constexpr std::uint64_t node = (8 + sizeof(Key) + (sizeof(Key) > 8 ? 8 : 0) + 8 + 15) / 16 * 16;
        return set_.bucket_count() * 8 + set_.size() * node;
    }

  private:
    std::unordered_set<Key> set_;
};

// Beyond ten million keys it takes gigabytes and minutes and tells nothing new.
const std::string version = "libstdc++ " + std::to_string(__GLIBCXX__);
const entry<integer, exact<integer>> integers{
    {.name = "std::unordered_set", .version = version, .against = "Posy blocked", .max_keys = 10'000'000}};
const entry<text, exact<text>> strings{{.suite = suite::strings,
                                        .name = "std::unordered_set",
                                        .version = version,
                                        .against = "Posy blocked",
                                        .max_keys = 10'000'000}};

}  // namespace
