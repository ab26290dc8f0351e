#include "posy/secret_hash.hpp"

#include <sys/random.h>

#include <stdexcept>

namespace posy::hash {

result<hash_seed> random_seed() {
    hash_seed seed;
    if (getrandom(&seed, sizeof seed, 0) != sizeof seed)
        return error::input_output("the system gives no random numbers");
    return seed;
}

const hasher& secret_hasher() {
    static const hasher secret = [] {
        const auto seed = random_seed();
        if (!seed) throw std::runtime_error(seed.error().message);
        return hasher(hash_family::siphash, *seed);
    }();
    return secret;
}

}  // namespace posy::hash
