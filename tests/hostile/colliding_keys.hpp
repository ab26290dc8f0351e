// Keys of one XXH3-128 digest, in any number, made of letters, digits, - and _ behind a prefix.
//
// Above 240 bytes XXH3 adds up each lane of 8 bytes over the stripes of 64: data to one sum, and the product
// (low half of data ^ secret)(high half of data ^ secret) to another; the sums are mixed only after 1,024
// bytes. Take one lane in two stripes. Where a half of `data ^ secret` is the same in both, the two products
// have a common factor, and only the sum of the other halves counts: bytes p and q there can become others
// with the same p + q and (p ^ secret) + (q ^ secret'). Every such pair of lanes has four bytes to choose.
// The secret follows from the seed, so this works for every seed that is known, and only for that one.
//
// tests/hostile/colliding_keys.py makes the same keys. Cost: a search of microseconds, then 300 bytes per
// key.
#pragma once

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <array>
#include <cstdint>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace posy {

class colliding_keys {
  public:
    // The prefix may have up to 64 bytes. Some seeds need longer keys for many: 512 bytes do for nearly all.
    explicit colliding_keys(std::string_view prefix, std::uint64_t seed = 0, std::size_t length = 300)
        : key_(prefix) {
        if (prefix.size() > stripe || length < 300 || length > 1024)
            throw std::invalid_argument("no such keys");
        key_.resize(length, 'x');
        XXH3_generateSecret_fromSeed(secret_.data(), seed);
        for (std::size_t lane = 0; lane < 8; ++lane) choose_stripes(lane);
    }

    std::uint64_t count() const {
        std::uint64_t all = 1;
        for (const auto& c : choices_) all = all > limit / c.pairs.size() ? limit : all * c.pairs.size();
        return all;
    }

    // Precondition: number < count(). Different numbers give different keys.
    std::string operator()(std::uint64_t number) const {
        std::string key = key_;
        for (const auto& c : choices_) {
            const auto& [p, q] = c.pairs[number % c.pairs.size()];
            key[c.first] = p;
            key[c.second] = q;
            number /= c.pairs.size();
        }
        return key;
    }
    std::vector<std::string> first(std::uint64_t many, std::uint64_t from = 0) const {
        if (from + many > count()) throw std::invalid_argument("not so many keys");
        std::vector<std::string> keys;
        for (std::uint64_t i = from; i < from + many; ++i) keys.push_back((*this)(i));
        return keys;
    }

  private:
    static constexpr std::size_t stripe = 64;
    static constexpr std::uint64_t limit = std::uint64_t{1} << 62;
    static constexpr std::string_view letters =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    using pairs = std::vector<std::pair<char, char>>;
    struct choice {
        std::size_t first, second;  // places of two bytes of the key
        colliding_keys::pairs pairs;
    };

    static unsigned byte(char c) { return static_cast<unsigned char>(c); }

    // The largest group of pairs that add the same to both sums.
    static pairs best_pairs(unsigned secret_p, unsigned secret_q) {
        std::map<std::pair<unsigned, unsigned>, pairs> groups;
        for (const char p : letters) {
            for (const char q : letters)
                groups[{byte(p) + byte(q), (byte(p) ^ secret_p) + (byte(q) ^ secret_q)}].emplace_back(p, q);
        }
        pairs best;
        for (auto& [sums, group] : groups) {
            if (group.size() > best.size()) best = std::move(group);
        }
        return best;
    }

    // Two letters that differ as these bytes do, so that they are the same under them.
    static std::pair<char, char> same_under(unsigned secret_p, unsigned secret_q) {
        for (const char p : letters) {
            const auto q = static_cast<char>(byte(p) ^ secret_p ^ secret_q);
            if (letters.find(q) != std::string_view::npos) return {p, q};
        }
        return {};
    }

    void choose_stripes(std::size_t lane) {
        const std::size_t last = key_.size() - stripe;  // where the stripe of the end begins
        for (std::size_t s = 1; (s + 1) * stripe + 8 * lane + 8 <= last; ++s) {
            for (std::size_t t = s + 1; t * stripe + 8 * lane + 8 <= last; ++t) {
                if (!choose_half(s, t, lane, 0) && !choose_half(s, t, lane, 4)) continue;
                s = t;  // both are taken
                break;
            }
        }
    }

    // The half from byte `same` on is the same in both stripes, the other one is chosen.
    bool choose_half(std::size_t s, std::size_t t, std::size_t lane, std::size_t same) {
        const std::size_t at_s = s * stripe + 8 * lane, at_t = t * stripe + 8 * lane;
        const unsigned char *under_s = &secret_[8 * (s + lane)], *under_t = &secret_[8 * (t + lane)];
        std::array<std::pair<char, char>, 4> fixed;
        for (std::size_t j = 0; j < 4; ++j) {
            fixed[j] = same_under(under_s[same + j], under_t[same + j]);
            if (fixed[j].first == 0) return false;
        }
        for (std::size_t j = 0; j < 4; ++j) {
            key_[at_s + same + j] = fixed[j].first;
            key_[at_t + same + j] = fixed[j].second;
            const std::size_t free = 4 - same + j;
            choices_.push_back({at_s + free, at_t + free, best_pairs(under_s[free], under_t[free])});
        }
        return true;
    }

    std::string key_;
    std::array<unsigned char, XXH3_SECRET_DEFAULT_SIZE> secret_{};
    std::vector<choice> choices_;
};

}  // namespace posy
