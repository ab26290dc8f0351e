// A table of flow records of a stranger, and the parts of a flow that someone asks for: an error or a record
// that can be named.
//
// The first line is the header, each other one a row; the first of all is also read as a list of parts.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "posy/packet/flow_parts.hpp"
#include "posy/packet/flow_records.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace posy::packets;
    std::string_view text(reinterpret_cast<const char*>(data), size);
    const auto next_line = [&] {
        const auto line = text.substr(0, text.find('\n'));
        text.remove_prefix(std::min(line.size() + 1, text.size()));
        return line;
    };
    const std::string_view header = next_line();
    static const auto all = flow_parts::parse("flow");
    const auto parts = flow_parts::parse(header);
    const auto table = flow_table::of_header(header);
    if (parts && parts->texts(parts->of({})).size() != parts->names().size()) std::abort();
    while (table && !text.empty()) {
        const auto row = table->row(next_line());
        if (!row) continue;
        const auto version = row->key.byte(flow_key::version);
        if ((version != 4 && version != 6) || all->texts(all->of(row->key)).size() != 5) std::abort();
    }
    return 0;
}
