// The bytes that are held of a body of known length, when not all of it came (RFC 9111, 3.3 and 3.4).
//
// Each part lies where it arrived: joining two values copies no bytes, it only says which of them count. Both
// are of the same version, so it does not matter which, where they overlap. pack() copies neighbours together
// when there are too many of them.
// Invariant: parts are in order, do not overlap, are not empty and lie within the length. Cost of join() and
// slices(): a walk over all parts, at most most_parts in a store. Thread safety: as of any value.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "posy/http_cache/room.hpp"

namespace posy::http_cache {

struct byte_range {
    std::uint64_t first = 0, last = 0;  // both included
    std::uint64_t size() const { return last - first + 1; }
    friend bool operator==(const byte_range&, const byte_range&) = default;
};

class body_parts {
  public:
    static constexpr std::size_t most_parts = 64;

    // One part. Precondition: it is not empty and ends within the length.
    body_parts(std::uint64_t length, std::uint64_t first, std::shared_ptr<const std::string> bytes);

    std::uint64_t length() const { return length_; }  // of the whole body
    std::size_t count() const { return all_.size(); }
    bool covers(const byte_range&) const;
    bool whole() const { return covers({0, length_ - 1}); }
    // How many bytes are held from the first one on.
    std::uint64_t beginning() const;
    // The bytes of a range in order, in as many pieces as they lie in. Precondition: covers().
    std::vector<std::string_view> slices(const byte_range&) const;
    // Memory: each text that a part lies in counts in full.
    std::uint64_t bytes() const;
    std::size_t texts() const;

    // With those of `more`. Precondition: the lengths are equal.
    body_parts joined(const body_parts& more) const;
    // Parts that touch in one text each. False, with nothing changed, when there is no room for the copies.
    bool pack(const std::shared_ptr<room>&);
    // All of it as one text; null when some is missing or there is no room.
    std::shared_ptr<const std::string> text(const std::shared_ptr<room>&, std::uint64_t beside) const;

  private:
    struct part {
        byte_range at;
        std::string_view bytes;
        std::shared_ptr<const std::string> holder;
    };
    body_parts() = default;
    void cut_out(const byte_range&);

    std::uint64_t length_ = 0;
    std::vector<part> all_;
};

}  // namespace posy::http_cache
