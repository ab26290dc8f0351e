// RedisBloom's chain of filters, as SCANDUMP gives it: the data of the first chunk, which is the head, and of
// the others, which are the arrays, one behind the other. Little-endian, without padding:
//
//   u64 items, u32 links, u32 options, u32 growth
//   of each link: u64 bytes, u64 bits, u64 items, f64 rate, f64 bits per item, u32 hashes, u64 items planned,
//                 u8 log2 of the bits, 0 where they are no power of two
//
// LOADCHUNK takes it back: the head with iterator 1, and a part of the arrays with an iterator of 1 and the
// number of bytes up to its end.
#include <algorithm>
#include <bit>
#include <cmath>

#include "dialects.hpp"
#include "foreign_hashes.hpp"
#include "item_count.hpp"

namespace posy::foreign {
namespace {

constexpr std::size_t chain_size = 20, link_size = 53;
// Options: bits as asked for, the 64-bit hash, one link only.
constexpr std::uint32_t not_rounded = 1, wide_hash = 4, not_growing = 8;
constexpr double tightening = 0.5;  // of the rate, from link to link
constexpr std::uint32_t most_growth = 32768;
constexpr double most_bits = 0x1p36;  // of a link

void place_redis(const placing& how, byte_view key, std::span<std::uint64_t> places) {
    const std::uint64_t a = murmur2_64(key, 0xc6a4a7935bd1e995), b = murmur2_64(key, a);
    for (std::size_t i = 0; i < places.size(); ++i) places[i] = (a + i * b) % how.bits;
}

struct redis_link {
    placed_bits bits;
    std::uint64_t items;
    double rate, bits_per_item;
    std::uint64_t planned;
    std::uint8_t log2_bits;
};

double bits_per_item(double rate) { return -std::log(rate) / 0.480453013918201; }

result<placing> size_of_link(std::uint64_t items, double rate) {
    const double hashes = std::ceil(0.693147180559945 * bits_per_item(rate));
    if (hashes > 255) return too_many_hashes();
    const double bits = std::max(1.0, static_cast<double>(items) * bits_per_item(rate));
    if (bits > most_bits)
        return error::too_large("an array of RedisBloom's has at most 2^36 bits; " + std::to_string(items) +
                                " items at this rate need more");
    return placing{.bits = (static_cast<std::uint64_t>(bits) + 63) / 64 * 64,
                   .hashes = static_cast<unsigned>(hashes),
                   .place = place_redis};
}

redis_link new_link(const placing& how, std::uint64_t items, double rate) {
    return {placed_bits(how), 0, rate, bits_per_item(rate), items, 0};
}

class redis_chain final : public foreign_filter {
  public:
    redis_chain(std::uint32_t flags, std::uint32_t growth, std::vector<redis_link> links)
        : flags_(flags), growth_(growth), links_(std::move(links)) {}

    dialect speaks() const override { return dialect::redis; }
    std::unique_ptr<foreign_filter> copy() const override { return std::make_unique<redis_chain>(*this); }

    // As BF.ADD has it: a key that may be there is not added again.
    result<void> insert(byte_view key) override {
        if (may_contain(key)) return {};
        if (const redis_link& last = links_.back(); last.items >= last.planned)
            if (auto grown = grow(); !grown) return grown;
        links_.back().bits.insert(key);
        ++links_.back().items;
        return {};
    }
    bool may_contain(byte_view key) const override {
        return std::any_of(links_.rbegin(), links_.rend(),
                           [&](const redis_link& link) { return link.bits.may_contain(key); });
    }
    result<void> unite(const foreign_filter& other) override {
        const auto* const same = same_kind(*this, other);
        if (!same) return not_alike("formats");
        const bool equal = std::ranges::equal(
            links_, same->links_, {}, [](const redis_link& l) { return l.bits.how(); },
            [](const redis_link& l) { return l.bits.how(); });
        if (!equal) return not_alike("sizes, or numbers of links,");
        for (std::size_t i = 0; i < links_.size(); ++i) {
            links_[i].bits.unite(same->links_[i].bits);
            links_[i].items += same->links_[i].items;
        }
        return {};
    }
    result<std::vector<std::byte>> to_bytes() const override;
    facts about() const override;

