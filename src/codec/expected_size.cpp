#include "expected_size.hpp"

#include <cmath>

#include "base/varint.hpp"
#include "choose.hpp"
#include "posy/theory.hpp"

namespace posy::codec {
namespace {

std::uint64_t words(std::uint64_t bits) { return (bits + 63) / 64 * 8; }

// Raw, unless the coding is smaller.
expected_coding smaller(codec_id id, double bytes, std::uint64_t raw, std::uint64_t padding) {
    const auto coded = static_cast<std::uint64_t>(std::max(1.0, std::round(bytes)));
    return coded < raw + padding ? expected_coding{id, coded} : expected_coding{codec_id::raw, raw};
}

}  // namespace

expected_coding expect_bits(std::uint64_t bits, double ones, coding want, std::uint64_t padding) {
    const auto count = static_cast<std::uint64_t>(std::round(ones));
    const codec_id id = choose({{}, bits, count}, want);
    if (id == codec_id::raw) return {id, words(bits)};
    const auto m = static_cast<double>(bits);
    const double entropy = m * theory::binary_entropy(ones / m) / 8;
    auto bytes = static_cast<double>(base::varint_size(count));
    // A coder ends on a whole byte; the coder of bytes has lanes to start and tables in twelve bits.
    if (id == codec_id::bytes) {
        bytes += 1.0002 * entropy + 5;
    } else {
        bytes += (id == codec_id::gaps ? 1.0001 : 1) * entropy + 0.5;
    }
    return smaller(id, bytes, words(bits), padding);
}

expected_coding expect_counters(std::uint64_t counters, unsigned width, std::span<const double> shares,
                                coding want, std::uint64_t padding) {
    const std::uint64_t raw = words(counters * width);
    if (want == coding::raw) return {codec_id::raw, raw};
    const auto m = static_cast<double>(counters);
    double entropy = 0, histogram = 1;
    for (std::size_t v = 0; v < shares.size(); ++v) {
        const double expected = m * shares[v];
        if (expected > 0) entropy -= expected * std::log2(shares[v]) / 8;
        if (v > 0 && expected > 0.5)
            histogram += static_cast<double>(base::varint_size(static_cast<std::uint64_t>(expected)));
    }
    return smaller(codec_id::counters, 1.0002 * entropy + histogram + 9, raw, padding);
}

}  // namespace posy::codec
