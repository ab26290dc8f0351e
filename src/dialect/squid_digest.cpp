#include "posy/dialect/squid_digest.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <string>

#include "posy/digest.hpp"

namespace posy {

namespace {

constexpr std::uint32_t current_version = 5, required_version = 3;
constexpr unsigned squid_hashes = 4;
constexpr char get = 1;  // Squid's number of the method

std::uint64_t load_big(byte_view from, std::size_t offset, std::size_t size) {
    std::uint64_t value = 0;
    for (const std::byte each : from.subspan(offset, size))
        value = value << 8 | std::to_integer<std::uint64_t>(each);
    return value;
}

void store_big(std::vector<std::byte>& to, std::size_t offset, std::size_t size, std::uint64_t value) {
    for (std::size_t i = size; i-- > 0; value >>= 8) to[offset + i] = static_cast<std::byte>(value);
}

std::uint64_t mask_size(std::uint64_t capacity, unsigned bits_per_entry) {
    return (capacity * bits_per_entry + 7) / 8;
}

std::array<std::uint64_t, squid_hashes> positions(digest d, std::uint64_t bits) {
    std::array<std::byte, 16> bytes;
    store_little(bytes.data(), d.low);
    store_little(bytes.data() + 8, d.high);
    std::array<std::uint64_t, squid_hashes> at;
    for (std::size_t i = 0; i < squid_hashes; ++i) at[i] = load_big(bytes, 4 * i, 4) % bits;
    return at;
}

}  // namespace

squid_digest::squid_digest(std::uint64_t capacity, unsigned bits_per_entry)
    : capacity_(capacity), bits_per_entry_(bits_per_entry), mask_(mask_size(capacity, bits_per_entry)) {}

result<squid_digest> squid_digest::make(std::uint64_t capacity, unsigned bits_per_entry) {
    if (auto known = check(hasher(hash_family::md5)); !known) return known.error();
    capacity = std::max<std::uint64_t>(capacity, 1);
    if (bits_per_entry < 1 || bits_per_entry > 255)
        return error::invalid("a digest of Squid has 1 to 255 bits per entry");
    if (capacity >= std::uint64_t{1} << 32 || mask_size(capacity, bits_per_entry) >= std::uint64_t{1} << 31)
        return error::invalid("a digest of Squid cannot be that large; use fewer bits per entry");
    return squid_digest(capacity, bits_per_entry);
}

result<squid_digest> squid_digest::from_bytes(byte_view bytes, const read_limits& limits) {
    if (auto known = check(hasher(hash_family::md5)); !known) return known.error();
    if (bytes.size() < header_size)
        return error::damaged("a digest of Squid starts with 128 bytes; this ends early", bytes.size());
    if (load_big(bytes, 2, 2) > current_version)
        return error::unsupported("a digest for a later version of Squid", 2);
    if (load_big(bytes, 0, 2) < required_version)
        return error::damaged("not a digest of Squid, or a very old one", 0);
    if (load_big(bytes, 21, 1) != squid_hashes) return error::damaged("a digest of Squid has 4 hashes", 21);
    const auto capacity = load_big(bytes, 4, 4), size = load_big(bytes, 16, 4);
    const auto per_entry = static_cast<unsigned>(load_big(bytes, 20, 1));
    if (capacity == 0 || per_entry == 0)
        return error::damaged("a digest without capacity", capacity == 0 ? 4U : 20U);
    if (size != mask_size(capacity, per_entry))
        return error::damaged("the size of the mask is not that of the capacity", 16);
    if (size > limits.max_bytes)
        return error::too_large("the mask is larger than the limit of " + std::to_string(limits.max_bytes),
                                16);
    if (bytes.size() - header_size != size)
        return error::damaged("the mask should have " + std::to_string(size) + " bytes and has " +
                                  std::to_string(bytes.size() - header_size),
                              header_size);
    squid_digest read(capacity, per_entry);
    std::ranges::copy(bytes.subspan(header_size), read.mask_.begin());
    read.items_ = load_big(bytes, 8, 4);
    if (read.fill() > max_fill)
        return error::damaged("more than 65 % of the bits are set: it would say yes to nearly everything");
    return read;
}

std::vector<std::byte> squid_digest::to_bytes() const {
    std::vector<std::byte> bytes(size());
    store_big(bytes, 0, 2, current_version);
    store_big(bytes, 2, 2, required_version);
    store_big(bytes, 4, 4, capacity_);
    store_big(bytes, 8, 4, items_);
    store_big(bytes, 16, 4, mask_.size());
    store_big(bytes, 20, 1, bits_per_entry_);
    store_big(bytes, 21, 1, squid_hashes);
    std::ranges::copy(mask_, bytes.begin() + header_size);
    return bytes;
}

void squid_digest::insert(std::string_view url) {
    for (const auto at : positions(hash(url), 8 * mask_.size())) mask_[at / 8] |= std::byte{1} << (at % 8);
    ++items_;
}

digest squid_digest::hash(std::string_view url) {
    std::string key(1, get);
    key += url;
    return hasher(hash_family::md5)(key);
}

bool squid_digest::may_contain(digest d) const {
    return std::ranges::all_of(positions(d, 8 * mask_.size()), [&](std::uint64_t at) {
        return (mask_[at / 8] >> (at % 8) & std::byte{1}) != std::byte{0};
    });
}

std::uint64_t squid_digest::ones() const {
    std::uint64_t sum = 0;
    for (const std::byte each : mask_)
        sum += static_cast<unsigned>(std::popcount(std::to_integer<unsigned>(each)));
    return sum;
}

double squid_digest::false_positive_rate() const { return std::pow(fill(), squid_hashes); }

}  // namespace posy
