// A filter of another program from a stranger: an error, or a filter that is asked, filled, united with
// itself and written as something that is read again.
//
// The first byte chooses the dialect, or to be recognised.
#include <cstdlib>

#include "posy/base/names.hpp"
#include "posy/dialect/foreign_filter.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace posy;
    if (size == 0) return 0;
    const byte_view bytes = std::as_bytes(std::span(data, size)).subspan(1);
    dialect_options with;
    std::optional<dialect> which;
    if (data[0] < members<dialect>.size()) which = members<dialect>[data[0]];
    if (which == dialect::bip158) with.key = hash_seed{1, 2};
    if (!which && !foreign_filter::recognise(bytes)) return 0;
    const auto read = foreign_filter::from_bytes(bytes, which, with);
    if (!read) return 0;
    foreign_filter& filter = **read;
    if (size % 64 == 0) (void)filter.about();  // it tries its hashes: slower than all the rest
    (void)filter.unite(filter);
    const auto key = as_byte_view("key");
    if (filter.insert(key) && !filter.may_contain(key)) std::abort();
    if (!foreign_filter::from_bytes(*filter.to_bytes(), filter.speaks(), with)) std::abort();
    return 0;
}