  private:
    result<void> grow();

    std::uint32_t flags_, growth_;
    std::vector<redis_link> links_;
};

// A file may have a growth of 32,768, so that a key more would take gigabytes.
result<void> redis_chain::grow() {
    constexpr std::uint64_t always = std::uint64_t{64} << 20, most_times = 256;
    if ((flags_ & not_growing) != 0) return error::invalid("the filter is full, and was made not to grow");
    if (growth_ == 0) return error::invalid("the filter is full, and cannot grow");
    const redis_link& last = links_.back();
    const std::uint64_t items = last.planned > UINT64_MAX / growth_ ? UINT64_MAX : last.planned * growth_;
    const auto next = size_of_link(items, last.rate * tightening);
    if (!next) return next.error();
    std::uint64_t held = 0;
    for (const redis_link& link : links_) held += link.bits.bytes().size();
    if (next->bits / 8 > std::max(always, most_times * held))
        return error::too_large("the filter is full, and its next array would take " +
                                std::to_string(next->bits / 8) +
                                " bytes: more than 64 MiB and 256 times what it has");
    if (auto enough = check_memory(next->bits / 8); !enough) return enough;
    links_.push_back(new_link(*next, items, last.rate * tightening));
    return {};
}

result<std::vector<std::byte>> redis_chain::to_bytes() const {
    std::uint64_t items = 0;
    for (const redis_link& link : links_) items += link.items;
    std::vector<std::byte> bytes;
    append_little(bytes, items);
    append_little(bytes, static_cast<std::uint32_t>(links_.size()));
    append_little(bytes, flags_);
    append_little(bytes, growth_);
    for (const redis_link& link : links_) {
        append_little(bytes, std::uint64_t{link.bits.bytes().size()});
        append_little(bytes, 8 * std::uint64_t{link.bits.bytes().size()});
        append_little(bytes, link.items);
        append_little(bytes, std::bit_cast<std::uint64_t>(link.rate));
        append_little(bytes, std::bit_cast<std::uint64_t>(link.bits_per_item));
        append_little(bytes, std::uint32_t{link.bits.how().hashes});
        append_little(bytes, link.planned);
        append_little(bytes, link.log2_bits);
    }
    for (const redis_link& link : links_) append(bytes, link.bits.bytes());
    return bytes;
}

foreign_filter::facts redis_chain::about() const {
    facts f{.hashes = links_[0].bits.how().hashes,
            .items = 0,
            .hash = "MurmurHash64A, " + std::to_string(links_.size()) +
                    (links_.size() == 1 ? " link" : " links")};
    double none = 1;
    item_count counted;
    // The first link has half of the rate that was asked for, the next a quarter of it, and so on.
    f.planned = purpose{0, std::min(1.0, links_[0].rate / ((flags_ & not_growing) != 0 ? 1 : tightening))};
    for (const redis_link& link : links_) {
        const std::uint64_t ones = link.bits.ones();
        f.bits += link.bits.how().bits;
        f.ones += ones;
        *f.items += link.items;
        f.planned->items += link.planned;
        none *= 1 - link.bits.false_positive_rate();
        counted.add(link.bits.how().bits, link.bits.how().hashes, ones);
    }
    f.different_items = counted.items();
    f.false_positive_rate = 1 - none;
    return f;
}

// One link's entry of the head and its array, which is taken from the front of `arrays`.
result<redis_link> read_link(byte_view entry, byte_view& arrays) {
    const auto word = [&](std::size_t at) { return load_little<std::uint64_t>(entry.data() + at); };
    const std::uint64_t bytes = word(0), log2_bits = std::to_integer<std::uint64_t>(entry[52]);
    if (bytes == 0 || bytes > arrays.size())
        return error::damaged("an array of " + std::to_string(bytes) + " bytes where " +
                                  std::to_string(arrays.size()) + " are left",
                              0);
    if (word(8) != 8 * bytes || log2_bits > 63 ||
        (log2_bits != 0 && 8 * bytes < std::uint64_t{1} << log2_bits))
        return error::damaged("a number of bits that is not that of the bytes", 8);
    const auto rate = std::bit_cast<double>(word(24)), per_item = std::bit_cast<double>(word(32));
    if (!(rate > 0 && rate < 1) || !(per_item > 0 && per_item < 400))
        return error::damaged("a rate that cannot be", 24);
    // The next link is a multiple of this one: its items must be those that the array is for. The rate tells
    // the bits per item, too, and is what the next link is sized by.
    if (static_cast<double>(word(44)) * std::max(per_item, bits_per_item(rate)) >
        static_cast<double>(8 * bytes) + 64)
        return error::damaged("more items than the array is for", 44);
    const auto hashes = load_little<std::uint32_t>(entry.data() + 40);
    if (auto right = check_hashes(hashes, 40); !right) return right.error();
    const placing how{.bits = log2_bits != 0 ? std::uint64_t{1} << log2_bits : 8 * bytes,
                      .hashes = hashes,
                      .place = place_redis};
    redis_link link{placed_bits(how, arrays.first(bytes)), word(16), rate, per_item, word(44),
                    static_cast<std::uint8_t>(log2_bits)};
    arrays = arrays.subspan(bytes);
    return link;
}

any_filter read_redis(byte_view bytes, const dialect_options&) {
    if (auto whole = check_size(bytes, chain_size + link_size, "RedisBloom"); !whole) return whole.error();
    const auto number = [&](std::size_t at) { return load_little<std::uint32_t>(bytes.data() + at); };
    const std::uint64_t links = number(8), head = chain_size + links * link_size;
    if (links == 0 || head > bytes.size())
        return error::damaged(std::to_string(links) + " links in " + std::to_string(bytes.size()) + " bytes",
                              8);
    if ((number(12) & ~15U) != 0) return error::damaged("options that RedisBloom does not have", 12);
    if ((number(12) & wide_hash) == 0)
        return error::unsupported("a filter with the 32-bit hash of RedisBloom before its version 1", 12);
    if (number(16) > most_growth) return error::damaged("a growth above that of RedisBloom", 16);
    std::vector<redis_link> all;
    std::uint64_t items = 0;
    byte_view arrays = bytes.subspan(head);
    for (std::uint64_t i = 0; i < links; ++i) {
        const std::size_t at = chain_size + i * link_size;
        auto link = read_link(bytes.subspan(at, link_size), arrays);
        if (!link) return link.error().in_part_at(at);
        items += link->items;
        all.push_back(std::move(*link));
    }
    if (!arrays.empty())
        return error::damaged(std::to_string(arrays.size()) + " bytes behind the last array",
                              bytes.size() - arrays.size());
    if (items != load_little<std::uint64_t>(bytes.data()))
        return error::damaged("a number of items that is not the sum of those of the links", 0);
    return owned<redis_chain>(number(12), number(16), std::move(all));
}

bool is_redis(byte_view bytes) { return read_redis(bytes, {}).ok(); }

// Of heads that are complete and as RedisBloom writes them.
std::optional<std::uint64_t> whole_redis(byte_view bytes) {
    if (bytes.size() < chain_size + link_size) return std::nullopt;
    const auto number = [&](std::size_t at) { return load_little<std::uint32_t>(bytes.data() + at); };
    const std::uint64_t links = number(8), head = chain_size + links * link_size;
    if (links == 0 || head > bytes.size() || (number(12) & ~15U) != 0 || (number(12) & wide_hash) == 0 ||
        number(16) > most_growth)
        return std::nullopt;
    std::uint64_t size = head;
    for (std::size_t at = chain_size; at < head; at += link_size)
        size += load_little<std::uint64_t>(bytes.data() + at);
    return size;
}

result<placing> redis_size(const wanted& w) { return size_of_link(w.items, w.rate * tightening); }

any_filter make_redis(const wanted& w, const placing& how) {
    std::vector<redis_link> links;
    links.push_back(new_link(how, w.items, w.rate * tightening));
    return owned<redis_chain>(not_rounded | wide_hash, 2, std::move(links));
}

}  // namespace

const grammar redis{
    .fits = is_redis, .read = read_redis, .size = redis_size, .make = make_redis, .whole = whole_redis};

}  // namespace posy::foreign
