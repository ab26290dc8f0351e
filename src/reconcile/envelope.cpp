#include "envelope.hpp"

#include <algorithm>

#include "base/file.hpp"
#include "payload.hpp"

namespace posy::reconcile {
namespace {

constexpr std::size_t prefix = 4;

}  // namespace

std::vector<std::byte> seal(kind what, const hasher& hash, byte_view payload) {
    std::vector<std::byte> message(prefix);
    message.push_back(static_cast<std::byte>(what));
    message.push_back(static_cast<std::byte>(hash.family()));
    base::put_varint(message, hash.seed().low);
    base::put_varint(message, hash.seed().high);
    message.insert(message.end(), payload.begin(), payload.end());
    store_little(message.data(), static_cast<std::uint32_t>(message.size() - prefix));
    return message;
}

result<envelope> open_envelope(byte_view message) {
    payload_reader in(message);
    if (const auto length = in.little<std::uint32_t>(); length != in.rest().size())
        in.fail("a message that is not as long as it says");
    const auto what = static_cast<kind>(in.little<std::uint8_t>());
    if (what < kind::sketch || what > kind::refusal) in.fail("an unknown kind of message");
    const auto family = static_cast<hash_family>(in.little<std::uint8_t>());
    if (name_of(family) == "unknown") in.fail("an unknown hash family");
    const std::uint64_t low = in.varint(), high = in.varint();
    const byte_view payload = in.rest();
    in.bytes(payload.size());
    if (auto wrong = in.finish()) return *wrong;
    return envelope{what, hasher(family, {low, high}), payload};
}

result<std::optional<std::vector<std::byte>>> read_message(int file, const read_limits& limits) {
    std::vector<std::byte> message(prefix);
    auto got = base::read_fully(file, message);
    if (!got) return got.error();
    if (*got == 0) return std::optional<std::vector<std::byte>>();
    const std::uint64_t length = load_little<std::uint32_t>(message.data());
    if (*got == prefix && length > limits.max_bytes) {
        return error{"a message of " + std::to_string(length) + " bytes, above the limit of " +
                     std::to_string(limits.max_bytes) + "; raise it if you trust the peer"};
    }
    constexpr std::uint64_t piece = 1 << 20;
    while (*got == message.size() && message.size() < prefix + length) {
        const std::size_t had = message.size();
        message.resize(had + std::min(prefix + length - had, std::max<std::uint64_t>(piece, had)));
        got = base::read_fully(file, std::span(message).subspan(had));
        if (!got) return got.error();
        *got += had;
    }
    if (*got < message.size()) return error{"the peer's message is cut off", *got};
    return std::optional(std::move(message));
}

}  // namespace posy::reconcile
