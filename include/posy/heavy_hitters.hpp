// The most frequent keys. A sketch knows how often a given key was seen, but not which keys there were; this
// class also keeps the text of those that may be heavy, in bounded memory.
//
// The sketch's estimate is never below the truth, and a key's estimate is known when the key comes: so a key
// is kept when its estimate reaches the threshold, and dropped when the threshold has outgrown it. At its
// last coming a key of frequency f ≥ φN had an estimate of at least f, so it was kept then and nothing has
// dropped it since: it is reported, always. What else is reported was over-estimated: by at most εN, but for
// a share δ of the keys. There are at most 1/(φ−ε) keys above (φ−ε)N; were more candidates to come, those
// with the smallest estimates go, and report() says from which frequency on its list is still complete. Top-k
// is the same with no threshold but the room.
//
// Cost: the sketch's, and a hash map of at most twice the room. Thread safety: none; const calls may run
// together.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "posy/count_min.hpp"
#include "posy/read_limits.hpp"

namespace posy {

struct heavy_hitter {
    std::string key{};
    std::uint32_t count = 0;  // at least its frequency
    friend bool operator==(const heavy_hitter&, const heavy_hitter&) = default;
};

class heavy_hitters {
  public:
    // All keys with a share of at least `phi` of the total weight. Needs an empty sketch with ε < φ; half of
    // φ is a good choice, and the conservative rule.
    static result<heavy_hitters> above(count_min sketch, double phi);
    // The k keys that come most often.
    static result<heavy_hitters> top(count_min sketch, std::uint64_t k);

    // Counts a key. The digest is the key's, made by the sketch's hasher or by another one that the caller
    // uses consistently.
    void add(std::string_view key, digest d, std::uint32_t weight = 1) {
        consider(key, d, sketch_.add(d, weight));
    }
    // Many keys with weight 1. Precondition: the spans have the same length.
    void add(std::span<const std::string_view> keys, std::span<const digest> digests);

    struct list {
        std::vector<heavy_hitter> keys;  // most frequent first, equals by text
        // Every key seen at least this often is in the list. With a threshold this is ⌈φN⌉, unless there were
        // more candidates than room.
        std::uint64_t complete_from = 0;
    };
    list report() const;

    const count_min& sketch() const { return sketch_; }
    hasher hash() const { return sketch_.hash(); }
    double phi() const { return phi_; }
    std::uint64_t room() const { return room_; }

    // Both streams. A key that is heavy in the union is heavy in one of the parts, so its text is known; its
    // count comes from the united sketch. Different thresholds, rooms or sketches do not combine.
    friend result<void> unite(heavy_hitters& into, const heavy_hitters& from);

    // The bytes of docs/sketches.md; hash family and seed travel outside of them. parse() takes no more
    // memory than the limits allow and returns a valid object or an error with an offset.
    void append_to(std::vector<std::byte>& out) const;
    static result<heavy_hitters> parse(hasher hash, byte_view payload, const read_limits& = {});

  private:
    struct digest_hash {
        std::size_t operator()(const digest& d) const { return d.low ^ d.high; }
    };
    using candidates = std::unordered_map<digest, heavy_hitter, digest_hash>;

    heavy_hitters(count_min sketch, double phi, std::uint64_t room)
        : sketch_(std::move(sketch)), phi_(phi), room_(room) {}
    static result<heavy_hitters> make(count_min sketch, double phi, std::uint64_t room);

    // φN: the smallest count of a heavy key.
    double threshold() const;
    void consider(std::string_view key, digest d, std::uint32_t estimate);
    std::vector<candidates::const_iterator> ranked() const;
    void prune();

    count_min sketch_;
    double phi_;          // 0: no threshold
    std::uint64_t room_;  // candidates that a pruning leaves
    // No key outside the candidates was seen more often than this, or than the threshold allows.
    std::uint32_t dropped_ = 0;
    candidates candidates_;
};

result<void> unite(heavy_hitters& into, const heavy_hitters& from);

}  // namespace posy
