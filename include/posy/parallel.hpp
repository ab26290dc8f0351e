// One filter, many threads: the same bits as one thread would make, in a fraction of the time.
//
// A large array is divided into regions. Every thread sorts its digests by region. When a buffer is full, the
// thread that filled it locks the region and inserts the whole buffer: no atomic instructions, and no cache
// line moves back and forth between two cores. In small arrays the sorting would cost more than it saves;
// there, bits are set atomically.
//
// Memory: about two megabytes per thread.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "posy/bloom_filter.hpp"

namespace posy {

// Insertion from many threads at once, as digests arrive.
//
// Thread safety: insert() from many threads. The filter belongs to the build until finish() or the
// destructor, which finishes; it must not be read before.
class parallel_build {
  public:
    explicit parallel_build(bloom_filter&);
    ~parallel_build();
    parallel_build(const parallel_build&) = delete;
    parallel_build& operator=(const parallel_build&) = delete;

    void insert(std::span<const digest>);
    void finish();

    // Above this many bits an array is divided into regions.
    static constexpr std::uint64_t divided_bits = std::uint64_t{4} << 23;  // 4 MiB

    struct engine;

  private:
    std::unique_ptr<engine> engine_;
};

// Batches, divided among `threads`. Integers and text are hashed by the filter's hash() first.
void insert(bloom_filter&, std::span<const digest>, unsigned threads);
void insert(bloom_filter&, std::span<const std::uint64_t>, unsigned threads);
void insert(bloom_filter&, std::span<const std::string_view>, unsigned threads);
// One answer per key; returns how many were yes. Precondition: the two spans have the same length.
std::size_t may_contain(const bloom_filter&, std::span<const digest>, std::span<bool> answers,
                        unsigned threads);
std::size_t may_contain(const bloom_filter&, std::span<const std::uint64_t>, std::span<bool> answers,
                        unsigned threads);
std::size_t may_contain(const bloom_filter&, std::span<const std::string_view>, std::span<bool> answers,
                        unsigned threads);

}  // namespace posy
