// The formats that are one array of bits between a head and a tail.
#pragma once

#include <memory>
#include <utility>

#include "big_endian.hpp"
#include "placed_bits.hpp"
#include "posy/dialect/foreign_filter.hpp"

namespace posy::foreign {

using any_filter = result<std::unique_ptr<foreign_filter>>;

template <class Filter, class... Parts>
any_filter owned(Parts&&... parts) {
    return std::unique_ptr<foreign_filter>(std::make_unique<Filter>(std::forward<Parts>(parts)...));
}

// The error of two filters that cannot be united.
inline error not_alike(std::string_view what) {
    return error::mismatch("filters of different " + std::string(what) +
                           " cannot be united; build them with the same options");
}

// The other filter, if it is of the same class and dialect.
template <class Filter>
const Filter* same_kind(const Filter& one, const foreign_filter& other) {
    return one.speaks() == other.speaks() ? dynamic_cast<const Filter*>(&other) : nullptr;
}

// Classical sizes (003, section 2.1). Programs in Java and C truncate the bits; here they are not yet whole,
// since they may be more than 64 bits can count.
double classical_bits(std::uint64_t items, double rate);
unsigned classical_hashes(double bits_per_item);
// What an array is for, about, whose program took the best number of hashes for it: rounded, or cut off to a
// whole number.
foreign_filter::purpose classical_purpose(const placing&, bool cut_off = false);

class array_filter final : public foreign_filter {
  public:
    struct form {
        posy::dialect dialect;
        std::string hash;
        bool words_are_big_endian = false;
        std::optional<std::size_t> count_at{};  // in the head: the number of items, little-endian
        // Where positions are not independent, what the rate is.
        double (*rate)(const placed_bits&) = nullptr;
        std::uint64_t bits_of_block = 0;  // if all places of a key are in one
        bool places_repeat = false;       // there, so that some keys take fewer of its bits
        bool counts = true;               // the number of ones tells that of the keys
        std::optional<foreign_filter::purpose> planned{};
    };

    array_filter(form how, std::vector<std::byte> head, placed_bits bits, std::vector<std::byte> tail = {})
        : form_(std::move(how)), head_(std::move(head)), bits_(std::move(bits)), tail_(std::move(tail)) {}

    dialect speaks() const override { return form_.dialect; }
    std::unique_ptr<foreign_filter> copy() const override { return std::make_unique<array_filter>(*this); }
    result<void> insert(byte_view key) override;
    bool may_contain(byte_view key) const override { return bits_.may_contain(key); }
    result<void> unite(const foreign_filter&) override;
    result<std::vector<std::byte>> to_bytes() const override;
    facts about() const override;

  private:
    std::uint64_t count() const { return load_little<std::uint64_t>(head_.data() + *form_.count_at); }
    void count_more(std::uint64_t more);

    form form_;
    std::vector<std::byte> head_;
    placed_bits bits_;
    std::vector<std::byte> tail_;
};

}  // namespace posy::foreign
