// What a peer may answer to a question for its summary, after one that made sense: a message if it starts
// like one, else a digest of Squid. Whatever it is, the directory goes on answering: from the old summary if
// the new one is not believed.
//
// The checksum of a message is made to fit, so that mutations reach what is behind it.
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "message/frame.hpp"
#include "posy/overlay/mesh_directory.hpp"
#include "posy/publisher.hpp"

namespace {

using namespace posy;

constexpr read_limits limits{.max_bytes = 1 << 20};

// Of the shape of the golden deltas, so that some of their mutations are for this base.
const std::vector<std::byte>& whole_summary() {
    static const std::vector<std::byte> bytes = [] {
        auto filter = *counting_filter::make({3200, 2, layout_id::spread});
        for (int key = 0; key < 100; ++key) filter.insert(filter.hash()(key));
        return *publisher::make(std::move(filter), {.first_generation = 7})->full();
    }();
    return bytes;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size < 12) return 0;
    const auto* start = reinterpret_cast<const std::byte*>(data);
    std::vector<std::byte> bytes(start, start + size);
    overlay::mesh_directory directory(limits);
    if (directory.receive("peer", whole_summary(), 1) != reception::replaced) std::abort();
    const auto before = directory.summaries(2).front();
    bool believed = false;
    if (data[0] != 'P') {
        believed = static_cast<bool>(directory.receive_squid("peer", bytes, 2));
    } else {
        frame::checksum sum;
        sum.add(byte_view(bytes).first(bytes.size() - 4));
        store_little(&bytes[bytes.size() - 4], sum.value());
        const auto became = directory.receive("peer", bytes, 2);
        believed = became == reception::replaced || became == reception::updated;
        // The same again is no news, and changes nothing.
        if (believed && directory.receive("peer", bytes, 3) != reception::duplicate) std::abort();
    }
    const auto after = directory.summaries(3);
    if (after.size() != 1) std::abort();
    if (!believed && (after[0].items != before.items || after[0].bytes != before.bytes ||
                      after[0].false_positive_rate != before.false_positive_rate))
        std::abort();
    for (const auto* key : {"", "a", "http://example.org/"}) (void)directory.who(key, 3);
    return 0;
}
