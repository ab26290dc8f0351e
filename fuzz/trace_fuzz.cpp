// What traceback reads of strangers: frames, the page lists of routers, topologies, and the filters that
// packets carry. The first byte chooses which.
#include <cstdint>
#include <cstdlib>
#include <string_view>
#include <vector>

#include "posy/packet/digest_folder.hpp"
#include "posy/packet/loop_filter.hpp"
#include "posy/packet/traceback.hpp"

namespace {

using namespace posy::packets;

void require(bool holds) {
    if (!holds) std::abort();
}

// The first two bytes: the link type, and how much longer the frame was on the wire. Bytes behind the imprint
// do not matter.
void frame(posy::byte_view bytes) {
    if (bytes.size() < 2) return;
    const auto link = static_cast<link_type>(std::to_integer<unsigned>(bytes[0]) % 5);
    const posy::byte_view frame = bytes.subspan(2);
    const std::uint64_t length = frame.size() + std::to_integer<unsigned>(bytes[1]);
    imprint made;
    if (imprint::of(frame, length, link, made) != outcome::found) return;
    require(made.bytes().size() >= 16 && made.bytes().size() <= imprint::max_size);
    std::vector<std::byte> longer(frame.begin(), frame.end());
    longer.resize(length);
    imprint again;
    require(imprint::of(longer, length, link, again) == outcome::found && again == made);
}

void page_list(std::string_view text) {
    const auto names = parse_page_list(text);
    if (!names) return;
    std::string again;
    for (const page_name& name : *names) again += name.text() + "\n";
    require(text == again || text == std::string_view(again).substr(0, again.size() - 1));
}

// Every router says what the length of its name says.
void network(std::string_view text) {
    const auto parsed = topology::parse(text);
    if (!parsed) return;
    const auto& routers = parsed->routers();
    for (std::size_t i = 0; i < routers.size(); ++i) {
        require(parsed->find(routers[i].name) == i);
        for (const std::size_t other : routers[i].neighbours) require(other < routers.size() && other != i);
    }
    traceback search(*parsed, 0);
    std::size_t asked = 0;
    while (const auto router = search.next()) {
        require(++asked <= routers.size());
        const std::size_t says = routers[*router].name.size() % 3;
        search.answer(says == 0 ? std::nullopt : std::optional(testimony{says == 1, 0.1}));
    }
    require(search.steps().size() <= asked);
}

void carried(posy::byte_view field) {
    const loop_network network{.bits = static_cast<unsigned>(8 * field.size())};
    auto filter = loop_filter::read(network, field);
    if (!filter) return;
    std::vector<std::byte> written(field.size());
    filter->write(written);
    require(std::ranges::equal(written, field));
    const auto mask = loop_mask::make(network, 1);
    if (!mask) return;
    (void)filter->enter(*mask);
    require(!filter->enter(*mask));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0) return 0;
    const posy::byte_view rest(reinterpret_cast<const std::byte*>(data) + 1, size - 1);
    const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
    switch (data[0] % 4) {
        case 0:
            frame(rest);
            break;
        case 1:
            page_list(text);
            break;
        case 2:
            network(text);
            break;
        case 3:
            carried(rest);
            break;
    }
    return 0;
}
