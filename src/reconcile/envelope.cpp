#include "envelope.hpp"

#include <algorithm>

#include "base/file.hpp"
#include "payload.hpp"

namespace posy::reconcile {
namespace {

constexpr std::size_t length_size = 4;
constexpr std::size_t smallest = length_size + 4;  // kind, family, and two bytes of seed

// Length, kind and family, as far as they can be judged by themselves.
struct prefix {
    std::uint64_t length;
    reconcile::kind kind;
    hash_family family;
};
prefix take_prefix(payload_reader& in) {
    const std::uint64_t length = in.little<std::uint32_t>();
    const auto what = static_cast<kind>(in.little<std::uint8_t>());
    if (what < kind::sketch || what > kind::refusal)
        in.fail("an unknown kind of message; is there a 'posy reconcile' at the other end?");
    const auto family = static_cast<hash_family>(in.little<std::uint8_t>());
    if (name_of(family) == "unknown") in.fail("an unknown hash family");
    return {length, what, family};
}

}  // namespace

std::vector<std::byte> seal(kind what, const hasher& hash, byte_view payload) {
    std::vector<std::byte> message(length_size);
    message.push_back(static_cast<std::byte>(what));
    message.push_back(static_cast<std::byte>(hash.family()));
    base::put_varint(message, hash.seed().low);
    base::put_varint(message, hash.seed().high);
    message.insert(message.end(), payload.begin(), payload.end());
    store_little(message.data(), static_cast<std::uint32_t>(message.size() - length_size));
    return message;
}

result<envelope> open_envelope(byte_view message) {
    payload_reader in(message);
    const prefix p = take_prefix(in);
    if (p.length != message.size() - std::min(length_size, message.size()))
        in.fail("a message that is not as long as it says");
    const std::uint64_t low = in.varint(), high = in.varint();
    const byte_view payload = in.rest();
    in.bytes(payload.size());
    if (auto wrong = in.finish()) return *wrong;
    return envelope{p.kind, hasher(p.family, {low, high}), payload};
}

result<std::optional<std::vector<std::byte>>> read_message(int file, const read_limits& limits) {
    std::vector<std::byte> message(smallest);
    auto got = base::read_fully(file, message);
    if (!got) return got.error();
    if (*got == 0) return std::optional<std::vector<std::byte>>();
    payload_reader in(message);
    const prefix p = take_prefix(in);
    if (*got == smallest && !in.ok()) return *in.finish();
    if (*got == smallest && p.length > limits.max_bytes) {
        return error{"a message of " + std::to_string(p.length) + " bytes, above the limit of " +
                     std::to_string(limits.max_bytes) + "; raise it if you trust the peer"};
    }
    const std::uint64_t size = length_size + p.length;
    constexpr std::uint64_t piece = 1 << 20;
    while (*got == message.size() && message.size() < size) {
        const std::size_t had = message.size();
        message.resize(had + std::min(size - had, std::max<std::uint64_t>(piece, had)));
        got = base::read_fully(file, std::span(message).subspan(had));
        if (!got) return got.error();
        *got += had;
    }
    if (*got < message.size()) return error{"the peer's message is cut off", *got};
    return std::optional(std::move(message));
}

}  // namespace posy::reconcile
