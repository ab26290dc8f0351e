// A capture file of a stranger: packets that lie inside it, then an end or an error with an offset. However
// it is cut into pieces, the same packets come out.
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "posy/packet/capture.hpp"

namespace {

using namespace posy;
using namespace posy::packets;

struct reading {
    std::uint64_t packets = 0, bytes = 0, times = 0, offset = 0;
    bool damaged = false;
    friend bool operator==(const reading&, const reading&) = default;
};

void add(reading& r, const captured& c) {
    ++r.packets;
    for (const std::byte b : c.frame) r.bytes = 31 * r.bytes + std::to_integer<unsigned>(b);
    r.times = 31 * r.times + c.time + c.original_length;
}

// In pieces of `piece` bytes.
reading read(byte_view file, std::size_t piece) {
    capture_reader in;
    captured c;
    reading r;
    std::size_t start = 0;
    for (std::size_t end = 0; end < file.size();) {
        end = std::min(file.size(), end + piece);
        byte_view input = file.subspan(start, end - start);
        while (in.next(input, c) == capture_reader::step::packet) {
            if (c.frame.data() + c.frame.size() > input.data()) std::abort();
            add(r, c);
        }
        start = end - input.size();
        if (in.wrong()) break;
    }
    if (in.offset() != start) std::abort();
    r.offset = in.offset();
    r.damaged = in.wrong().has_value();
    return r;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const byte_view file(reinterpret_cast<const std::byte*>(data), size);
    if (read(file, size + 1) != read(file, 1 + size / 5)) std::abort();
    return 0;
}
