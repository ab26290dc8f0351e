#include "hash/sha1.hpp"

#include <gtest/gtest.h>
#ifdef POSY_MD5
#include <openssl/evp.h>
#endif

#include "hex.hpp"

namespace posy::hash {
namespace {

// FIPS 180-4's examples, and what every list of leaked passwords begins with.
TEST(sha1, published_examples) {
    const auto of = [](std::string_view text) { return hex(sha1(as_byte_view(text))); };
    EXPECT_EQ(of("abc"), "a9993e364706816aba3e25717850c26c9cd0d89d");
    EXPECT_EQ(of("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
              "84983e441c3bd26ebaae4aa1f95129e5e54670f1");
    EXPECT_EQ(of(std::string(1'000'000, 'a')), "34aa973cd4c4daa4f61eeb2bdbad27316534016f");
    EXPECT_EQ(of(""), "da39a3ee5e6b4b0d3255bfef95601890afd80709");
    EXPECT_EQ(of("password"), "5baa61e4c9b93f3f0682250b6cf8331b7ee68fd8");
}

#ifdef POSY_MD5
TEST(sha1, equals_openssl_at_every_length) {
    std::string text;
    for (unsigned length = 0; length < 200; ++length) {
        sha1_hash expected;
        ASSERT_TRUE(EVP_Digest(text.data(), text.size(), reinterpret_cast<unsigned char*>(expected.data()),
                               nullptr, EVP_sha1(), nullptr));
        EXPECT_EQ(hex(sha1(as_byte_view(text))), hex(expected)) << "length " << length;
        text.push_back(static_cast<char>(length * 37));
    }
}
#endif

}  // namespace
}  // namespace posy::hash
