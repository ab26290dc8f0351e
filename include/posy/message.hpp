// A filter as a message: a self-delimiting, self-describing frame. A file on disk is a message, and messages
// concatenate: a stream of them is read one after the other. docs/format.md is the specification.
//
// Cost: every payload is read once for its checksum when a message is opened, mapped or not. A file must not
// be truncated while it is mapped. Thread safety: functions are pure; a reader belongs to one thread.
//
// Reading trusts nothing. Every length is checked against the input and the limits before memory is
// allocated, and the checksum before any content is used. Work is limited by the size of the input: reading a
// message and one query take at most 2 ms per kilobyte, or 60 ms for a small message (docs/security.md). A
// message that cannot be read gives an error with the offset of the wrong byte.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <variant>
#include <vector>

#include "posy/bloom_filter.hpp"
#include "posy/bloomier_map.hpp"
#include "posy/bytes.hpp"
#include "posy/codec.hpp"
#include "posy/compressed_filter.hpp"
#include "posy/count_min.hpp"
#include "posy/counting_filter.hpp"
#include "posy/delta.hpp"
#include "posy/envelope.hpp"
#include "posy/growing_filter.hpp"
#include "posy/heavy_hitters.hpp"
#include "posy/message_kind.hpp"
#include "posy/read_limits.hpp"
#include "posy/result.hpp"
#include "posy/sealed_filter.hpp"
#include "posy/spectral_filter.hpp"
#include "posy/window_filter.hpp"

namespace posy {

template <class... Body>
struct body_list {
    using any = std::variant<Body...>;
    using pointer = std::variant<const Body*...>;
};

// What a message can carry, in the order of the kinds (posy/message_kind.hpp).
using bodies =
    body_list<bloom_filter, counting_filter, filter_delta, compressed_filter, sealed_filter, bloomier_map,
              count_min, spectral_filter, heavy_hitters, growing_filter, window_filter, reconcile::envelope>;
using any_body = bodies::any;
static_assert(std::variant_size_v<any_body> == members<message_kind>.size());

template <class Body>
constexpr message_kind kind_of_body = []<std::size_t... I>(std::index_sequence<I...>) {
    static_assert((std::same_as<Body, std::variant_alternative_t<I, any_body>> || ...));
    return static_cast<message_kind>(
        (... + (std::same_as<Body, std::variant_alternative_t<I, any_body>> ? I + 1 : 0)));
}
(std::make_index_sequence<std::variant_size_v<any_body>>());
constexpr message_kind kind_of(const any_body& body) { return static_cast<message_kind>(body.index() + 1); }

struct message {
    any_body body;
    std::uint64_t generation = 0;  // as its publisher counts; 0 without a publisher
    std::uint64_t size = 0;        // in bytes, as it was read
};

// A reference to any body: what the functions below write.
class body_ref {
  public:
    using pointer = bodies::pointer;

    template <class Body>
    requires std::constructible_from<pointer, const Body*> body_ref(const Body& body) : body_(&body) {}
    body_ref(const any_body& body)
        : body_(std::visit([](const auto& each) { return pointer(&each); }, body)) {}

    pointer get() const { return body_; }

  private:
    pointer body_;
};

struct packing {
    coding want = coding::raw;
    std::optional<codec_id> codec{};  // use this codec instead, if readers accept it for such an array
    std::uint64_t generation = 0;
};

// To and from bytes in memory. No message is larger than a raw one. from_bytes() reads the first message of
// `bytes`; message::size is its length.
std::vector<std::byte> to_bytes(body_ref, const packing& = {});
result<message> from_bytes(byte_view bytes, const read_limits& = {});

// A stream of messages from a file descriptor, mapped where the file allows it and copied where it does not
// (pipes, raw messages that do not start on a multiple of 8). The stream ends with an empty optional; a
// stream of no bytes at all is an error.
class message_reader {
  public:
    // Takes no ownership of `file`, which must stay open.
    explicit message_reader(int file, const read_limits& = {});
    result<std::optional<message>> next();

  private:
    int file_;
    read_limits limits_;
    std::uint64_t first_ = 0, at_ = 0;
    std::optional<std::uint64_t> file_size_;  // of a regular file
};

// Writes one message to a file descriptor; a raw payload without a second copy.
result<void> write_message(int file, body_ref, const packing& = {});

// Whole files. save() writes to a temporary name beside the target and renames, so that a reader sees the old
// file or the new one and a failure leaves nothing behind.
result<message> load(const std::filesystem::path&, const read_limits& = {});
result<void> save(const std::filesystem::path&, body_ref, const packing& = {});

// What a file holds, if it is what is asked for: load<sealed_filter>(path). The error names what it is
// instead.
template <class Body>
result<Body> load(const std::filesystem::path& path, const read_limits& limits = {}) {
    auto loaded = load(path, limits);
    if (!loaded) return loaded.error();
    if (auto* body = std::get_if<Body>(&loaded->body)) return std::move(*body);
    return error::mismatch("the file holds a message of kind " + std::string(name_of(kind_of(loaded->body))) +
                           ", not of kind " + std::string(name_of(kind_of_body<Body>)));
}

}  // namespace posy
