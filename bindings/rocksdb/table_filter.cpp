#include "table_filter.hpp"

#include <xxhash.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "posy/layout/line_bits.hpp"
#include "posy/plan.hpp"

namespace posy::stores {
namespace {

constexpr std::size_t header_bytes = 48, line_bytes = 64;
using line_bits = layouts::line_bits<64>;

std::uint64_t checksum_of(byte_view filter) {
    const auto header = load_little<std::uint64_t>(filter.data());
    const byte_view rest = filter.subspan(16);
    return XXH3_64bits_withSeed(rest.data(), rest.size(), header);
}

std::vector<std::byte> with_header(filter_form form, unsigned hashes, byte_view payload) {
    std::vector<std::byte> filter(header_bytes + payload.size());
    filter[0] = static_cast<std::byte>(static_cast<unsigned>(form) + 1);
    filter[1] = static_cast<std::byte>(hashes);
    std::ranges::copy(payload, filter.begin() + header_bytes);
    store_little(filter.data() + 8, checksum_of(filter));
    return filter;
}

// The lowest rate whose sealed filter is expected to fit.
double sealed_rate_for(double keys, double bits) {
    double fits = 0, too_small = -32;  // exponents of two
    for (int step = 0; step < 40; ++step) {
        const double middle = (fits + too_small) / 2;
        (theory::sealed_bits(keys, std::exp2(middle)) <= bits ? fits : too_small) = middle;
    }
    return std::exp2(fits);
}

std::vector<std::byte> make_sealed(std::span<const digest> digests, double bits) {
    const double rate = std::min(0.99, sealed_rate_for(static_cast<double>(digests.size()), bits));
    const auto made = sealed_filter::make(table_filter::hash(), digests, {.rate = rate});
    if (!made) return {};
    return with_header(filter_form::sealed, 0, made->bytes());
}

// The best number of hashes for a whole number of lines.
std::vector<std::byte> make_bloom(std::span<const digest> digests, double bits, filter_form form) {
    const layout_id layout = form == filter_form::paired ? layout_id::paired : layout_id::blocked;
    const std::uint64_t granule = round_up_bits(1, 2, layout);
    const auto granules =
        static_cast<std::uint64_t>(std::max(1.0, std::round(bits / static_cast<double>(granule))));
    std::optional<plan> best;
    for (unsigned hashes = 2; hashes <= line_bits::max_hashes; hashes += 1) {
        const auto tried =
            predict(digests.size(), {granules * granule, hashes, layout, table_filter::hash().family(), {}});
        if (tried && (!best || tried->false_positive_rate < best->false_positive_rate)) best = *tried;
    }
    auto filter = bloom_filter::make(best->geometry());
    if (!filter) return {};
    filter->insert(digests);
    return with_header(form, best->hashes, std::as_bytes(filter->bits().words()));
}

}  // namespace

std::vector<std::byte> make_table_filter(std::span<const digest> digests, double bits_per_key,
                                         filter_form form) {
    if (digests.empty()) return {};
    const double bits = std::max(1.0, bits_per_key * static_cast<double>(digests.size()) - 8 * header_bytes);
    return form == filter_form::sealed ? make_sealed(digests, bits) : make_bloom(digests, bits, form);
}

table_filter::table_filter(byte_view filter) {
    if (filter.size() < header_bytes) return;
    if (load_little<std::uint64_t>(filter.data() + 8) != checksum_of(filter)) return;
    const auto form = std::to_integer<unsigned>(filter[0]), hashes = std::to_integer<unsigned>(filter[1]);
    const byte_view payload = filter.subspan(header_bytes);
    if (form == static_cast<unsigned>(filter_form::sealed) + 1) {
        if (auto opened = sealed_filter::open(hash(), nullptr, payload)) filter_ = std::move(*opened);
        return;
    }
    const bool paired = form == static_cast<unsigned>(filter_form::paired) + 1;
    const geometry g{8 * payload.size(), hashes, paired ? layout_id::paired : layout_id::blocked};
    if (!paired && form != static_cast<unsigned>(filter_form::blocked) + 1) return;
    if (!check(g)) return;
    const unsigned parts = paired ? 2 : 1;
    filter_ = lines{payload.data(), payload.size() / line_bytes / parts, parts, hashes / parts};
}

const std::byte* table_filter::lines::line(unsigned part, digest d) const {
    return first + line_bytes * (part * count + base::scale(d.low, count));
}

bool table_filter::lines::may_contain(digest d) const {
    for (unsigned part = 0; part < parts; ++part) {
        const std::byte* const at = line(part, d);
        const auto is_set = [&](std::uint64_t bit) {
            return (load_little<std::uint64_t>(at + bit / 64 * 8) >> bit % 64 & 1) != 0;
        };
        if (!line_bits::positions(d, hashes_in_line, is_set)) return false;
        d = layouts::in_second_line(d);
    }
    return true;
}

bool table_filter::may_contain(digest d) const {
    if (const auto* bloom = std::get_if<lines>(&filter_)) return bloom->may_contain(d);
    if (const auto* sealed = std::get_if<sealed_filter>(&filter_)) return sealed->may_contain(d);
    return true;
}

void table_filter::may_contain(std::span<const digest> digests, std::span<bool> answers) const {
    if (const auto* sealed = std::get_if<sealed_filter>(&filter_)) {
        sealed->may_contain(digests, answers);
        return;
    }
    if (const auto* bloom = std::get_if<lines>(&filter_)) {
        for (const digest d : digests) {
            __builtin_prefetch(bloom->line(0, d));
            if (bloom->parts == 2) __builtin_prefetch(bloom->line(1, layouts::in_second_line(d)));
        }
    }
    for (std::size_t i = 0; i < digests.size(); ++i) answers[i] = may_contain(digests[i]);
}

}  // namespace posy::stores
