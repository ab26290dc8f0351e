// A message of one kind, mutated: an error or a correct parse, within the memory that the limit allows.
//
// The harness repairs what would end every mutation early: the kind byte is set to the target's kind, and the
// checksum is made to fit, so that mutations reach the headers, the codecs and the queryable forms. What
// parses must survive a round trip and must be able to answer.
#include <array>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "message/frame.hpp"
#include "posy/message.hpp"

namespace {

using namespace posy;

constexpr read_limits limits{.max_bytes = 1 << 20};

bloom_filter plain(const any_body& body) {
    if (const auto* filter = std::get_if<bloom_filter>(&body)) return *filter->clone();
    if (const auto* counting = std::get_if<counting_filter>(&body)) return *counting->projection().clone();
    if (const auto* delta = std::get_if<filter_delta>(&body)) {
        return bloom_filter::from_bits(delta->geometry, *delta->flips.clone(), delta->items);
    }
    return *bloom_filter::make({1, 1, layout_id::spread});
}

void use(const message& m) {
    if (const auto* compressed = std::get_if<compressed_filter>(&m.body)) {
        // Bytes that only look right may answer anything, but they must answer.
        for (std::uint64_t key = 0; key < 64; ++key) (void)compressed->may_contain(compressed->hash()(key));
        if (compressed->geometry().bits <= 8 * limits.max_bytes) (void)compressed->unpack();
        return;
    }
    // Those that describe themselves: they must answer, and come back the same bytes.
    const bool of_their_own = std::visit(
        []<class Body>(const Body& body) {
            if constexpr (
                requires { body.may_contain(digest{}); } && !requires { body.geometry(); }) {
                for (std::uint64_t key = 0; key < 64; ++key) (void)body.may_contain(body.hash()(key));
            } else if constexpr (requires { body.find(digest{}); }) {
                for (std::uint64_t key = 0; key < 64; ++key) (void)body.find(body.hash()(key));
            } else if constexpr (requires { body.estimate(digest{}); }) {
                for (std::uint64_t key = 0; key < 64; ++key) (void)body.estimate(body.hash()(key));
            }
            return requires { body.append_to(std::declval<std::vector<std::byte>&>()); }
            || std::same_as<Body, sealed_filter> || std::same_as<Body, bloomier_map>;
        },
        m.body);
    if (of_their_own) {
        const auto bytes = to_bytes(m.body);
        const auto again = from_bytes(bytes, limits);
        if (!again || to_bytes(again->body) != bytes) std::abort();
        return;
    }
    const bloom_filter before = plain(m.body);
    const auto again = from_bytes(to_bytes(m.body, {.want = coding::smallest}), limits);
    if (!again || !(plain(again->body) == before)) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size < 12) return 0;
    const auto* start = reinterpret_cast<const std::byte*>(data);
    std::vector<std::byte> bytes(start, start + size);
    bytes[5] = std::byte{POSY_FUZZ_KIND};
    posy::frame::checksum sum;
    sum.add(posy::byte_view(bytes).first(size - 4));
    posy::store_little(&bytes[size - 4], sum.value());
    if (const auto m = posy::from_bytes(bytes, limits)) use(*m);
    return 0;
}
