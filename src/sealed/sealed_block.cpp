// Bytes: the columns of all unknowns, one after the other, packed and filled up with zeros; then the checksum
// of these bytes and the last, 16 bits; then one byte, the columns in its low five bits and the seed in its
// high three. There are as many unknowns as the bits allow, which makes a solution likely.
#include "posy/sealed_block.hpp"

#define XXH_INLINE_ALL  // a call would take as long as the checksum of a small block
#include <xxhash.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "base/mix.hpp"
#include "codec/packed_bits.hpp"
#include "sealed/band.hpp"
#include "sealed/shape.hpp"

namespace posy::sealed_block {
namespace {

constexpr std::size_t trailer = 3;
constexpr unsigned most_columns = 31, seeds = 8;

// The table's bits divided by columns, in every lookup: of a small table by a product, which takes a third of
// the time. 2^40/columns is rounded up by less than one, so the quotient is exact below 2^40/31 bits, and the
// product fits below 2^24.
constexpr std::uint64_t divided(std::uint64_t bits, unsigned columns) {
    constexpr auto reciprocals = [] {
        std::array<std::uint64_t, most_columns + 1> all{};
        for (unsigned c = 1; c <= most_columns; ++c) all[c] = ((std::uint64_t{1} << 40) + c - 1) / c;
        return all;
    }();
    if (bits < std::uint64_t{1} << 24) [[likely]]
        return bits * reciprocals[columns] >> 40;
    return columns == 0 ? 0 : bits / columns;
}
static_assert(divided(560, 16) == 35 && divided(559, 16) == 34 && divided(560, 0) == 0 &&
              divided((1 << 24) - 1, 31) == ((1 << 24) - 1) / 31);

struct block_shape {
    unsigned columns, seed;
    std::uint64_t unknowns;

    block_shape(std::size_t table_bytes, unsigned column_count, unsigned seed_number)
        : columns(column_count), seed(seed_number), unknowns(divided(8 * table_bytes, columns)) {}

    unsigned width() const {
        return static_cast<unsigned>(std::min<std::uint64_t>(unknowns, sealed::window));
    }
    std::byte mark() const { return static_cast<std::byte>(columns | seed << 5); }
    static block_shape of(byte_view block) {
        const auto mark = std::to_integer<unsigned>(block.back());
        return {block.size() - trailer, mark & 31, mark >> 5};
    }
};

// The equation of a key: which unknowns, and what they add up to, in every column a bit.
struct block_equation {
    std::uint64_t start, coefficients, right;

