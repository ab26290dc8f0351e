#include "posy/dialect/squid_digest.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <string>

#include "big_endian.hpp"
#include "posy/digest.hpp"

namespace posy {

namespace {

constexpr std::uint32_t current_version = 5, required_version = 3;
constexpr unsigned squid_hashes = 4;
constexpr char get = 1;  // Squid's number of the method

std::uint64_t bytes_for(std::uint64_t capacity, unsigned bits_per_entry) {
    return (capacity * bits_per_entry + 7) / 8;
}

std::array<std::uint64_t, squid_hashes> positions(digest d, std::uint64_t bits) {
    std::array<std::byte, 16> bytes;
    store_little(bytes.data(), d.low);
    store_little(bytes.data() + 8, d.high);
    std::array<std::uint64_t, squid_hashes> at;
    for (std::size_t i = 0; i < squid_hashes; ++i)
        at[i] = foreign::load_big<std::uint32_t>(bytes.data() + 4 * i) % bits;
    return at;
}

std::uint64_t ones_of(byte_view mask) {
    std::uint64_t sum = 0;
    for (const std::byte each : mask)
        sum += static_cast<unsigned>(std::popcount(std::to_integer<unsigned>(each)));
    return sum;
}

bool is_set(byte_view mask, std::uint64_t at) {
    return (mask[at / 8] >> (at % 8) & std::byte{1}) != std::byte{0};
}

}  // namespace

result<std::uint64_t> squid_digest::mask_size(std::uint64_t capacity, unsigned bits_per_entry) {
    if (auto known = check(hasher(hash_family::md5)); !known) return known.error();
    if (bits_per_entry < 1 || bits_per_entry > 255)
        return error::invalid("a digest of Squid has 1 to 255 bits per entry");
    capacity = std::max<std::uint64_t>(capacity, 1);
    if (capacity >= std::uint64_t{1} << 32 || bytes_for(capacity, bits_per_entry) >= std::uint64_t{1} << 31)
        return error::too_large(
            "a digest of Squid has fewer than 2^32 entries and 2^31 bytes; use fewer of them, or fewer bits "
            "per entry");
    return bytes_for(capacity, bits_per_entry);
}

result<squid_digest> squid_digest::make(std::uint64_t capacity, unsigned bits_per_entry) {
    const auto bytes = mask_size(capacity, bits_per_entry);
    if (!bytes) return bytes.error();
    return squid_digest(std::max<std::uint64_t>(capacity, 1), bits_per_entry, *bytes);
}

result<squid_digest> squid_digest::from_bytes(byte_view bytes, const read_limits& limits) {
    if (auto known = check(hasher(hash_family::md5)); !known) return known.error();
    if (bytes.size() < header_size)
        return error::damaged("a digest of Squid starts with 128 bytes; this ends early", bytes.size());
    const auto half = [&](std::size_t at) { return foreign::load_big<std::uint16_t>(bytes.data() + at); };
    const auto word = [&](std::size_t at) { return foreign::load_big<std::uint32_t>(bytes.data() + at); };
    if (half(2) > current_version) return error::unsupported("a digest for a later version of Squid", 2);
    if (half(0) < required_version) return error::damaged("not a digest of Squid, or a very old one", 0);
    if (std::to_integer<unsigned>(bytes[21]) != squid_hashes)
        return error::damaged("a digest of Squid has 4 hashes", 21);
    const std::uint64_t capacity = word(4), size = word(16);
    const auto per_entry = std::to_integer<unsigned>(bytes[20]);
    if (capacity == 0 || per_entry == 0)
        return error::damaged("a digest without capacity", capacity == 0 ? 4U : 20U);
    if (size != bytes_for(capacity, per_entry))
        return error::damaged("the size of the mask is not that of the capacity", 16);
    if (size > limits.max_bytes)
        return error::too_large("the mask is larger than the limit of " + std::to_string(limits.max_bytes),
                                16);
    if (bytes.size() - header_size != size)
        return error::damaged("the mask should have " + std::to_string(size) + " bytes and has " +
                                  std::to_string(bytes.size() - header_size),
                              header_size);
    squid_digest read(capacity, per_entry, size);
    std::ranges::copy(bytes.subspan(header_size), read.mask_.begin());
    read.ones_ = ones_of(read.mask_);
    read.items_ = word(8);
    if (read.fill() > max_fill)
        return error::damaged("more than 65 % of the bits are set: it would say yes to nearly everything");
    return read;
}

std::vector<std::byte> squid_digest::to_bytes() const {
    std::vector<std::byte> bytes;
    bytes.reserve(size());
    foreign::append_big<std::uint16_t>(bytes, current_version);
    foreign::append_big<std::uint16_t>(bytes, required_version);
    foreign::append_big(bytes, static_cast<std::uint32_t>(capacity_));
    foreign::append_big(bytes, static_cast<std::uint32_t>(items_));
    foreign::append_big<std::uint32_t>(bytes, 0);  // deleted
    foreign::append_big(bytes, static_cast<std::uint32_t>(mask_.size()));
    bytes.push_back(static_cast<std::byte>(bits_per_entry_));
    bytes.push_back(std::byte{squid_hashes});
    bytes.resize(header_size);
    foreign::append(bytes, mask_);
    return bytes;
}

bool squid_digest::has_room_for(std::string_view url) const {
    const double most = max_fill * 8 * static_cast<double>(mask_.size());
    if (static_cast<double>(ones_ + squid_hashes) <= most) return true;
    auto at = positions(hash(url), 8 * mask_.size());
    std::ranges::sort(at);
    const auto end = std::unique(at.begin(), at.end());
    const auto more =
        std::count_if(at.begin(), end, [&](std::uint64_t each) { return !is_set(mask_, each); });
    return more == 0 || static_cast<double>(ones_ + static_cast<std::uint64_t>(more)) <= most;
}

void squid_digest::insert(std::string_view url) {
    for (const auto at : positions(hash(url), 8 * mask_.size())) {
        ones_ += is_set(mask_, at) ? 0 : 1;
        mask_[at / 8] |= std::byte{1} << (at % 8);
    }
    ++items_;
}

digest squid_digest::hash(std::string_view url) {
    std::string key(1, get);
    key += url;
    return hasher(hash_family::md5)(key);
}

result<void> squid_digest::unite(const squid_digest& other) {
    if (other.capacity_ != capacity_ || other.bits_per_entry_ != bits_per_entry_)
        return error::mismatch(
            "digests of different sizes cannot be united; build them with the same options");
    std::ranges::transform(mask_, other.mask_, mask_.begin(), [](auto a, auto b) { return a | b; });
    ones_ = ones_of(mask_);
    items_ += other.items_;
    return {};
}

bool squid_digest::may_contain(digest d) const {
    return std::ranges::all_of(positions(d, 8 * mask_.size()),
                               [&](std::uint64_t at) { return is_set(mask_, at); });
}

double squid_digest::false_positive_rate() const { return std::pow(fill(), squid_hashes); }

}  // namespace posy
