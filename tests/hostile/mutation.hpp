// Messages changed with knowledge of their structure, and made whole again: a header is taken apart, changed
// and written anew in its only form, numbers in a payload are replaced by numbers, messages inside of
// messages are changed as messages, and every checksum is made to fit. So a mutation is refused for what it
// says, and not because it is damaged.
//
// Everything is drawn from one sequence: the same seed gives the same messages.
#pragma once

#include <cstdint>
#include <vector>

#include "posy/bytes.hpp"

namespace posy::hostile {

using byte_string = std::vector<std::byte>;

// SplitMix64.
class dice {
  public:
    explicit dice(std::uint64_t seed) : state_(seed) {}
    std::uint64_t roll() {
        std::uint64_t z = state_ += 0x9e3779b97f4a7c15;
        z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
        z = (z ^ z >> 27) * 0x94d049bb133111eb;
        return z ^ z >> 31;
    }
    std::uint64_t below(std::uint64_t n) { return n == 0 ? 0 : roll() % n; }
    bool one_in(std::uint64_t n) { return below(n) == 0; }
    // A number of up to `bits` bits, every length equally likely.
    std::uint64_t of_any_size(unsigned bits) {
        const auto width = static_cast<unsigned>(below(bits + 1));
        return width == 0 ? 0 : roll() >> (64 - width);
    }

  private:
    std::uint64_t state_;
};

// A message with another header or payload, or bytes of it turned. `donors` lend parts of theirs.
byte_string mutated_message(dice&, byte_view message, const std::vector<byte_string>& donors);
// The bytes of another format, with numbers of two and four bytes in it.
byte_string mutated_bytes(dice&, byte_view bytes);
// The last four bytes become the checksum of those before.
void repair_checksum(byte_string& message);

}  // namespace posy::hostile
