// What a station of geographic routing may receive (letters.hpp), from stations inside and outside of the
// field. Whatever comes, the station goes on answering, and what it sends is small.
#include "letters.hpp"
#include "posy/overlay/geographic.hpp"

namespace {

using namespace posy;
using namespace posy::overlay;

constexpr square here{0, 2, 2};
constexpr std::byte parcel{1};

geographic_station fresh() {
    static const auto field = std::make_shared<geographic_field>(*geographic_field::plan(3, 64, 0.1));
    auto station = *geographic_station::make(field, here, 0);
    outbox out;
    station.appear(7, 0, out);
    station.search(8, 0, out);
    return station;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    geographic_station station = fresh();
    outbox out;
    std::uint64_t now = 1;
    bool reported = false;
    each_letter(byte_view(reinterpret_cast<const std::byte*>(data), size), [&](node_id from,
                                                                               byte_view bytes) {
        const message_bytes message(std::vector<std::byte>(bytes.begin(), bytes.end()));
        const node_id sender =
            node_of({0, static_cast<std::uint32_t>(from) & 7, static_cast<std::uint32_t>(from) >> 3 & 15});
        out.clear();
        station.receive(sender, message, now, out);
        station.receive(sender, message, ++now, out);
        require(bytes_in(out) <= 1 << 14);
        reported = reported || (!bytes.empty() && bytes[0] == parcel);
        now += 256 * from;
        if (const auto at = station.next_tick(); at && *at <= now) station.tick(now, out);
    });
    require(station.has(7) || reported);  // only a parcel can take a host away
    station.search(9, now, out);
    return 0;
}
