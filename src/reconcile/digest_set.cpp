#include "posy/reconcile/digest_set.hpp"

#include <algorithm>
#include <iterator>

#include "hash/seed_text.hpp"
#include "payload.hpp"

namespace posy::reconcile {
namespace {

// The seed of siphash is a secret, and errors end in logs.
std::string describe(const hasher& hash) {
    if (hash.family() == hash_family::siphash) return std::string(name_of(hash.family()));
    return std::string(name_of(hash.family())) + " with seed " + hash::text_of(hash.seed());
}

}  // namespace

digest_set::digest_set(const hasher& hash, digest_width width, std::vector<digest> digests)
    : hash_(hash), width_(width), elements_(std::move(digests)) {
    if (width == digest_width::half) {
        for (digest& d : elements_) d.high = 0;
    }
    std::ranges::sort(elements_, ascending{});
    const auto end = std::unique(elements_.begin(), elements_.end());
    repeated_ = static_cast<std::uint64_t>(elements_.end() - end);
    elements_.erase(end, elements_.end());
}

bool digest_set::contains(const digest& element) const {
    return std::ranges::binary_search(elements_, element, ascending{});
}

void digest_set::append_to(std::vector<std::byte>& out) const {
    out.push_back(static_cast<std::byte>(width_));
    base::put_varint(out, elements_.size());
    for (const digest& d : elements_) put_digest(out, d, width_);
}

result<digest_set> digest_set::parse(const hasher& hash, byte_view bytes, const read_limits& limits) {
    payload_reader in(bytes);
    digest_set set(hash, in.width());
    const std::uint64_t count = in.count(bytes_of(set.width_), sizeof(digest), limits);
    set.elements_.reserve(count);
    for (std::uint64_t i = 0; i < count && !in.wrong(); ++i) {
        const digest next = in.element(set.width_);
        if (i > 0 && !ascending{}(set.elements_.back(), next))
            in.fail("digests that are not in ascending order, or one that comes twice");
        set.elements_.push_back(next);
    }
    if (auto wrong = in.finish()) return *wrong;
    return set;
}

result<void> check_kin(const digest_set& mine, const hasher& hash, digest_width width) {
    if (hash != mine.hash()) {
        // The peer gets to read this: it knows its own seed, and is not told the one of this side.
        const bool same = hash.family() == mine.hash().family();
        return error::mismatch("the peer hashes with " + describe(hash) + ", this side with " +
                               (same ? "another seed" : std::string(name_of(mine.hash().family()))) +
                               "; give both the same hash and seed");
    }
    if (width != mine.width()) {
        return error::mismatch("the peer's digests have " + std::to_string(8 * bytes_of(width)) +
                               " bits, those of this side " + std::to_string(8 * bytes_of(mine.width())) +
                               "; give both the same width");
    }
    return {};
}

std::vector<digest> without(std::span<const digest> a, std::span<const digest> b) {
    std::vector<digest> left;
    std::ranges::set_difference(a, b, std::back_inserter(left), ascending{});
    return left;
}

}  // namespace posy::reconcile
