// Posy's own contenders: a layout each, with the number of hashes that is best for it, or with that of a
// peer.
#include <posy/filter.hpp>
#include <posy/parallel.hpp>
#include <posy/plan.hpp>
#include <posy/typed/counting.hpp>

#include "peer.hpp"

namespace {

using namespace compare;

posy::geometry shape(std::uint64_t keys, double bits_per_key, posy::layout_id layout, unsigned hashes = 0) {
    posy::wishes want{.items = keys, .bits_per_item = bits_per_key, .layout = layout};
    if (hashes != 0) want.hashes = hashes;
    return posy::choose(want)->geometry();
}

template <class Key, posy::layout_id Layout, unsigned Hashes = 0>
class filter {
  public:
    filter(std::uint64_t keys, double bits_per_key)
        : bits_(*posy::bloom_filter::make(shape(keys, bits_per_key, Layout, Hashes))),
          filter_(*typed::view(bits_)) {
        filter_.clear();  // touches the pages, as the peers do when they are made
    }
    void insert(Key key) { filter_.insert(key); }
    void insert(std::span<const Key> keys) { filter_.insert(keys); }
    void insert(std::span<const Key> keys, unsigned threads) { posy::insert(bits_, keys, threads); }
    bool contains(Key key) const { return filter_.may_contain(key); }
    std::size_t contains(std::span<const Key> keys, std::span<bool> answers) const {
        return filter_.may_contain(keys, answers);
    }
    std::uint64_t bytes() const { return filter_.bytes(); }

  private:
    using typed = posy::filter<Key, Layout>;
    posy::bloom_filter bits_;
    typed filter_;
};

// "Bits" per key are counters here, of four bits each, and the projection's one.
template <posy::layout_id Layout>
class counting {
  public:
    counting(std::uint64_t keys, double bits_per_key)
        : filter_(*posy::counting_filter::make(shape(keys, bits_per_key, Layout))) {
        filter_.clear();
    }
    void insert(integer key) { filter_.insert(key); }
    void insert(std::span<const integer> keys) { filter_.insert(keys); }
    bool contains(integer key) const { return filter_.may_contain(key); }
    std::size_t contains(std::span<const integer> keys, std::span<bool> answers) const {
        return filter_.may_contain(keys, answers);
    }
    bool remove(integer key) { return filter_.remove(key); }
    std::size_t remove(std::span<const integer> keys, std::span<bool> answers) {
        return filter_.remove(keys, answers);
    }
    std::uint64_t bytes() const {
        const posy::counting_filter& counters = filter_.untyped();
        return counters.counters().cells().words().size_bytes() +
               counters.projection().bits().words().size_bytes();
    }

  private:
    posy::typed::counting<integer> filter_;
};

using enum posy::layout_id;
const std::string here = POSY_VERSION;
const entry<integer, filter<integer, spread>> spread_integers{{.name = "Posy spread", .version = here}};
const entry<integer, filter<integer, blocked>> blocked_integers{{.name = "Posy blocked", .version = here}};
const entry<integer, filter<integer, blocked, 8>> blocked_8_integers{
    {.name = "Posy blocked, k = 8", .version = here}};
const entry<integer, filter<integer, paired>> paired_integers{{.name = "Posy paired", .version = here}};
const entry<text, filter<text, spread>> spread_strings{
    {.suite = suite::strings, .name = "Posy spread", .version = here}};
const entry<text, filter<text, blocked>> blocked_strings{
    {.suite = suite::strings, .name = "Posy blocked", .version = here}};
const entry<text, filter<text, blocked, 8>> blocked_8_strings{
    {.suite = suite::strings, .name = "Posy blocked, k = 8", .version = here}};
const entry<integer, counting<spread>> spread_counters{
    {.suite = suite::counting, .name = "Posy counting, spread", .version = here}};
const entry<integer, counting<narrow>> narrow_counters{
    {.suite = suite::counting, .name = "Posy counting, narrow", .version = here}};

}  // namespace
