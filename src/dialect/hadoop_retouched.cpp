// Hadoop's RetouchedBloomFilter (Donnet, Baynat and Friedman, 2006): bits may be cleared to be rid of false
// positives, at the price of false negatives; its bytes are in hadoop.cpp. A list is an i32, then each key as
// an i32 of its size, its bytes and an f64.
#include <algorithm>
#include <bit>

#include "hadoop.hpp"

namespace posy::foreign {
namespace {

struct listed_key {
    std::vector<std::byte> bytes;
    std::uint64_t weight;  // the bits of an f64
};
using key_lists = std::vector<std::vector<listed_key>>;

class hadoop_retouched_filter final : public foreign_filter {
  public:
    struct parts {
        placed_bits bits;
        key_lists to_clear, keys;           // of each bit
        std::vector<std::uint64_t> ratios;  // of each bit, as the bits of an f64
    };
    explicit hadoop_retouched_filter(parts all) : all_(std::move(all)) {}

    dialect speaks() const override { return dialect::hadoop_retouched; }
    std::unique_ptr<foreign_filter> copy() const override {
        return std::make_unique<hadoop_retouched_filter>(*this);
    }

    // The key is noted at each of its bits, so that clearing can choose the bit that harms the fewest.
    result<void> insert(byte_view key) override {
        const placing& how = all_.bits.how();
        std::vector<std::uint64_t> places(how.hashes);
        how.place(how, key, places);
        all_.bits.insert(key);
        for (const auto at : places)
            all_.keys[at].push_back({{key.begin(), key.end()}, std::bit_cast<std::uint64_t>(1.0)});
        return {};
    }
    bool may_contain(byte_view key) const override { return all_.bits.may_contain(key); }
    result<void> unite(const foreign_filter&) override {
        return error::unsupported(
            "filters of Hadoop whose bits were cleared cannot be united: what one has cleared the other has");
    }
    result<std::vector<std::byte>> to_bytes() const override {
        auto bytes = hadoop_head_of(all_.bits.how());
        append(bytes, all_.bits.bytes());
        append_lists(bytes, all_.to_clear);
        append_lists(bytes, all_.keys);
        for (const auto ratio : all_.ratios) append_big(bytes, ratio);
        return bytes;
    }
    facts about() const override {
        return {.bits = all_.bits.how().bits,
                .hashes = all_.bits.how().hashes,
                .ones = all_.bits.ones(),
                .false_positive_rate = rate_of_31_bits(all_.bits),
                .hash = "that of Hadoop, with lists of keys"};
    }

  private:
    // The lists serve to choose which bits to clear: without them it has the same keys.
    result<std::vector<std::byte>> as_plain_hadoop() const override {
        auto bytes = hadoop_head_of(all_.bits.how());
        append(bytes, all_.bits.bytes());
        return bytes;
    }
    static void append_lists(std::vector<std::byte>& bytes, const key_lists& lists) {
        for (const auto& list : lists) {
            append_big(bytes, static_cast<std::uint32_t>(list.size()));
            for (const listed_key& key : list) {
                append_big(bytes, static_cast<std::uint32_t>(key.bytes.size()));
                append(bytes, key.bytes);
                append_big(bytes, key.weight);
            }
        }
    }

    parts all_;
};

// Takes what is there, piece by piece; an error if there is less.
class big_reader {
  public:
    big_reader(byte_view bytes, std::size_t at) : bytes_(bytes), at_(at) {}

    byte_view take(std::uint64_t count) {
        if (count > bytes_.size() - at_) {
            wrong_ = true;
            return {};
        }
        at_ += count;
        return bytes_.subspan(at_ - count, count);
    }
    template <class Unsigned>
    Unsigned number() {
        const byte_view bytes = take(sizeof(Unsigned));
        return bytes.empty() ? Unsigned{0} : load_big<Unsigned>(bytes.data());
    }
    key_lists lists(std::uint64_t count) {
        key_lists all(count);
        for (auto& list : all) {
            const auto size = number<std::uint32_t>();
            for (std::uint32_t i = 0; i < size && !wrong_; ++i) {
                const byte_view key = take(number<std::uint32_t>());
                list.push_back({{key.begin(), key.end()}, number<std::uint64_t>()});
            }
        }
        return all;
    }
    bool wrong() const { return wrong_; }
    bool at_end() const { return at_ == bytes_.size(); }
    std::size_t at() const { return at_; }

  private:
    byte_view bytes_;
    std::size_t at_;
    bool wrong_ = false;
};

any_filter read_retouched(byte_view bytes, const dialect_options&) {
    const auto head = read_hadoop_head(bytes);
    if (!head) return head.error();
    const std::uint64_t bits = head->how.bits, array = (bits + 7) / 8;
    if (bytes.size() - head->size < array + 16 * bits)
        return error::damaged("an array, lists and ratios of " + std::to_string(bits) + " bits where " +
                                  std::to_string(bytes.size() - head->size) + " bytes are left",
                              head->size);
    big_reader rest(bytes, head->size);
    const byte_view own = rest.take(array);
    hadoop_retouched_filter::parts all{placed_bits(head->how, own), rest.lists(bits), rest.lists(bits), {}};
    for (std::uint64_t i = 0; i < bits; ++i) all.ratios.push_back(rest.number<std::uint64_t>());
    if (rest.wrong() || !rest.at_end())
        return error::damaged(rest.wrong() ? "lists of keys that end early" : "bytes behind the end",
                              rest.at());
    return owned<hadoop_retouched_filter>(std::move(all));
}

// Lists say where they end, so only reading tells; what could be another filter of Hadoop is that.
bool is_retouched(byte_view bytes) { return read_retouched(bytes, {}).ok(); }

result<placing> retouched_size(const wanted& w) {
    constexpr std::uint64_t most_bits_with_lists = std::uint64_t{1} << 26;  // 4 GB, before there is a key
    auto how = hadoop_size(w);
    if (how && how->bits > most_bits_with_lists)
        return error::too_large(
            "a filter of Hadoop with lists of keys takes some 60 bytes of memory per bit: Posy makes it with "
            "at "
            "most 2^26 bits");
    return how;
}

any_filter make_retouched(const wanted&, const placing& how) {
    return owned<hadoop_retouched_filter>(hadoop_retouched_filter::parts{
        placed_bits(how), key_lists(how.bits), key_lists(how.bits), std::vector<std::uint64_t>(how.bits)});
}

constexpr double bytes_per_bit = 1.0 / 8 + 2 * sizeof(std::vector<listed_key>) + sizeof(std::uint64_t);

}  // namespace

const grammar hadoop_retouched{is_retouched, read_retouched, retouched_size, make_retouched, bytes_per_bit};

}  // namespace posy::foreign
