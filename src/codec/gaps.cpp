// The codec for sparse arrays: the gaps between ones through rANS (gap_coder.hpp), with probabilities from
// the density.
//
//     coding = ones                          varint; nothing else if no bit is set or all are
//              chunk | (ones size chunk)*    one chunk takes the rest; several come with their ones and sizes
//
// A chunk is a range of bits, a power of two with 2^18 ones or more on average, so that chunks can be coded
// on several cores and streamed. The gaps of a chunk begin at its start; what follows its last one is not
// coded. Of an array with more ones than zeros it is the complement that is cut into chunks and coded.
//
// Over log2 C(m,x) it costs 0.01 % in large arrays and 3 bytes in small ones: one for the count, which the
// bound does not include, half a byte for rounding up, and the rest for the overhead of the varint.
#include "gaps.hpp"

#include <algorithm>
#include <bit>

#include "base/varint.hpp"
#include "bits/word_kernels.hpp"
#include "byte_array.hpp"
#include "gap_coder.hpp"

namespace posy::codec {
namespace {

constexpr std::uint64_t ones_in_chunk = 1 << 18;

// The number of bits in a chunk; `bits` if there is only one chunk.
std::uint64_t chunk_bits(std::uint64_t bits, std::uint64_t ones) {
    if (ones < 2 * ones_in_chunk) return bits;
    return std::min(bits, std::bit_ceil(bits / ones * ones_in_chunk));
}

bool mostly_ones(std::uint64_t bits, std::uint64_t ones) { return ones > bits - ones; }

void complement(std::span<std::uint64_t> words, std::uint64_t bits) {
    for (std::uint64_t& word : words) word = ~word;
    words.back() &= tail_mask(bits);
}

}  // namespace

void encode_gaps(bit_view view, std::vector<std::byte>& out, const base::how& run) {
    base::put_varint(out, view.ones);
    if (view.ones == 0 || view.ones == view.bits) return;
    std::vector<std::uint64_t> zeros;
    if (mostly_ones(view.bits, view.ones)) {
        zeros.assign(view.words.begin(), view.words.end());
        complement(zeros, view.bits);
        view = {zeros, view.bits, view.bits - view.ones};
    }
    const gap_coder coder(view.ones, view.bits);
    const std::uint64_t each = chunk_bits(view.bits, view.ones);
    if (each == view.bits) {
        gap_coder::scratch spare;
        return coder.encode(view.words, 0, view.bits, view.ones, out, spare);
    }
    struct worker {
        gap_coder::scratch spare;
        std::uint64_t ones;
        std::vector<std::byte> coded;
    };
    const unsigned width = std::max(1u, run.threads);
    std::vector<worker> workers(width);
    const std::uint64_t chunks = (view.bits - 1) / each + 1;
    for (std::uint64_t first = 0; first < chunks; first += width) {
        const std::size_t now = std::min<std::uint64_t>(width, chunks - first);
        base::for_each_index(now, width, [&](std::size_t i) {
            const std::uint64_t from = (first + i) * each, to = from + std::min(each, view.bits - from);
            workers[i].coded.clear();
            workers[i].ones = bits::count_ones(
                view.words.subspan(from / 64, (to - from) / 64 + ((to - from) % 64 != 0)), run.instructions);
            coder.encode(view.words, from, to, workers[i].ones, workers[i].coded, workers[i].spare);
        });
        for (std::size_t i = 0; i < now; ++i) {
            base::put_varint(out, workers[i].ones);
            base::put_varint(out, workers[i].coded.size());
            out.insert(out.end(), workers[i].coded.begin(), workers[i].coded.end());
        }
    }
}

result<void> decode_gaps(byte_view coded, bit_room room, const base::how& run) {
    const std::size_t total = coded.size();
    const auto ones = base::take_varint(coded);
    if (!ones) return error::damaged("the count of ones is cut off or not a number", 0);
    if (*ones > room.bits) return error::damaged("more ones than bits", 0);
    if (*ones == 0 || *ones == room.bits) {
        if (!coded.empty()) return error::damaged("bytes left over", total - coded.size());
        if (*ones != 0) complement(room.words, room.bits);
        return {};
    }
    const bool complemented = mostly_ones(room.bits, *ones);
    const std::uint64_t coded_ones = complemented ? room.bits - *ones : *ones;

    const std::uint64_t each = chunk_bits(room.bits, coded_ones), chunks = (room.bits - 1) / each + 1;
    struct part {
        byte_view coded;
        std::uint64_t ones;
        std::size_t at;
        const char* wrong = nullptr;
    };
    std::vector<part> parts;
    if (chunks == 1) {
        parts.push_back({coded, coded_ones, total - coded.size()});
    } else {
        std::uint64_t left = coded_ones;
        while (parts.size() < chunks) {
            const std::size_t at = total - coded.size();
            const auto here = base::take_varint(coded), size = here ? base::take_varint(coded) : here;
            if (!size || *size > coded.size()) return error::damaged("a chunk is cut off", at);
            if (*here > left) return error::damaged("more ones in the chunks than announced", at);
            left -= *here;
            parts.push_back({coded.first(*size), *here, total - coded.size()});
            coded = coded.subspan(*size);
        }
        if (!coded.empty()) return error::damaged("bytes left over", total - coded.size());
        if (left != 0) return error::damaged("fewer ones in the chunks than announced", 0);
    }
    const gap_coder coder(coded_ones, room.bits);
    base::for_each_index(chunks, run.threads, [&](std::size_t i) {
        const std::uint64_t from = i * each, to = from + std::min(each, room.bits - from);
        parts[i].wrong = coder.decode(parts[i].coded, room.words, from, to, parts[i].ones);
    });
    for (const part& one : parts)
        if (one.wrong) return error::damaged(one.wrong, one.at);
    if (complemented) complement(room.words, room.bits);
    return {};
}

void encode_gaps(bit_view view, std::vector<std::byte>& out) { encode_gaps(view, out, base::how{}); }
result<void> decode_gaps(byte_view coded, bit_room room) { return decode_gaps(coded, room, base::how{}); }

}  // namespace posy::codec
