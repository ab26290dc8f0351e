// What the tests of reconciliation share: pairs of sets whose difference is known, and
// payloads that must be refused.
#pragma once

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "payload.hpp"
#include "posy/reconcile/digest_set.hpp"
#include "support.hpp"

namespace posy::reconcile {

struct set_pair {
    digest_set a, b;
    std::vector<digest> only_a, only_b;  // ascending
};

inline set_pair make_sets(std::size_t common, std::size_t only_a, std::size_t only_b,
                          digest_width width = digest_width::half, std::uint64_t seed = 1,
                          const hasher& hash = hasher()) {
    std::mt19937_64 random(seed);
    auto a = random_digests(common, random), b = a;
    for (const digest& d : random_digests(only_a, random)) a.push_back(d);
    for (const digest& d : random_digests(only_b, random)) b.push_back(d);
    set_pair sets{digest_set(hash, width, std::move(a)), digest_set(hash, width, std::move(b)), {}, {}};
    sets.only_a = without(sets.a.elements(), sets.b.elements());
    sets.only_b = without(sets.b.elements(), sets.a.elements());
    return sets;
}

inline std::vector<digest> sorted(std::span<const digest> digests) {
    std::vector<digest> all(digests.begin(), digests.end());
    std::ranges::sort(all, ascending{});
    return all;
}

// Every way to cut a payload short is an error with an offset inside it, and so is a byte too many.
template <class Payload>
void expect_cuts_are_refused(const std::vector<std::byte>& bytes, const hasher& hash = hasher()) {
    for (std::size_t size = 0; size < bytes.size(); ++size) {
        const auto read = Payload::parse(hash, byte_view(bytes).first(size));
        ASSERT_FALSE(read) << size;
        ASSERT_TRUE(read.error().offset.has_value()) << size << ": " << read.error().message;
        ASSERT_LE(*read.error().offset, size);
    }
    auto longer = bytes;
    longer.push_back({});
    EXPECT_FALSE(Payload::parse(hash, longer));
}

// What is wrong with these bytes, and where.
template <class Payload>
void expect_refused(std::string_view text, std::uint64_t offset, const std::string& why) {
    const auto read = Payload::parse(hasher(), unhex(text));
    ASSERT_FALSE(read) << text;
    EXPECT_NE(read.error().message.find(why), std::string::npos) << text << ": " << read.error().text();
    EXPECT_EQ(read.error().offset, offset) << text << ": " << read.error().text();
}

}  // namespace posy::reconcile
