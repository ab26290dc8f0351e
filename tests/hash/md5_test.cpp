#include <gtest/gtest.h>

#include "posy/digest.hpp"

namespace posy {
namespace {

#ifdef POSY_MD5
// RFC 1321, appendix A.5: d41d8cd98f00b204e9800998ecf8427e and f96b697d7cb7938d525a2f31aaf161d0.
TEST(md5, rfc_vectors_as_two_little_endian_halves) {
    const hasher h(hash_family::md5);
    EXPECT_EQ(h(""), (digest{0x04b2008fd98c1dd4, 0x7e42f8ec980980e9}));
    EXPECT_EQ(h("message digest"), (digest{0x8d93b77c7d696bf9, 0xd061f1aa312f5a52}));
}
#endif

}  // namespace
}  // namespace posy
