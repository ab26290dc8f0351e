#include "sha1.hpp"

#include <string.h>

#include <bit>
#include <cstdint>
#include <cstring>

namespace posy::hash {
namespace {

constexpr std::size_t block_size = 64, length_size = 8;

class state {
  public:
    state() = default;
    ~state() {
        explicit_bzero(schedule_.data(), sizeof schedule_);
        explicit_bzero(rest_.data(), rest_.size());
    }
    state(const state&) = delete;
    state& operator=(const state&) = delete;

    sha1_hash hash(byte_view message) {
        const std::uint64_t bits = 8 * static_cast<std::uint64_t>(message.size());
        for (; message.size() >= block_size; message = message.subspan(block_size)) absorb(message.data());
        // What is left, a one, zeros, and the length in bits at the end of a block.
        std::size_t size = message.size();
        if (size > 0) std::memcpy(rest_.data(), message.data(), size);
        rest_[size++] = std::byte{0x80};
        const std::size_t end = size + length_size <= block_size ? block_size : 2 * block_size;
        for (std::size_t i = 0; i < length_size; ++i)
            rest_[end - 1 - i] = static_cast<std::byte>(bits >> (8 * i));
        for (std::size_t at = 0; at < end; at += block_size) absorb(rest_.data() + at);
        sha1_hash result;
        for (std::size_t i = 0; i < result.size(); ++i)
            result[i] = static_cast<std::byte>(chain_[i / 4] >> (24 - 8 * (i % 4)));
        return result;
    }

  private:
    void absorb(const std::byte* block) {
        for (std::size_t t = 0; t < 16; ++t) {
            std::uint32_t word = 0;
            for (std::size_t i = 0; i < 4; ++i)
                word = word << 8 | std::to_integer<std::uint32_t>(block[4 * t + i]);
            schedule_[t] = word;
        }
        for (std::size_t t = 16; t < schedule_.size(); ++t)
            schedule_[t] =
                std::rotl(schedule_[t - 3] ^ schedule_[t - 8] ^ schedule_[t - 14] ^ schedule_[t - 16], 1);
        std::uint32_t a = chain_[0], b = chain_[1], c = chain_[2], d = chain_[3], e = chain_[4];
        const auto twenty_rounds = [&](std::size_t from, std::uint32_t constant, auto mix) {
            for (std::size_t t = from; t < from + 20; ++t) {
                const std::uint32_t next = std::rotl(a, 5) + mix() + e + constant + schedule_[t];
                e = d, d = c, c = std::rotl(b, 30), b = a, a = next;
            }
        };
        twenty_rounds(0, 0x5a827999, [&] { return d ^ (b & (c ^ d)); });
        twenty_rounds(20, 0x6ed9eba1, [&] { return b ^ c ^ d; });
        twenty_rounds(40, 0x8f1bbcdc, [&] { return (b & c) | (d & (b | c)); });
        twenty_rounds(60, 0xca62c1d6, [&] { return b ^ c ^ d; });
        chain_[0] += a, chain_[1] += b, chain_[2] += c, chain_[3] += d, chain_[4] += e;
    }

    std::array<std::uint32_t, 5> chain_{0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0};
    std::array<std::uint32_t, 80> schedule_{};
    std::array<std::byte, 2 * block_size> rest_{};
};

}  // namespace

sha1_hash sha1(byte_view message) { return state().hash(message); }

}  // namespace posy::hash
