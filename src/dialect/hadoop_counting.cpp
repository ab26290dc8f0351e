// Hadoop's CountingBloomFilter; its bytes are in hadoop.cpp.
#include <algorithm>
#include <array>

#include "hadoop.hpp"
#include "item_count.hpp"

namespace posy::foreign {
namespace {

std::uint64_t counter_bytes(std::uint64_t counters) { return ((counters - 1) / 16 + 1) * 8; }

class hadoop_counters final : public foreign_filter {
  public:
    hadoop_counters(const placing& how, std::vector<std::byte> counters)
        : how_(how), counters_(std::move(counters)) {}

    dialect speaks() const override { return dialect::hadoop_counting; }
    std::unique_ptr<foreign_filter> copy() const override { return std::make_unique<hadoop_counters>(*this); }

    result<void> insert(byte_view key) override {
        for_each_place(key, [&](std::uint64_t at) {
            set(at, std::min(15U, counter(at) + 1));
            return true;
        });
        return {};
    }
    bool may_contain(byte_view key) const override {
        return for_each_place(key, [&](std::uint64_t at) { return counter(at) != 0; });
    }
    // The filter of both multisets.
    result<void> unite(const foreign_filter& other) override {
        const auto* const same = same_kind(*this, other);
        if (!same) return not_alike("formats");
        if (same->how_ != how_) return not_alike("sizes or hashes");
        for (std::uint64_t at = 0; at < how_.bits; ++at)
            set(at, std::min(15U, counter(at) + same->counter(at)));
        return {};
    }
    result<std::vector<std::byte>> to_bytes() const override {
        auto bytes = hadoop_head_of(how_);
        append(bytes, with_words_turned(counters_));
        return bytes;
    }
    facts about() const override {
        facts f{.bits = how_.bits, .hashes = how_.hashes, .hash = "that of Hadoop, counters of 4 bits"};
        const placed_bits plain = without_counters();
        f.ones = plain.ones();
        f.false_positive_rate = rate_of_31_bits(plain);
        item_count counted;
        counted.add(f.bits, f.hashes, f.ones);
        f.different_items = counted.items();
        return f;
    }

  private:
    result<std::vector<std::byte>> as_plain_hadoop() const override {
        auto bytes = hadoop_head_of(how_);
        append(bytes, without_counters().bytes());
        return bytes;
    }
    placed_bits without_counters() const {
        placed_bits plain(how_);
        for (std::uint64_t at = 0; at < how_.bits; ++at)
            if (counter(at) != 0) plain.bytes()[at / 8] |= std::byte{1} << (at % 8);
        return plain;
    }
    unsigned counter(std::uint64_t at) const {
        return std::to_integer<unsigned>(counters_[at / 2]) >> (at % 2 * 4) & 15;
    }
    void set(std::uint64_t at, unsigned value) {
        const unsigned shift = at % 2 * 4;
        counters_[at / 2] =
            (counters_[at / 2] & ~(std::byte{15} << shift)) | static_cast<std::byte>(value << shift);
    }
    // While use() says so; whether it always did.
    template <class Use>
    bool for_each_place(byte_view key, Use use) const {
        std::array<std::uint64_t, 255> places;
        how_.place(how_, key, {places.data(), how_.hashes});
        return std::all_of(places.data(), places.data() + how_.hashes, use);
    }

    placing how_;
    std::vector<std::byte> counters_;
};

// One bit's counter would also be the one word of a filter of Cassandra, of which there are more.
bool is_counting(byte_view bytes) {
    const auto head = read_hadoop_head(bytes);
    return head && head->how.bits > 1 && bytes.size() - head->size == counter_bytes(head->how.bits);
}

std::optional<std::uint64_t> whole_counting(byte_view bytes) {
    const auto head = sure_hadoop_head(bytes);
    if (!head) return std::nullopt;
    return head->size + counter_bytes(head->how.bits);
}

any_filter read_counting(byte_view bytes, const dialect_options&) {
    const auto head = read_hadoop_head(bytes);
    if (!head) return head.error();
    const byte_view words = bytes.subspan(head->size);
    if (auto right = check_left(words, counter_bytes(head->how.bits), head->size); !right)
        return right.error();
    return owned<hadoop_counters>(head->how, with_words_turned(words));
}

any_filter make_counting(const wanted&, const placing& how) {
    return owned<hadoop_counters>(how, std::vector<std::byte>(counter_bytes(how.bits)));
}

}  // namespace

const grammar hadoop_counting{.fits = is_counting,
                              .read = read_counting,
                              .size = hadoop_size,
                              .make = make_counting,
                              .bytes_per_bit = 1.0 / 2,
                              .whole = whole_counting};

}  // namespace posy::foreign
