#include "placed_bits.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

namespace posy::foreign {
namespace {

// As many as one byte can say, which is the most of any format that is read without a limit of its own.
constexpr unsigned most_hashes = 255;

// The places of a key, without memory from the heap.
class places {
  public:
    places(const placing& how, byte_view key) : size_(std::min(how.hashes, most_hashes)) {
        how.place(how, key, {all_.data(), size_});
    }
    const std::uint64_t* begin() const { return all_.data(); }
    const std::uint64_t* end() const { return all_.data() + size_; }

  private:
    std::array<std::uint64_t, most_hashes> all_;
    std::size_t size_;
};

}  // namespace

bool placed_bits::insert(byte_view key) {
    bool changed = false;
    for (const auto at : places(how_, key)) {
        const std::byte mask = std::byte{1} << (at % 8);
        changed |= (bytes_[at / 8] & mask) == std::byte{0};
        bytes_[at / 8] |= mask;
    }
    return changed;
}

bool placed_bits::may_contain(byte_view key) const {
    return std::ranges::all_of(places(how_, key), [&](std::uint64_t at) {
        return (bytes_[at / 8] >> (at % 8) & std::byte{1}) != std::byte{0};
    });
}

void placed_bits::unite(const placed_bits& other) {
    std::ranges::transform(bytes_, other.bytes_, bytes_.begin(), [](auto a, auto b) { return a | b; });
}

std::uint64_t placed_bits::ones() const { return ones(how_.bits); }

std::uint64_t placed_bits::ones(std::uint64_t first_bits) const {
    const auto of = [](std::byte each) {
        return static_cast<unsigned>(std::popcount(std::to_integer<unsigned>(each)));
    };
    std::uint64_t sum = 0;
    for (std::uint64_t i = 0; i < first_bits / 8; ++i) sum += of(bytes_[i]);
    if (first_bits % 8 != 0)
        sum += of(bytes_[first_bits / 8] & ~(std::byte{0xff} << static_cast<int>(first_bits % 8)));
    return sum;
}

double placed_bits::false_positive_rate() const {
    return std::pow(static_cast<double>(ones()) / static_cast<double>(how_.bits), how_.hashes);
}

double placed_bits::false_positive_rate(std::uint64_t range) const {
    const std::uint64_t hits =
        range / how_.bits * ones() + ones(range % how_.bits);  // numbers that hit a one
    return std::pow(static_cast<double>(hits) / static_cast<double>(range), how_.hashes);
}

}  // namespace posy::foreign
