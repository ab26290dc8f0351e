#include "byte_array.hpp"

#include <algorithm>
#include <bit>

#include "../base/varint.hpp"
#include "byte_chunk.hpp"

namespace posy::codec {
namespace {

// Raw chunks are powers of two that take 384 KB or more when coded, so that the 40 bytes of overhead of each
// are 0.01 %; in the sparse case that is megabytes of array.
struct chunking {
    std::uint64_t bytes, each;

    explicit chunking(const byte_array_form& form)
        : bytes(form.bits / 8 + (form.bits % 8 != 0)), each(1 << 19) {
        while (each < bytes && form.coded_bytes / (bytes / each) < 384 << 10) each *= 2;
    }
    std::uint64_t count() const { return (bytes - 1) / each + 1; }
    std::uint64_t size_of(std::uint64_t chunk) const { return std::min(each, bytes - chunk * each); }
    template <class Word>
    std::span<Word> words_of(std::uint64_t chunk, std::span<Word> words) const {
        return words.subspan(chunk * each / 8, (size_of(chunk) + 7) / 8);
    }
};

bool lies_as_it_travels(const byte_array_form& form) {
    return !form.complement && std::endian::native == std::endian::little;
}

// Between the order of memory and the order of the wire; its own inverse.
void arrange(const byte_array_form& form, std::span<std::uint64_t> words, bool last) {
    for (std::uint64_t& word : words) word = detail::little_endian(form.complement ? ~word : word);
    if (form.complement && last) words.back() &= detail::little_endian(tail_mask(form.bits));
}

}  // namespace

void encode_byte_array(const byte_array_form& form, std::span<const std::uint64_t> words,
                       std::vector<std::byte>& out, const base::how& run) {
    const chunking chunks(form);
    const byte_coder coder(form.model, lanes_for(form.coded_bytes), run.instructions);
    struct worker {
        byte_coder::scratch spare;
        std::vector<std::uint64_t> copy;
    };
    const auto encode = [&](std::uint64_t i, worker& self, std::vector<std::byte>& to) {
        auto mine = chunks.words_of(i, words);
        if (!lies_as_it_travels(form)) {
            self.copy.assign(mine.begin(), mine.end());
            arrange(form, self.copy, i + 1 == chunks.count());
            mine = self.copy;
        }
        coder.encode({reinterpret_cast<const std::uint8_t*>(mine.data()), chunks.size_of(i)}, to, self.spare);
    };
    std::vector<worker> workers(std::clamp<std::uint64_t>(run.threads, 1, chunks.count()));
    if (chunks.count() == 1) return encode(0, workers[0], out);
    // A coded chunk is buffered until its size is known; each worker may have a few that wait for their turn.
    std::vector<std::vector<std::byte>> coded(workers.size() == 1 ? 1 : 8 * workers.size());
    for (std::uint64_t first = 0; first < chunks.count(); first += coded.size()) {
        const std::size_t now = std::min<std::uint64_t>(coded.size(), chunks.count() - first);
        base::for_each_index(workers.size(), run.threads, [&](std::size_t self) {
            for (std::size_t i = self; i < now; i += workers.size()) {
                coded[i].clear();
                encode(first + i, workers[self], coded[i]);
            }
        });
        for (std::size_t i = 0; i < now; ++i) {
            base::put_varint(out, coded[i].size());
            out.insert(out.end(), coded[i].begin(), coded[i].end());
        }
    }
}

result<void> decode_byte_array(const byte_array_form& form, byte_view coded, std::span<std::uint64_t> words,
                               std::uint64_t start, const base::how& run) {
    const chunking chunks(form);
    struct part {
        byte_view coded;
        std::uint64_t at;
        const char* wrong = nullptr;
    };
    std::vector<part> parts;
    std::uint64_t at = start;
    if (chunks.count() == 1) parts.push_back({coded, at});
    while (parts.size() < chunks.count()) {
        const std::size_t before = coded.size();
        const auto size = base::take_varint(coded);
        if (!size || *size > coded.size()) return error::damaged("a chunk is cut off", at);
        at += before - coded.size();
        parts.push_back({coded.first(*size), at});
        coded = coded.subspan(*size);
        at += *size;
    }
    if (chunks.count() > 1 && !coded.empty()) return error::damaged("bytes left over", at);

    const byte_coder coder(form.model, lanes_for(form.coded_bytes), run.instructions);
    std::vector<byte_coder::scratch> spare(std::clamp<std::uint64_t>(run.threads, 1, chunks.count()));
    std::atomic<bool> stop = false;
    base::for_each_index(spare.size(), run.threads, [&](std::size_t worker) {
        for (std::uint64_t i = worker; i < chunks.count() && !stop; i += spare.size()) {
            const auto mine = chunks.words_of(i, words);
            const bool last = i + 1 == chunks.count();
            parts[i].wrong = coder.decode(parts[i].coded,
                                          {reinterpret_cast<std::uint8_t*>(mine.data()), chunks.size_of(i)},
                                          spare[worker]);
            if (!parts[i].wrong && last && (detail::little_endian(mine.back()) & ~tail_mask(form.bits)) != 0)
                parts[i].wrong = "bits set past the end of the array";
            if (parts[i].wrong) stop = true;
            if (!lies_as_it_travels(form)) arrange(form, mine, last);
        }
    });
    for (const part& one : parts)
        if (one.wrong) return error::damaged(one.wrong, one.at);
    return {};
}

}  // namespace posy::codec
