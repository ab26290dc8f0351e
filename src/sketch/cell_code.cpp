#include "cell_code.hpp"

#include "bits/array_memory.hpp"
#include "sketch/cells.hpp"

namespace posy::sketch {

namespace {

template <class Cells>
void append(const Cells& values, std::vector<std::byte>& out) {
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

template <class Cells>
void take(base::reader& in, const Cells& values,
          const std::function<void(std::uint64_t, std::uint64_t)>& seen) {
    bool after_run = false;
    for (std::uint64_t i = 0; i < values.size() && !in.wrong();) {
        const std::uint64_t value = in.varint(Cells::largest);
        if (value != 0) {
            seen(i, value);
            values.set(i++, static_cast<decltype(values[i])>(value));
            after_run = false;
            continue;
        }
        if (after_run) in.fail("a run of zeros in two pieces");
        i += 1 + in.varint(values.size() - i - 1);
        after_run = true;
    }
}

}  // namespace

void append_cells(const bit_array& memory, counter_width width, std::vector<std::byte>& out) {
    with_cells(memory, width, [&](const auto& values) { append(values, out); });
}

result<bit_array> take_cells(base::reader& in, std::uint64_t size, counter_width width,
                             std::uint64_t max_bytes,
                             const std::function<void(std::uint64_t, std::uint64_t)>& seen) {
    std::uint64_t memory = size > max_cells ? ~std::uint64_t{0} : bytes_of(width) * size;
    if (memory >= 2 * bits::huge_page && memory <= max_bytes) memory = bits::array_memory(8 * memory);
    if (memory > max_bytes) in.fail_above_limit("a table", memory, max_bytes);
    if (in.wrong()) return *in.wrong();
    auto table = make_cells(size, width);
    if (!table) return table;
    with_cells(*table, width, [&](const auto& values) { take(in, values, seen); });
    if (in.wrong()) return *in.wrong();
    return table;
}

}  // namespace posy::sketch
