// Decoded filters that many subscribers of one process share: the same message on the same base is decoded
// once, and the filter is kept as long as somebody holds it.
//
// A simulation of a thousand nodes that know each other needs it: a million summaries, of which a thousand
// differ. What is shared is known by the 128-bit hash of the whole message and by the bits that it changes,
// so two subscribers share a filter exactly when they would have decoded equal ones. Costs one hash per
// message, and 100 bytes per filter. Thread safety: none.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <tuple>
#include <vector>

#include "posy/bytes.hpp"
#include "posy/delta.hpp"

namespace posy {

class shared_filters {
  public:
    using filter = std::shared_ptr<const bloom_filter>;

    // What a subscriber that holds `base` made of this message; null if none still holds it.
    filter find(byte_view message, std::optional<edition> base) const;
    void keep(byte_view message, std::optional<edition> base, const filter&);
    std::size_t size() const { return decoded_.size(); }

    // The filter as a message, as small as possible; encoded once for each filter and generation.
    std::shared_ptr<const std::vector<std::byte>> whole(const filter&, std::uint64_t generation);

  private:
    using key = std::tuple<std::uint64_t, std::uint64_t, std::uint64_t, std::uint32_t>;
    static key key_of(byte_view message, std::optional<edition> base);
    struct encoded {
        std::weak_ptr<const bloom_filter> filter;
        std::uint64_t generation;
        std::shared_ptr<const std::vector<std::byte>> message;
    };
    void sweep();

    std::map<key, std::weak_ptr<const bloom_filter>> decoded_;
    std::map<const bloom_filter*, encoded> encoded_;
    std::size_t sweep_at_ = 1024;  // entries; then those that nobody holds are dropped
};

}  // namespace posy
