// Squid's digest as a foreign filter; its bytes are in posy/dialect/squid_digest.hpp. Keys are URLs.
#include <algorithm>
#include <cmath>

#include "dialects.hpp"
#include "item_count.hpp"
#include "posy/dialect/squid_digest.hpp"

namespace posy::foreign {
namespace {

std::string_view text_of(byte_view key) { return {reinterpret_cast<const char*>(key.data()), key.size()}; }

class squid_filter final : public foreign_filter {
  public:
    explicit squid_filter(squid_digest digest) : digest_(std::move(digest)) {}

    dialect speaks() const override { return dialect::squid; }
    std::unique_ptr<foreign_filter> copy() const override { return std::make_unique<squid_filter>(*this); }
    result<void> insert(byte_view key) override {
        if (!digest_.has_room_for(text_of(key))) return too_full("the digest is full");
        digest_.insert(text_of(key));
        return {};
    }
    bool may_contain(byte_view key) const override { return digest_.may_contain(text_of(key)); }
    result<void> unite(const foreign_filter& other) override {
        const auto* const same = same_kind(*this, other);
        if (!same) return not_alike("formats");
        squid_digest both = digest_;
        if (auto done = both.unite(same->digest_); !done) return done;
        if (both.fill() > squid_digest::max_fill) return too_full("the union would be too full");
        digest_ = std::move(both);
        return {};
    }
    result<std::vector<std::byte>> to_bytes() const override { return digest_.to_bytes(); }
    facts about() const override {
        facts f{.bits = 8 * std::uint64_t{digest_.size() - squid_digest::header_size},
                .hashes = hashes,
                .ones = digest_.ones(),
                .false_positive_rate = digest_.false_positive_rate(),
                .items = digest_.items(),
                .hash = "MD5 of method and URL"};
        const auto items = static_cast<double>(digest_.capacity());
        f.planned = purpose{digest_.capacity(),
                            std::pow(-std::expm1(-hashes * items / static_cast<double>(f.bits)), hashes)};
        item_count counted;
        counted.add(f.bits, f.hashes, f.ones);
        f.different_items = counted.items();
        return f;
    }

  private:
    static constexpr int hashes = 4;

    static error too_full(const std::string& what) {
        return error::too_large(what +
                                ": Squid refuses one with more than 65 % of its bits set; make it for more "
                                "items");
    }

    squid_digest digest_;
};

any_filter wrapped(result<squid_digest> digest) {
    if (!digest) return digest.error();
    return owned<squid_filter>(std::move(*digest));
}

std::optional<std::uint64_t> whole_squid(byte_view bytes) {
    constexpr std::uint64_t head = squid_digest::header_size;
    if (bytes.size() <= head || load_big<std::uint32_t>(bytes.data()) != 0x00050003) return std::nullopt;
    return head + load_big<std::uint32_t>(bytes.data() + 16);
}

bool is_squid(byte_view bytes) { return whole_squid(bytes) == bytes.size(); }

any_filter read_squid(byte_view bytes, const dialect_options&) {
    return wrapped(squid_digest::from_bytes(bytes, read_limits::exactly(bytes.size())));
}

// Four hashes, whatever the rate: as many bits as it takes, and no fewer than keep the digest of all its keys
// below the fill at which Squid refuses it.
unsigned bits_per_entry(double rate) {
    constexpr double least = 5;  // Squid's own choice
    return static_cast<unsigned>(
        std::clamp(std::ceil(-4 / std::log1p(-std::pow(rate, 1.0 / 4))), least, 256.0));
}

result<placing> squid_size(const wanted& w) {
    const unsigned per_entry = bits_per_entry(w.rate);
    if (per_entry > 255)
        return error::invalid(
            "a digest of Squid has four hashes and at most 255 bits per entry: not at this rate");
    const auto bytes = squid_digest::mask_size(w.items, per_entry);
    if (!bytes) return bytes.error();
    return placing{.bits = 8 * *bytes, .hashes = 4};
}

any_filter make_squid(const wanted& w, const placing&) {
    return wrapped(squid_digest::make(w.items, bits_per_entry(w.rate)));
}

}  // namespace

const grammar squid{
    .fits = is_squid, .read = read_squid, .size = squid_size, .make = make_squid, .whole = whole_squid};

}  // namespace posy::foreign
