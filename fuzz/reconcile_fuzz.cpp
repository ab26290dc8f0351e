// What a peer may send while two sets are reconciled: the first byte picks a payload or a side of a session,
// the rest is what arrives. An error or a correct parse, within the memory that the limit allows; what parses
// is written again as it came, and is put to use.
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "posy/reconcile/session.hpp"
#include "reconcile/coded_symbols.hpp"
#include "reconcile/difference_sketch.hpp"
#include "reconcile/key_texts.hpp"
#include "reconcile/tree.hpp"

namespace {

using namespace posy;
using namespace posy::reconcile;

constexpr read_limits limits{.max_bytes = 1 << 20};

const digest_set& some_set() {
    static const digest_set set = [] {
        std::vector<digest> digests;
        for (std::uint64_t key = 0; key < 50; ++key) digests.push_back(hasher()(key));
        return digest_set(hasher(), digest_width::half, std::move(digests));
    }();
    return set;
}

template <class Payload>
auto parse(byte_view bytes) {
    auto read = Payload::parse(hasher(), bytes, limits);
    if (read) {
        std::vector<std::byte> again;
        read->append_to(again);
        if (!std::ranges::equal(again, bytes)) std::abort();
    }
    return read;
}

// Messages of any content, one after the other: their length is in their first byte, their kind in the next.
void converse(session side, byte_view bytes) {
    while (!side.done()) {
        while (side.send()) continue;
        if (bytes.size() < 2) return;
        const auto size = std::min(std::to_integer<std::size_t>(bytes[0]), bytes.size() - 2);
        const auto message =
            to_bytes(envelope(static_cast<kind>(bytes[1]), hasher(), bytes.subspan(2, size)));
        bytes = bytes.subspan(2 + size);
        if (!side.receive(message)) return;
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0) return 0;
    const byte_view bytes(reinterpret_cast<const std::byte*>(data) + 1, size - 1);
    switch (data[0] % 8) {
        case 0:
            (void)parse<digest_set>(bytes);
            break;
        case 1:
            (void)parse<key_texts>(bytes);
            break;
        case 2:
            (void)parse<difference_sketch>(bytes);
            break;
        case 3: {
            symbol_decoder decoder(some_set());
            if (const auto run = parse<symbol_run>(bytes)) (void)decoder.receive(*run);
            break;
        }
        case 4:
            // The filters inside may be coded in more than one way, so they are not compared.
            if (const auto tree = reconciliation_tree::parse(hasher(), bytes, limits)) {
                (void)tree->search(some_set());
                (void)tree->expected_found(some_set().size());
            }
            break;
        case 5:
            converse(*session::ask(some_set(), {.limits = limits}), bytes);
            break;
        case 6:
            converse(*session::ask(some_set(), {.method = method::tree, .limits = limits}), bytes);
            break;
        default:
            converse(session::answer(some_set(), {.limits = limits}), bytes);
    }
    return 0;
}
