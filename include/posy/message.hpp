// A filter as a message: a self-delimiting frame that says what it is. A file on disk is a message, and
// messages concatenate: a stream of them is read one after the other. docs/format.md is the specification.
//
// Reading trusts nothing: every length is checked against what is there and against the limits before memory
// is taken, and the checksum before anything is believed. A message that cannot be read gives an error with
// the offset of the byte that is wrong.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <variant>
#include <vector>

#include "posy/bloom_filter.hpp"
#include "posy/bytes.hpp"
#include "posy/counting_filter.hpp"
#include "posy/result.hpp"

namespace posy {

using any_filter = std::variant<bloom_filter, counting_filter>;

// Either kind, borrowed: what the functions below take.
class filter_ref {
  public:
    filter_ref(const bloom_filter& filter) : plain_(&filter) {}
    filter_ref(const counting_filter& filter) : plain_(&filter.projection()), counting_(&filter) {}
    filter_ref(const any_filter& filter)
        : filter_ref(std::visit([](const auto& either) { return filter_ref(either); }, filter)) {}

    const bloom_filter& plain() const { return *plain_; }          // of a counting filter, the projection
    const counting_filter* counting() const { return counting_; }  // or null
    const posy::geometry& geometry() const { return plain_->geometry(); }

  private:
    const bloom_filter* plain_;
    const counting_filter* counting_ = nullptr;
};

// To and from bytes in memory. from_bytes reads the first message of `bytes` and says how long it was.
std::vector<std::byte> to_bytes(filter_ref);
struct parsed {
    any_filter filter;
    std::size_t size;
};
result<parsed> from_bytes(byte_view bytes);

// A stream of messages from a file descriptor, mapped where the file allows it and copied where it does not
// (pipes, messages that do not start on a multiple of 8). The stream ends with an empty optional; a stream of
// no bytes at all is an error.
class message_reader {
  public:
    // Takes no ownership of `file`, which must stay open.
    explicit message_reader(int file);
    result<std::optional<any_filter>> next();

  private:
    result<std::optional<any_filter>> read();

    int file_;
    std::uint64_t at_ = 0;
    std::optional<std::uint64_t> file_size_;  // of a regular file
};

// Writes one message to a file descriptor, without a second copy of the payload.
result<void> write_message(int file, filter_ref);

// Whole files. save() writes to a temporary name beside the target and renames, so that a reader sees the old
// file or the new one and a failure leaves nothing behind.
result<any_filter> load(const std::filesystem::path&);
result<void> save(const std::filesystem::path&, filter_ref);

}  // namespace posy
