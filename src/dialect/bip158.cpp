// The Golomb-coded set of BIP 158, "basic" filters: the number of items as Bitcoin writes numbers, then the
// sorted values SipHash-2-4(item) · N · M / 2^64 as differences in Golomb–Rice code with 19 bits of
// remainder, M = 784931. Its key is the start of the block's hash, which the reader knows.
//
// A value depends on the number of items: so keys are kept until the set is written, and a set that was read
// takes no more.
#include <algorithm>
#include <set>

#include "dialects.hpp"
#include "hash/families.hpp"
#include "posy/base/wide.hpp"

namespace posy::foreign {
namespace {

constexpr unsigned remainder_bits = 19;
constexpr std::uint64_t range_of_item = 784931;  // M, about 1.497137 · 2^19: the best for the code
constexpr std::uint64_t most_items = std::uint64_t{1} << 32;

class bit_writer {
  public:
    void bit(bool one) {
        if (used_ == 0) bytes_.push_back({});
        if (one) bytes_.back() |= std::byte{0x80} >> used_;
        used_ = (used_ + 1) % 8;
    }
    void number(std::uint64_t value) {
        for (std::uint64_t quotient = value >> remainder_bits; quotient > 0; --quotient) bit(true);
        bit(false);
        for (unsigned i = remainder_bits; i-- > 0;) bit((value >> i & 1) != 0);
    }
    const std::vector<std::byte>& bytes() const { return bytes_; }

  private:
    std::vector<std::byte> bytes_;
    unsigned used_ = 0;
};

class bit_reader {
  public:
    explicit bit_reader(byte_view bytes) : bytes_(bytes) {}

    // Nothing at the end of the bytes.
    std::optional<bool> bit() {
        if (at_ / 8 >= bytes_.size()) return std::nullopt;
        const bool one = (bytes_[at_ / 8] << at_ % 8 & std::byte{0x80}) != std::byte{0};
        ++at_;
        return one;
    }
    std::optional<std::uint64_t> number() {
        std::uint64_t value = 0;
        for (;;) {
            const auto one = bit();
            if (!one) return std::nullopt;
            if (!*one) break;
            ++value;
        }
        for (unsigned i = 0; i < remainder_bits; ++i) {
            const auto one = bit();
            if (!one) return std::nullopt;
            value = value << 1 | std::uint64_t{*one};
        }
        return value;
    }
    std::uint64_t byte() const { return (at_ + 7) / 8; }

  private:
    byte_view bytes_;
    std::uint64_t at_ = 0;
};

std::uint64_t value_of(std::uint64_t hash, std::uint64_t items) {
    return base::scale(hash, items * range_of_item);
}

class golomb_coded_set final : public foreign_filter {
  public:
    explicit golomb_coded_set(hash_seed key) : key_(key) {}
    golomb_coded_set(hash_seed key, std::vector<std::uint64_t> values, byte_view bytes)
        : key_(key), values_(std::move(values)), bytes_(bytes.begin(), bytes.end()) {}

    dialect speaks() const override { return dialect::bip158; }
    std::unique_ptr<foreign_filter> copy() const override {
        return std::make_unique<golomb_coded_set>(*this);
    }

    result<void> insert(byte_view key) override {
        if (auto open = check_open(); !open) return open;
        if (hashes_.size() >= most_items - 1) return error::too_large("a set has fewer than 2^32 items");
        hashes_.insert(hash::siphash_64(key, key_));
        return {};
    }
    bool may_contain(byte_view key) const override {
        const std::uint64_t hash = hash::siphash_64(key, key_);
        if (bytes_.empty()) return hashes_.contains(hash);
        return std::ranges::binary_search(values_, value_of(hash, values_.size()));
    }
    result<void> unite(const foreign_filter& other) override {
        const auto* const same = same_kind(*this, other);
        if (!same) return not_alike("formats");
        if (same->key_ != key_) return not_alike("keys");
        if (auto open = check_open(); !open) return open;
        if (auto open = same->check_open(); !open) return open;
        hashes_.insert(same->hashes_.begin(), same->hashes_.end());
        return {};
    }
    result<std::vector<std::byte>> to_bytes() const override;
    image to_image() const override {
        image all = foreign_filter::to_image();
        all.key = key_;
        return all;
    }
    facts about() const override {
        const std::uint64_t items = bytes_.empty() ? hashes_.size() : values_.size();
        return {.bits = 8 * std::uint64_t{to_bytes()->size()},
                .hashes = 1,
                .ones = items,
                .false_positive_rate = items == 0 ? 0.0 : 1.0 / range_of_item,
                .items = items,
                .planned = purpose{items, 1.0 / range_of_item},
                .hash = "SipHash-2-4 with the key of the block"};
    }

