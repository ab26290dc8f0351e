// Counters through interleaved rANS, two to a symbol if they have 4 bits.
//
//     coding = largest                  varint: the largest value of a counter; nothing else if that is 0
//              count(1)..count(largest) varints: how many counters have each value
//              byte array               byte_array.hpp
//
// Counters are nearly independent, but their distribution depends on the layout and on removals and
// saturation. So the histogram is sent, usually 30 bytes, instead of a formula. A byte of two counters a, b
// has the weight count(a)·count(b). An odd counter is paired with a zero that is counted.
//
// Over the empirical entropy it costs 0.02 % in large filters, at most 20 bytes more in small ones.
#include "counters.hpp"

#include <algorithm>
#include <array>
#include <bit>

#include "../base/varint.hpp"
#include "byte_array.hpp"
#include "histogram.hpp"

namespace posy::codec {
namespace {

__extension__ using wide = unsigned __int128;

// Of the values of `cells` cells, those past the end included: they are zeros.
histogram count_values(std::span<const std::uint64_t> words, std::uint64_t cells, unsigned width,
                       base::instruction_set set) {
    histogram values{};
    if (width == 8) {
        values = count_bytes(words, cells);
    } else {
        const auto nibbles = count_nibbles(set, words);
        std::ranges::copy(nibbles, values.begin());
        values[0] -= 16 * words.size() - cells;
    }
    return values;
}

byte_array_form form_of(const histogram& values, std::uint64_t cells, std::uint64_t counters,
                        unsigned width) {
    std::array<std::uint64_t, 256> scaled{}, weights{};
    std::uint64_t coded = 0;
    const auto usual = std::ranges::max_element(values) - values.begin();
    for (unsigned v = 0; v < 256; ++v) {
        if (values[v] == 0) continue;
        scaled[v] = std::max<std::uint64_t>(1, static_cast<std::uint64_t>((wide{values[v]} << 30) / cells));
        if (v != usual) coded += values[v] / 8 * static_cast<unsigned>(std::bit_width(cells / values[v]) + 1);
    }
    for (unsigned b = 0; b < 256; ++b) weights[b] = width == 8 ? scaled[b] : scaled[b % 16] * scaled[b / 16];
    return {model_of_weights(weights), counters * width, false, coded};
}

// Cells in whole bytes.
std::uint64_t cells_for(std::uint64_t counters, unsigned width) {
    return width == 4 ? counters + counters % 2 : counters;
}

}  // namespace

void encode_counters(std::span<const std::uint64_t> words, std::uint64_t counters, unsigned width,
                     std::vector<std::byte>& out, const base::how& run) {
    const std::uint64_t cells = cells_for(counters, width);
    const histogram values = count_values(words, cells, width, run.instructions);
    unsigned largest = 255;
    while (largest > 0 && values[largest] == 0) --largest;
    base::put_varint(out, largest);
    for (unsigned v = 1; v <= largest; ++v) base::put_varint(out, values[v]);
    if (largest > 0) encode_byte_array(form_of(values, cells, counters, width), words, out, run);
}

result<void> decode_counters(byte_view coded, std::span<std::uint64_t> words, std::uint64_t counters,
                             unsigned width, const base::how& run) {
    const std::uint64_t size = coded.size(), cells = cells_for(counters, width);
    const auto at = [&] { return size - coded.size(); };
    const auto largest = base::take_varint(coded);
    if (!largest || *largest >> width != 0)
        return error::damaged("the largest counter is cut off or too large", 0);
    histogram values{cells};
    for (unsigned v = 1; v <= *largest; ++v) {
        const std::uint64_t here = at();
        const auto count = base::take_varint(coded);
        if (!count || *count > values[0] || (v == *largest && *count == 0))
            return error::damaged("the histogram of the counters is cut off or wrong", here);
        values[v] = *count;
        values[0] -= *count;
    }
    if (*largest == 0) {
        if (!coded.empty()) return error::damaged("bytes left over", at());
        return {};
    }
    auto done = decode_byte_array(form_of(values, cells, counters, width), coded, words, at(), run);
    if (done && count_values(words, cells, width, run.instructions) != values)
        return error::damaged("not the counters that were announced", 0);
    return done;
}

}  // namespace posy::codec