    // The low half of the digest says where and what, the high half which of them. It is mixed, because
    // digests may be linear in the key, and because another seed must be another system.
    block_equation(digest d, const block_shape& shape)
        : start(base::scale(d.low, shape.unknowns - shape.width() + 1)),
          coefficients(
              (base::draw(d.high, shape.seed) & ~std::uint64_t{0} >> (sealed::window - shape.width())) | 1),
          right(codec::low_bits(d.low, shape.columns)) {}
};

std::uint16_t checksum_of(byte_view table, std::byte mark) {
    return static_cast<std::uint16_t>(
        XXH3_64bits_withSeed(table.data(), table.size(), std::to_integer<std::uint64_t>(mark)));
}

void finish(std::size_t start, std::byte mark, std::vector<std::byte>& to) {
    const auto sum = checksum_of(byte_view(to).subspan(start), mark);
    to.resize(to.size() + trailer);
    store_little(to.data() + to.size() - trailer, sum);
    to.back() = mark;
}

// Adds every key's equation; false if one contradicts the others.
bool eliminate(std::span<const digest> digests, const block_shape& shape, sealed::band<1>& equations) {
    equations.reset((shape.unknowns + 63) / 64);
    return std::ranges::all_of(digests, [&](digest d) {
        const block_equation e(d, shape);
        return equations.insert(static_cast<std::uint32_t>(e.start), e.coefficients, {e.right}) !=
               equations.contradiction;
    });
}

void put_solution(const sealed::band<1>& equations, const block_shape& shape, std::size_t table_bytes,
                  std::vector<std::byte>& to) {
    static const auto kernels = sealed::kernels::of(base::best_instruction_set());
    std::vector<std::uint64_t> solution((shape.unknowns + 63) / 64 * shape.columns);
    equations.solve(
        kernels, [&](std::uint64_t) { return shape.columns; },
        [&](std::uint64_t b, const std::uint64_t* states) {
            std::copy_n(states, shape.columns, &solution[b * shape.columns]);
        });
    const std::size_t start = to.size();
    codec::bit_writer out(to);
    for (unsigned j = 0; j < shape.columns; ++j) {
        for (std::uint64_t i = 0; i < shape.unknowns; i += 32) {
            const auto bits = static_cast<unsigned>(std::min<std::uint64_t>(32, shape.unknowns - i));
            out.put(codec::low_bits(solution[i / 64 * shape.columns + j] >> i % 64, bits), bits);
        }
    }
    out.finish();
    to.resize(start + table_bytes);
}

// `count` bits of the table from bit `at` on, in the low bits; what is above them is undefined. The table
// may end anywhere behind them.
std::uint64_t table_bits(byte_view block, std::uint64_t at, unsigned count) {
    const std::size_t byte = at / 8;
    const auto shift = static_cast<unsigned>(at % 8);
    std::uint64_t word = 0;
    if (byte + 8 <= block.size()) {
        word = load_little<std::uint64_t>(block.data() + byte);
    } else {
        for (std::size_t i = byte; i < block.size(); ++i)
            word |= std::to_integer<std::uint64_t>(block[i]) << 8 * (i - byte);
    }
    word >>= shift;
    if (shift + count > 64) word |= std::to_integer<std::uint64_t>(block[byte + 8]) << (64 - shift);
    return word;
}

bool is_whole(byte_view block) {
    if (block.size() < trailer) return false;
    const byte_view table = block.first(block.size() - trailer);
    return load_little<std::uint16_t>(block.data() + table.size()) == checksum_of(table, block.back());
}

}  // namespace

void append(std::span<const digest> digests, std::size_t size, std::vector<std::byte>& to) {
    const std::size_t start = to.size(), table_bytes = std::max(size, trailer) - trailer;
    const std::size_t keys = std::max<std::size_t>(digests.size(), 1);
    sealed::band<1> equations;
    for (auto columns = static_cast<unsigned>(std::min<std::size_t>(most_columns, 8 * table_bytes / keys));
         columns > 0; --columns) {
        for (unsigned seed = 0; seed < seeds; ++seed) {
            const block_shape shape(table_bytes, columns, seed);
            if (!eliminate(digests, shape, equations)) continue;
            put_solution(equations, shape, table_bytes, to);
            return finish(start, shape.mark(), to);
        }
    }
    finish(start, block_shape(0, 0, 0).mark(), to);
}

bool may_contain(byte_view block, digest d) {
    if (!is_whole(block)) return true;
    const block_shape shape = block_shape::of(block);
    if (shape.unknowns == 0) return true;
    const block_equation e(d, shape);
    const auto differs = [&](unsigned j) {
        const std::uint64_t terms =
            table_bits(block, j * shape.unknowns + e.start, shape.width()) & e.coefficients;
        return static_cast<unsigned>(__builtin_parityll(terms)) ^ static_cast<unsigned>(e.right >> j & 1);
    };
    // Every column of an absent key differs with probability 1/2, unpredictably: four at once, without a
    // branch between them, leave one such key in sixteen to the next branch.
    unsigned j = 0;
    for (; j + 4 <= shape.columns; j += 4) {
        if (differs(j) | differs(j + 1) | differs(j + 2) | differs(j + 3)) return false;
    }
    for (; j < shape.columns; ++j) {
        if (differs(j)) return false;
    }
    return true;
}

double false_positive_rate(byte_view block) {
    if (!is_whole(block)) return 1;
    return std::ldexp(1, -static_cast<int>(block_shape::of(block).columns));
}

}  // namespace posy::sealed_block