  private:
    result<void> check_open() const {
        if (bytes_.empty()) return {};
        return error::unsupported(
            "a Golomb-coded set that is written takes no more keys: every value in it depends on their "
            "number; build it anew from all keys");
    }

    hash_seed key_;
    std::set<std::uint64_t> hashes_;     // of a set that is being built
    std::vector<std::uint64_t> values_;  // of one that was read, and its bytes
    std::vector<std::byte> bytes_;
};

// Bitcoin's CompactSize.
void append_compact(std::vector<std::byte>& to, std::uint64_t value) {
    if (value < 0xfd) return to.push_back(static_cast<std::byte>(value));
    if (value <= 0xffff) {
        to.push_back(std::byte{0xfd});
        return append_little(to, static_cast<std::uint16_t>(value));
    }
    to.push_back(std::byte{0xfe});
    append_little(to, static_cast<std::uint32_t>(value));
}

struct compact_number {
    std::uint64_t value;
    std::size_t size;
};
std::optional<compact_number> read_compact(byte_view bytes) {
    if (bytes.empty()) return std::nullopt;
    const auto first = std::to_integer<unsigned>(bytes[0]);
    if (first < 0xfd) return compact_number{first, 1};
    if (first == 0xfd && bytes.size() >= 3) {
        const auto value = load_little<std::uint16_t>(bytes.data() + 1);
        if (value >= 0xfd) return compact_number{value, 3};
    }
    if (first == 0xfe && bytes.size() >= 5) {
        const auto value = load_little<std::uint32_t>(bytes.data() + 1);
        if (value > 0xffff) return compact_number{value, 5};
    }
    return std::nullopt;
}

result<std::vector<std::byte>> golomb_coded_set::to_bytes() const {
    if (!bytes_.empty()) return bytes_;
    std::vector<std::byte> bytes;
    append_compact(bytes, hashes_.size());
    bit_writer code;
    std::uint64_t before = 0;
    for (const std::uint64_t hash : hashes_) {  // sorted, and so are the values
        const std::uint64_t value = value_of(hash, hashes_.size());
        code.number(value - before);
        before = value;
    }
    append(bytes, code.bytes());
    return bytes;
}

constexpr const char* without_key =
    "a Golomb-coded set of BIP 158 is read with the key of its block, which does not stand in it";

any_filter read_bip158(byte_view bytes, const dialect_options& o) {
    if (!o.key) return error::invalid(without_key);
    const auto items = read_compact(bytes);
    if (!items) return error::damaged("not the number of items of a Golomb-coded set", 0);
    const byte_view code = bytes.subspan(items->size);
    if (items->value > 8 * std::uint64_t{code.size()} / (remainder_bits + 1))
        return error::damaged(
            std::to_string(items->value) + " items do not fit into " + std::to_string(code.size()) + " bytes",
            0);
    std::vector<std::uint64_t> values;
    values.reserve(items->value);
    bit_reader reader(code);
    std::uint64_t value = 0;
    for (std::uint64_t i = 0; i < items->value; ++i) {
        const auto more = reader.number();
        if (!more) return error::damaged("a code that ends early", bytes.size());
        value += *more;
        if (value >= items->value * range_of_item)
            return error::damaged("a value beyond the range of the set", items->size + reader.byte());
        values.push_back(value);
    }
    if (reader.byte() != code.size())
        return error::damaged("bytes behind the end", items->size + reader.byte());
    return owned<golomb_coded_set>(*o.key, std::move(values), bytes);
}

// It grows with its keys.
result<placing> bip158_size(const wanted& w) {
    if (!w.options.key) return error::invalid(without_key);
    if (w.items >= most_items) return error::too_large("a set has fewer than 2^32 items");
    return placing{};
}

any_filter make_bip158(const wanted& w, const placing&) { return owned<golomb_coded_set>(*w.options.key); }

double rate_of_set(std::uint64_t) { return 1.0 / range_of_item; }

}  // namespace

const grammar bip158{
    .read = read_bip158, .size = bip158_size, .make = make_bip158, .least_rate = rate_of_set};

}  // namespace posy::foreign
