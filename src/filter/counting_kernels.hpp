// What a counting filter does with its digests. The scalar kernel goes from counter to counter, in any
// layout; where the counters of a key fill one cache line (layout narrow, 4 bits each) there are others that
// change the line at once, to the same bits.
#pragma once

#include <cstddef>
#include <cstdint>

#include "posy/base/instructions.hpp"
#include "posy/counter_array.hpp"
#include "posy/geometry.hpp"

namespace posy::kernels {

// What an insertion or removal changes.
struct counting_arrays {
    counter_array& counters;
    bit_array& projection;
    bit_array* flipped;  // or null
    std::uint64_t& flipped_count;
};

// Windows as in kernels.hpp.
struct counting_kernel {
    void (*fetch)(const counting_arrays&, const geometry&, const digest* later, std::size_t count);
    void (*insert)(counting_arrays&, const geometry&, const digest* now, std::size_t count, bool more);
    // removed[i]: did the key look present? Returns how many did.
    std::size_t (*remove)(counting_arrays&, const geometry&, const digest* now, std::size_t count, bool more,
                          bool* removed);
};

const counting_kernel& counting_kernel_for(const geometry&, unsigned counter_bits,
                                           base::instruction_set = base::best_instruction_set());

// Of layout narrow with counters of 4 bits; null where a build has none.
const counting_kernel* avx2_counting_kernel(unsigned hashes);
const counting_kernel* avx512_counting_kernel(unsigned hashes);

}  // namespace posy::kernels
