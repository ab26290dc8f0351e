// MD5, as Summary Cache and Squid hash their keys. Not for hostile keys: collisions are easy to make.
#ifdef POSY_MD5
#include <openssl/evp.h>
#endif

#include <memory>

#include "families.hpp"

namespace posy::hash {

#ifdef POSY_MD5
bool md5_available() {
    static const bool available = [] {  // an OpenSSL told to keep to FIPS has none
        EVP_MD* algorithm = EVP_MD_fetch(nullptr, "MD5", nullptr);
        EVP_MD_free(algorithm);
        return algorithm != nullptr;
    }();
    return available;
}

digest md5(byte_view key) {
    // Fetching the algorithm and making a context cost more than hashing a URL: keep one per thread.
    struct engine {
        std::unique_ptr<EVP_MD, decltype(&EVP_MD_free)> algorithm{EVP_MD_fetch(nullptr, "MD5", nullptr),
                                                                  EVP_MD_free};
        std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> context{EVP_MD_CTX_new(), EVP_MD_CTX_free};
    };
    thread_local const engine md5;
    std::array<std::byte, 16> out{};
    auto* to = reinterpret_cast<unsigned char*>(out.data());
    EVP_DigestInit_ex2(md5.context.get(), md5.algorithm.get(), nullptr);
    EVP_DigestUpdate(md5.context.get(), key.data(), key.size());
    EVP_DigestFinal_ex(md5.context.get(), to, nullptr);
    return {load_little<std::uint64_t>(out.data()), load_little<std::uint64_t>(out.data() + 8)};
}
#else
bool md5_available() { return false; }
digest md5(byte_view) { return {}; }  // never reached: check(geometry) refuses a family this build lacks
#endif

}  // namespace posy::hash
