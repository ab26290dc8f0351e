#include "cell_code.hpp"

#include "bits/array_memory.hpp"
#include "sketch/cells.hpp"

namespace posy::sketch {

void append_cells(const bit_array& memory, std::vector<std::byte>& out) {
    const const_cells values(memory);
    std::uint64_t zeros = 0;
    const auto end_run = [&] {
        if (zeros == 0) return;
        out.push_back({});
        base::put_varint(out, zeros - 1);
        zeros = 0;
    };
    for (std::uint64_t i = 0; i < values.size(); ++i) {
        if (values[i] == 0) {
            ++zeros;
            continue;
        }
        end_run();
        base::put_varint(out, values[i]);
    }
    end_run();
}

result<bit_array> take_cells(base::reader& in, std::uint64_t size, std::uint64_t max_bytes,
                             const std::function<void(std::uint64_t, std::uint32_t)>& seen) {
    std::uint64_t memory = size > max_cells ? ~std::uint64_t{0} : 4 * size;
    if (memory >= 2 * bits::huge_page && memory <= max_bytes) memory = bits::array_memory(8 * memory);
    if (memory > max_bytes) in.fail_above_limit("a table", memory, max_bytes);
    if (in.wrong()) return *in.wrong();
    auto table = make_cells(size);
    if (!table) return table;
    const cells values(*table);
    bool after_run = false;
    for (std::uint64_t i = 0; i < size && !in.wrong();) {
        const std::uint64_t value = in.varint(largest);
        if (value != 0) {
            seen(i, static_cast<std::uint32_t>(value));
            values.set(i++, static_cast<std::uint32_t>(value));
            after_run = false;
            continue;
        }
        if (after_run) in.fail("a run of zeros in two pieces");
        i += 1 + in.varint(size - i - 1);
        after_run = true;
    }
    if (in.wrong()) return *in.wrong();
    return table;
}

}  // namespace posy::sketch
