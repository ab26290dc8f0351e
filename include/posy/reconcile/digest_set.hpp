// A set as reconciliation sees it: different digests in ascending order. The key text stays with its owner.
//
// Two keys with the same digest are one element here. With half digests, the probability that this happens
// among n keys is n² / 2^65: 3 in 100 million for a million keys, 3 % for a billion. With full digests it is
// negligible.
//
// Cost: sorting, once; 16 bytes per element with either width. Thread safety: const calls from many threads.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "posy/bytes.hpp"
#include "posy/digest.hpp"
#include "posy/message.hpp"
#include "posy/result.hpp"

namespace posy::reconcile {

// How much of a digest names an element, in bytes. The numbers are on the wire.
enum class digest_width : std::uint8_t {
    half = 8,   // the low 64 bits; the high ones are zero everywhere
    full = 16,  // all 128
};

constexpr std::size_t bytes_of(digest_width width) { return static_cast<std::size_t>(width); }

// Ascending means: by the low half, then by the high one.
struct ascending {
    bool operator()(const digest& a, const digest& b) const {
        return a.low != b.low ? a.low < b.low : a.high < b.high;
    }
};

class digest_set {
  public:
    // The set of these digests, made by `hash`, in any order; repeated ones count once.
    digest_set(const hasher& hash, digest_width width, std::vector<digest> digests = {});

    const hasher& hash() const { return hash_; }
    digest_width width() const { return width_; }
    std::span<const digest> elements() const { return elements_; }
    std::size_t size() const { return elements_.size(); }
    std::uint64_t repeated() const { return repeated_; }  // how many digests were dropped
    bool contains(const digest& element) const;

    // As a payload (docs/reconcile.md). parse() takes exactly the bytes that append_to() wrote.
    void append_to(std::vector<std::byte>& out) const;
    static result<digest_set> parse(const hasher& hash, byte_view bytes, const read_limits& = {});

    friend bool operator==(const digest_set& a, const digest_set& b) {
        return a.hash_ == b.hash_ && a.width_ == b.width_ && a.elements_ == b.elements_;
    }

  private:
    hasher hash_;
    digest_width width_;
    std::vector<digest> elements_;
    std::uint64_t repeated_ = 0;
};

// Can elements made with (hash, width) be compared with those of `mine`? If not, the error says what to
// change.
result<void> check_kin(const digest_set& mine, const hasher& hash, digest_width width);

// What is in `a` and not in `b`, ascending. Precondition: both are ascending.
std::vector<digest> without(std::span<const digest> a, std::span<const digest> b);

}  // namespace posy::reconcile
