// Boost.Bloom (Boost 1.89 and later): the classic filter, the one-line filters of its fast_multiblock family,
// and two 512-bit blocks a key; batches through its own bulk operations.
#define XXH_INLINE_ALL
#define XXH_VECTOR \
    2  // AVX2: GCC 12 warns of its own AVX-512 headers, and these keys are too short for either
#include <xxhash.h>

#include <boost/bloom/block.hpp>
#include <boost/bloom/fast_multiblock32.hpp>
#include <boost/bloom/fast_multiblock64.hpp>
#include <boost/bloom/filter.hpp>
#include <boost/version.hpp>
#include <thread>

#include "peer.hpp"

namespace {

using namespace compare;
namespace bloom = boost::bloom;

template <class Key, class Filter>
class boosted {
  public:
    boosted(std::uint64_t keys, double bits_per_key)
        : filter_(static_cast<std::size_t>(static_cast<double>(keys) * bits_per_key)) {}
    void insert(const Key& key) { filter_.insert(key); }
    void insert(std::span<const Key> keys) { filter_.insert(keys.begin(), keys.end()); }
    // It has no insertion from several threads; a filter a thread and their union is what its user can do.
    void insert(std::span<const Key> keys, unsigned threads) {
        std::vector<Filter> parts(threads - 1, Filter(filter_.capacity()));
        const std::size_t share = keys.size() / threads;
        {
            std::vector<std::jthread> others;
            for (unsigned t = 1; t < threads; ++t) {
                const auto mine = t + 1 == threads ? keys.subspan(t * share) : keys.subspan(t * share, share);
                others.emplace_back([&parts, t, mine] { parts[t - 1].insert(mine.begin(), mine.end()); });
            }
            insert(keys.first(share));
        }
        for (const Filter& part : parts) filter_ |= part;
    }
    bool contains(const Key& key) const { return filter_.may_contain(key); }
    std::size_t contains(std::span<const Key> keys, std::span<bool> answers) const {
        std::size_t yes = 0;
        bool* next = answers.data();
        filter_.may_contain(keys.begin(), keys.end(), [&](const Key&, bool is_in) {
            *next++ = is_in;
            yes += is_in;
        });
        return yes;
    }
    std::uint64_t bytes() const { return filter_.capacity() / 8; }

  private:
    Filter filter_;
};

struct xxh3 {
    using is_avalanching = std::true_type;
    std::size_t operator()(text key) const { return XXH3_64bits(key.data(), key.size()); }
};

template <class Key, std::size_t K, class Subfilter, class Hash = boost::hash<Key>>
using known = entry<Key, boosted<Key, bloom::filter<Key, K, Subfilter, 0, Hash>>>;

const std::string version =
    std::to_string(BOOST_VERSION / 100'000) + "." + std::to_string(BOOST_VERSION / 100 % 1000);

description one(std::string name, std::string against, std::optional<unsigned> only_bits = {},
                suite where = suite::integers) {
    return {.suite = where,
            .name = "Boost.Bloom " + name,
            .version = version,
            .against = std::move(against),
            .only_bits = only_bits};
}

using bit = bloom::block<unsigned char, 1>;
using line32 = bloom::fast_multiblock32<8>;
using line64 = bloom::fast_multiblock64<8>;

const known<integer, 7, bit> classic10{one("classic", "Posy spread", 10)};
const known<integer, 8, bit> classic12{one("classic", "Posy spread", 12)};
const known<integer, 11, bit> classic16{one("classic", "Posy spread", 16)};
const known<integer, 1, line32> integers32{one("fast_multiblock32", "Posy blocked, k = 8")};
const known<integer, 1, line64> integers64{one("fast_multiblock64", "Posy blocked, k = 8")};
const known<integer, 2, bloom::block<std::uint64_t[8], 4>> two_lines{one("2 × 512 bits", "Posy paired")};
const known<text, 1, line32> strings32{one("fast_multiblock32", "Posy blocked, k = 8", {}, suite::strings)};
const known<text, 1, line32, xxh3> strings32_xxh3{
    one("fast_multiblock32, XXH3", "Posy blocked, k = 8", {}, suite::strings)};
const known<text, 7, bit, xxh3> strings_classic{one("classic, XXH3", "Posy spread", 10, suite::strings)};

}  // namespace
