// Squid's digest as a foreign filter; its bytes are in posy/dialect/squid_digest.hpp. Keys are URLs.
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
    result<void> insert(byte_view key) override {
        digest_.insert(text_of(key));
        return {};
    }
    bool may_contain(byte_view key) const override { return digest_.may_contain(text_of(key)); }
    result<void> unite(const foreign_filter& other) override {
        const auto* const same = same_kind(*this, other);
        if (!same) return not_alike("formats");
        return digest_.unite(same->digest_);
    }
    std::vector<std::byte> to_bytes() const override { return digest_.to_bytes(); }
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

    squid_digest digest_;
};

any_filter wrapped(result<squid_digest> digest) {
    if (!digest) return digest.error();
    return owned<squid_filter>(std::move(*digest));
}

bool is_squid(byte_view bytes) {
    return bytes.size() > squid_digest::header_size && load_big<std::uint32_t>(bytes.data()) == 0x00050003 &&
           bytes.size() - squid_digest::header_size == load_big<std::uint32_t>(bytes.data() + 16);
}

any_filter read_squid(byte_view bytes, const dialect_options&) {
    return wrapped(squid_digest::from_bytes(bytes));
}

// Four hashes, whatever the rate: as many bits as it takes.
any_filter make_squid(std::uint64_t items, double rate, const dialect_options&) {
    const double per_item = std::ceil(-4 / std::log1p(-std::pow(rate, 1.0 / 4)));
    if (per_item > 255)
        return error::invalid(
            "a digest of Squid has four hashes and at most 255 bits per entry: not at this rate");
    return wrapped(squid_digest::make(items, static_cast<unsigned>(per_item)));
}

}  // namespace

const grammar squid{is_squid, read_squid, make_squid};

}  // namespace posy::foreign
