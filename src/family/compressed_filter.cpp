#include "posy/compressed_filter.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <new>
#include <variant>
#include <vector>

#include "base/reader.hpp"
#include "bits/array_memory.hpp"
#include "codec/elias_fano.hpp"
#include "codec/position_list.hpp"
#include "codec/rice_blocks.hpp"
#include "layout/all.hpp"

namespace posy {
namespace {

using coding = std::variant<codec::rice_blocks, codec::elias_fano, codec::position_list>;

template <class Coding>
result<coding> open_as(byte_view bytes, std::uint64_t bits) {
    auto opened = Coding::open(bytes, bits);
    if (!opened) return opened.error();
    return coding(*opened);
}

result<coding> open_coding(queryable_form form, byte_view bytes, std::uint64_t bits) {
    switch (form) {
        case queryable_form::small:
            return open_as<codec::rice_blocks>(bytes, bits);
        case queryable_form::fast:
            return open_as<codec::elias_fano>(bytes, bits);
        case queryable_form::list:
            return open_as<codec::position_list>(bytes, bits);
    }
    return error::unsupported("unknown queryable form " + std::to_string(static_cast<unsigned>(form)));
}

result<std::vector<std::byte>> encode(queryable_form form, codec::bit_view bits) {
    try {
        switch (form) {
            case queryable_form::small:
                return encode_rice_blocks(bits);
            case queryable_form::fast:
                return encode_elias_fano(bits);
            case queryable_form::list:
                return encode_position_list(bits);
        }
    } catch (const std::bad_alloc&) {
        return error::too_large("no memory for the compressed form of " + std::to_string(bits.bits) +
                                " bits");
    }
    return error::unsupported("unknown queryable form " + std::to_string(static_cast<unsigned>(form)));
}

// The prefetch distance in keys.
constexpr std::size_t ahead = 8;

}  // namespace

struct compressed_filter::coded_bits {
    posy::coding coding;
    std::shared_ptr<const void> keep_alive;
    std::uint64_t max_unpacked;  // bytes
};

result<compressed_filter> compressed_filter::make(const bloom_filter& filter, queryable_form form) {
    auto coded = encode(form, {filter.bits().words(), filter.geometry().bits, filter.ones()});
    if (!coded) return coded.error();
    const auto held = std::make_shared<const std::vector<std::byte>>(std::move(*coded));
    return open(filter.geometry(), form, filter.provenance(), held, *held);
}

result<compressed_filter> compressed_filter::open(const posy::geometry& g, queryable_form form,
                                                  const posy::provenance& from,
                                                  std::shared_ptr<const void> keep_alive, byte_view bytes,
                                                  std::uint64_t max_unpacked) {
    if (auto valid = check(g); !valid) return valid.error();
    auto opened = open_coding(form, bytes, g.bits);
    if (!opened) return opened.error();
    return compressed_filter(
        g, form, from, bytes,
        std::make_shared<const coded_bits>(coded_bits{*opened, std::move(keep_alive), max_unpacked}));
}

std::uint64_t compressed_filter::ones() const {
    return std::visit([](const auto& bits) { return bits.ones(); }, bits_->coding);
}

bool compressed_filter::may_contain(digest d) const {
    return std::visit(
        [&](const auto& bits) {
            return layouts::with_layout(geometry_, [&](const auto& layout) {
                return layout.positions(d, [&](std::uint64_t position) { return bits.test(position); });
            });
        },
        bits_->coding);
}

// Only the first position is prefetched: most absent keys need no other.
std::size_t compressed_filter::may_contain(std::span<const digest> digests, std::span<bool> answers) const {
    assert(digests.size() == answers.size());
    std::size_t yes = 0;
    const auto ask = [&](const auto& layout, const auto& bits) {
        const auto fetch = [&](std::size_t i) {
            layout.positions(digests[i],
                             [&](std::uint64_t position) { return bits.prefetch(position), false; });
        };
        for (std::size_t i = 0; i < std::min(ahead, digests.size()); ++i) fetch(i);
        for (std::size_t i = 0; i < digests.size(); ++i) {
            if (i + ahead < digests.size()) fetch(i + ahead);
            answers[i] =
                layout.positions(digests[i], [&](std::uint64_t position) { return bits.test(position); });
            yes += answers[i];
        }
    };
    std::visit(
        [&](const auto& bits) {
            layouts::with_layout(geometry_, [&](const auto& layout) { ask(layout, bits); });
        },
        bits_->coding);
    return yes;
}

result<double> compressed_filter::false_positive_rate() const {
    if (geometry_.layout == layout_id::spread) {
        const double fill = static_cast<double>(ones()) / static_cast<double>(geometry_.bits);
        return with_collisions(std::pow(fill, geometry_.hashes), geometry_.hash,
                               static_cast<double>(items().value_or(0)));
    }
    const auto filter = unpack();
    if (!filter) return filter.error();
    return filter->false_positive_rate();
}

result<bloom_filter> compressed_filter::unpack() const {
    if (const std::uint64_t memory = bits::array_memory(geometry_.bits); memory > bits_->max_unpacked)
        return base::above_limit("unpacked it takes", memory, bits_->max_unpacked);
    auto bits = bit_array::make(geometry_.bits);
    if (!bits) return bits.error();
    const auto unpacked = std::visit(
        [&](const auto& coded) {
            return coded.unpack({bits->words(), geometry_.bits});
        },
        bits_->coding);
    if (!unpacked) return unpacked.error();
    auto filter = bloom_filter::from_bits(geometry_, std::move(*bits), items());
    filter.set_provenance(provenance_);
    return filter;
}

}  // namespace posy
