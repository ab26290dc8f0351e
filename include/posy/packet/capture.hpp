// A capture file, read packet by packet: pcap (microseconds and nanoseconds) and pcapng, either byte order.
//
// A state machine: it is handed bytes, takes the next packet from their front, and says when it needs more of
// them. So one loop reads a mapped file, a pipe and a test, without copying. We read files ourselves because
// libpcap copies every packet through stdio (measured: 78 ns per packet, and 22 here), and because this
// parser can be fuzzed with nothing around it; libpcap is for interfaces.
//
// No length in the file is trusted, nothing is allocated for a packet, and the tables of a file are limited.
// The first damage ends the reading: behind a wrong length there is no way to find the next packet. What was
// read before it is right.
//
// Cost: 22 ns per packet, most of it for memory that was not in the cache. Thread safety: none.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "posy/bytes.hpp"
#include "posy/packet/headers.hpp"
#include "posy/result.hpp"

namespace posy::packets {

struct captured {
    byte_view frame{};  // in the bytes that were handed in
    std::uint32_t original_length = 0;
    std::uint64_t time = 0;           // nanoseconds since 1970
    std::optional<link_type> link{};  // nothing: one that headers_of() cannot read
    std::uint32_t link_number = 0;    // as the file has it (LINKTYPE_…)
};

class capture_reader {
  public:
    // Larger ones are damage. libpcap has the same limit for packets.
    static constexpr std::uint32_t most_captured = 262'144, most_block = 16 << 20, most_interfaces = 65'536;

    enum class step : std::uint8_t {
        packet,   // `into` has the next one
        more,     // the next one is not all there: call again with what is left of the bytes, and more
        damaged,  // wrong() says why and where; nothing can be read any more
    };
    // Takes bytes from the front of `input`: the next packet, and what precedes it. `more` with nothing left,
    // at the end of a file, is a proper end.
    step next(byte_view& input, captured& into);
    // What is wrong, if the file ends here with `left` bytes that next() did not take.
    std::optional<error> end(std::size_t left) const;

    const std::optional<error>& wrong() const { return wrong_; }
    // Bytes taken so far.
    std::uint64_t offset() const { return offset_; }

  private:
    struct interface {
        std::optional<link_type> link{};
        std::uint32_t link_number = 0;
        std::uint32_t snap_length = 0;    // 0: none
        std::uint64_t ticks = 1'000'000;  // per second
        std::int64_t since = 0;           // seconds to add
    };
    enum class format : std::uint8_t { unknown, pcap, pcapng };

    step begin(byte_view& input);
    step begin_pcap(byte_view& input, std::uint32_t magic);
    step next_record(byte_view& input, captured& into);
    step next_block(byte_view& input, captured& into);
    std::optional<std::uint32_t> block_length(byte_view input, std::uint32_t kind);
    bool read_block(std::uint32_t kind, byte_view body, captured& into);
    void section(byte_view body);
    void describe_interface(byte_view body);
    void read_options(byte_view options, interface& of);
    bool enhanced(byte_view body, captured& into, bool obsolete);
    bool simple(byte_view body, captured& into);

    step damage(std::string what, std::uint64_t inside = 0);
    void take(byte_view& input, std::size_t count) {
        input = input.subspan(count);
        offset_ += count;
    }
    std::uint16_t half(const std::byte* at) const;
    std::uint32_t number(const std::byte* at) const {
        const auto value = load_little<std::uint32_t>(at);
        return swapped_ ? __builtin_bswap32(value) : value;
    }

    format format_ = format::unknown;
    bool swapped_ = false;  // the file is big-endian
    bool nanoseconds_ = false;
    std::vector<interface> interfaces_;
    std::uint64_t offset_ = 0;
    std::optional<error> wrong_;
};

}  // namespace posy::packets
