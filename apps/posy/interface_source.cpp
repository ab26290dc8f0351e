// Packets of an interface, by libpcap. Builds without it (-DPOSY_PCAP=OFF) say so when they are asked.
#include "packet_source.hpp"
#include "tool.hpp"

#ifndef POSY_PCAP

namespace posy::tool {
void watch_interface(const live_options&, const packet_options&, packet_tally&, flow_watch&) {
    throw failure(
        "flows: this build has no libpcap, so it reads no interfaces; pipe a capture into 'posy flows -'");
}
}  // namespace posy::tool

#else

#include <pcap/pcap.h>
#include <poll.h>

#include <array>
#include <chrono>
#include <memory>

#include "packet_stream.hpp"
#include "stop_signal.hpp"

namespace posy::tool {
namespace {

using clock = std::chrono::steady_clock;
using namespace std::chrono_literals;
using handle = std::unique_ptr<pcap_t, decltype(&pcap_close)>;

constexpr int snap_length = 256;  // room for the headers of a tunnel and what is in it
// The kernel hands packets over in blocks, after its timeout at the latest. So an interval ends only when its
// packets must have come, and a signal ends the capture only then.
constexpr auto kernel_timeout = 100ms, on_the_way = 3 * kernel_timeout;

handle open(const std::string& interface) {
    std::array<char, PCAP_ERRBUF_SIZE> why{};
    handle capture(pcap_create(interface.c_str(), why.data()), pcap_close);
    if (!capture) throw failure(interface + ": " + why.data());
    pcap_set_snaplen(capture.get(), snap_length);
    pcap_set_timeout(capture.get(), static_cast<int>(kernel_timeout.count()));
    pcap_set_buffer_size(capture.get(), 16 << 20);
    const int status = pcap_activate(capture.get());
    if (status < 0) {
        const std::string more = pcap_geterr(capture.get());
        throw failure(interface + ": " + pcap_statustostr(status) + (more.empty() ? "" : " (" + more + ")"));
    }
    if (pcap_setnonblock(capture.get(), 1, why.data()) != 0) throw failure(interface + ": " + why.data());
    return capture;
}

struct receiver {
    const packet_options& options;
    packet_tally& tally;
    flow_watch& watch;
    std::optional<packets::link_type> link;

    static void take(u_char* self, const pcap_pkthdr* head, const u_char* bytes) {
        const auto& to = *reinterpret_cast<receiver*>(self);
        const auto time = static_cast<std::uint64_t>(head->ts.tv_sec) * 1'000'000'000 +
                          static_cast<std::uint64_t>(head->ts.tv_usec) * 1000;
        count_frame({{reinterpret_cast<const std::byte*>(bytes), head->caplen}, head->len, time, to.link},
                    to.options, to.tally, to.watch);
    }
};

std::uint64_t time_of_day() {
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    return static_cast<std::uint64_t>(std::chrono::nanoseconds(now).count());
}

}  // namespace

void watch_interface(const live_options& o, const packet_options& options, packet_tally& tally,
                     flow_watch& watch) {
    const handle capture = open(o.interface);
    const auto link = static_cast<std::uint32_t>(pcap_datalink(capture.get()));
    receiver to{options, tally, watch, packets::link_type_of(link)};
    if (!to.link) throw failure(o.interface + ": its packets are " + unknown_link_text(link));
    std::array<pollfd, 2> either{
        {{pcap_get_selectable_fd(capture.get()), POLLIN, 0}, {stop_on_signal(), POLLIN, 0}}};
    const auto start = clock::now();
    auto drawn = start;
    const auto over = [&] {
        return o.seconds > 0 && clock::now() - start >= std::chrono::duration<double>(o.seconds);
    };
    const auto receive = [&](int file_count) {
        poll(either.data(), static_cast<nfds_t>(file_count), 50);
        if (pcap_dispatch(capture.get(), 10'000, receiver::take, reinterpret_cast<u_char*>(&to)) < 0)
            throw failure(o.interface + ": " + pcap_geterr(capture.get()));
    };
    while (either[1].revents == 0 && !over()) {
        receive(2);
        watch.pass(time_of_day() - static_cast<std::uint64_t>(std::chrono::nanoseconds(on_the_way).count()));
        if (o.each_half_second && clock::now() - drawn >= 500ms) {
            drawn = clock::now();
            o.each_half_second();
        }
    }
    const std::uint64_t stopped = time_of_day();
    for (const auto end = clock::now() + on_the_way; clock::now() < end;) receive(1);
    watch.end(stopped);
    pcap_stat counts{};
    if (pcap_stats(capture.get(), &counts) == 0) tally.dropped = counts.ps_drop;
}

}  // namespace posy::tool

#endif
