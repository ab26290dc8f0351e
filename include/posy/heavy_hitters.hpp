// The most frequent keys. A sketch knows how often a given key was seen, but not which keys there were; this
// class also keeps the text of those that may be heavy, in bounded memory.
//
// The sketch's estimate is never below the truth, and a key's estimate is known when the key comes: so a key
// is kept when its estimate reaches (φ − ε)N, and dropped when that has outgrown it. At its last coming a key
// of frequency f ≥ (φ − ε)N had an estimate of at least f, so it was kept then and nothing has dropped it
// since. Reported are the kept keys whose estimate is at least φN now: all that are heavy, and what was
// over-estimated, by at most εN but for a share δ of the keys. Should more candidates come than there is room
// for, those with the smallest estimates go, and report() says from which frequency on its list is still
// complete. Top-k is the same with no threshold but the room.
//
// With the plain rule the sketch does not depend on the order of the keys, nor on how a stream was split and
// united. Then neither does the list, from the count `stable_from` on: a key of that estimate has a frequency
// that is kept everywhere, unless its error is above εN.
//
// Cost: the sketch's, and a hash map of at most twice the room. Thread safety: none; const calls may run
// together.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "posy/candidate_set.hpp"
#include "posy/count_min.hpp"
#include "posy/read_limits.hpp"

namespace posy {

class heavy_hitters {
  public:
    // All keys with a share of at least `phi` of the total weight. Needs an empty sketch with ε < φ; half of
    // φ is a good choice, and the conservative rule.
    static result<heavy_hitters> above(count_min sketch, double phi);
    // The keys that come most often, as many as there is room for. Room for several times as many as will be
    // shown makes united lists complete.
    static result<heavy_hitters> top(count_min sketch, std::uint64_t room);

    // Counts a key. The digest is the key's, made by the sketch's hasher or by another one that the caller
    // uses consistently.
    void add(std::string_view key, digest d, std::uint64_t weight = 1) {
        const std::uint64_t estimate = sketch_.add(d, weight);
        candidates_.offer(key, d, estimate, keep_threshold());
    }
    // Many keys with weight 1. Precondition: the spans have the same length.
    void add(std::span<const std::string_view> keys, std::span<const digest> digests);

    struct list {
        std::vector<heavy_hitter> keys{};  // most frequent first, equals by text; counts are the sketch's
        // Every key seen at least this often is in the list. With a threshold this is ⌈φN⌉, unless there were
        // more candidates than room.
        std::uint64_t complete_from = 0;
        // With the plain rule, any order of the stream and any union of its parts has the same keys and
        // counts from this count on, but for keys whose error is above the sketch's bound.
        std::uint64_t stable_from = 0;
    };
    // The heavy keys; without a threshold the first `most`, by default as many as there is room for.
    list report(std::optional<std::uint64_t> most = {}) const;

    const count_min& sketch() const { return sketch_; }
    hasher hash() const { return sketch_.hash(); }
    double phi() const { return phi_; }
    std::uint64_t room() const { return candidates_.room(); }
    // The keys whose text is kept.
    const candidate_set& candidates() const { return candidates_; }
    bool keeps(digest d) const { return candidates_.contains(d); }

    // Both streams. A key that is heavy in the union is heavy in one of the parts, so its text is known; its
    // count comes from the united sketch. The room is the larger one. Different thresholds or sketches do not
    // combine.
    friend result<void> unite(heavy_hitters& into, const heavy_hitters& from);

    // The bytes of docs/sketches.md; hash family and seed travel outside of them. parse() takes no more
    // memory than the limits allow and returns a valid object or an error with an offset.
    void append_to(std::vector<std::byte>& out) const;
    static result<heavy_hitters> parse(hasher hash, byte_view payload, const read_limits& = {});

  private:
    heavy_hitters(count_min sketch, double phi, double keep, candidate_set candidates)
        : sketch_(std::move(sketch)), phi_(phi), keep_(keep), candidates_(std::move(candidates)) {}
    static result<heavy_hitters> make(count_min sketch, double phi, double keep, std::uint64_t room);

    double share(double of_total) const { return of_total * static_cast<double>(sketch_.total()); }
    // The smallest count of a heavy key, and of one that is kept.
    double threshold() const { return share(phi_); }
    double keep_threshold() const { return share(keep_); }
    std::uint64_t most_outside() const;

    count_min sketch_;
    double phi_;   // 0: no threshold
    double keep_;  // at most φ
    candidate_set candidates_;
};

result<void> unite(heavy_hitters& into, const heavy_hitters& from);

}  // namespace posy
