// The sealed filter
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "posy/bytes.hpp"
#include "posy/digest.hpp"
#include "posy/result.hpp"

namespace posy {

namespace sealed {
class ribbon;
}

struct sealed_options {
    double rate = 0.01;    // of false positives, 2^-32 to below 1
    unsigned threads = 1;  // to build with; the bytes do not depend on it
};

class sealed_filter {
  public:
    static result<sealed_filter> build(hasher, std::span<const digest> digests, sealed_options = {});
    static result<sealed_filter> open(hasher, std::shared_ptr<const void> keep_alive, byte_view payload);

    hasher hash() const { return hash_; }
    std::uint64_t items() const;
    double rate() const;
    byte_view bytes() const;

    bool may_contain(digest) const;
    std::size_t may_contain(std::span<const digest> digests, std::span<bool> answers) const;

  private:
    sealed_filter(hasher hash, std::shared_ptr<const sealed::ribbon> set)
        : hash_(hash), set_(std::move(set)) {}

    hasher hash_;
    std::shared_ptr<const sealed::ribbon> set_;
};

}  // namespace posy
