// What a station of geographic routing may receive, from a station that may send it: the first byte picks the
// sender, the rest is the message. Whatever comes, the station goes on answering, and what it sends is small.
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "posy/overlay/geographic.hpp"

namespace {

using namespace posy;
using namespace posy::overlay;

constexpr square here{0, 2, 2};

geographic_station fresh() {
    static const auto field = std::make_shared<geographic_field>(*geographic_field::plan(3, 1000, 0.02));
    return *geographic_station::make(field, here, 0);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size < 2) return 0;
    const auto* start = reinterpret_cast<const std::byte*>(data);
    geographic_station station = fresh();
    outbox out;
    station.appear(7, 0, out);
    station.search(8, 0, out);
    out.clear();
    const node_id from = node_of({0, data[0] & 7U, data[0] >> 3 & 15U});
    const message_bytes message(std::vector<std::byte>(start + 1, start + size));
    station.receive(from, message, 1, out);
    station.receive(from, message, 2, out);
    std::size_t sent = 0;
    for (const letter& each : out) sent += each.message.size();
    if (sent > 1 << 16) std::abort();
    if (!station.has(7) && data[1] != 1) std::abort();  // only a parcel can take a host away
    out.clear();
    station.tick(100'000, out);
    station.search(9, 3, out);
    return 0;
}
