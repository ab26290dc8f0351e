#include <gtest/gtest.h>
#ifdef POSY_MD5
#include <openssl/evp.h>
#endif

#include <string>
#include <vector>

#include "posy/digest.hpp"

namespace posy {
namespace {

const hash_seed key{0x0706050403020100, 0x0f0e0d0c0b0a0908};  // bytes 00 01 … 0f

// The first entry of the reference implementation's vectors for 128-bit output.
TEST(siphash, reference_vector) {
    EXPECT_EQ(hasher(hash_family::siphash, key)(""), (digest{0xe6a825ba047f81a3, 0x930255c71472f66d}));
}

#ifdef POSY_MD5
TEST(siphash, equals_openssl_at_every_length) {
    EVP_MAC* mac = EVP_MAC_fetch(nullptr, "SIPHASH", nullptr);
    ASSERT_NE(mac, nullptr);
    EVP_MAC_CTX* context = EVP_MAC_CTX_new(mac);
    std::string text;
    for (unsigned length = 0; length < 70; ++length) {
        std::vector<unsigned char> key_bytes(16), out(16);
        for (unsigned i = 0; i < 16; ++i) key_bytes[i] = static_cast<unsigned char>(i);
        std::size_t size = 0;
        ASSERT_TRUE(EVP_MAC_init(context, key_bytes.data(), key_bytes.size(), nullptr));
        ASSERT_TRUE(
            EVP_MAC_update(context, reinterpret_cast<const unsigned char*>(text.data()), text.size()));
        ASSERT_TRUE(EVP_MAC_final(context, out.data(), &size, out.size()));
        ASSERT_EQ(size, 16u);
        const auto* bytes = reinterpret_cast<const std::byte*>(out.data());
        EXPECT_EQ(hasher(hash_family::siphash, key)(text),
                  (digest{load_little<std::uint64_t>(bytes), load_little<std::uint64_t>(bytes + 8)}))
            << "length " << length;
        text.push_back(static_cast<char>(length * 37));
    }
    EVP_MAC_CTX_free(context);
    EVP_MAC_free(mac);
}
#endif

}  // namespace
}  // namespace posy
