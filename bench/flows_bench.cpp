// Heavy flows of a capture: packets per second on one core, what is missed, and the errors beside those of
// Count-Min in as many bytes.
//
// The capture is made here: 5 million packets (or as many as given) of 10^6 flows by Zipf's law with
// exponent 1.1, TCP and UDP over IPv4 and IPv6, a tenth of them tagged, in frames of 60 to 1,514 bytes of
// which 96 are captured, in random order. A run reads the capture from memory, finds the headers and counts
// the flows; making the capture is not part of it. Time is that of the thread, so others on the machine do
// not count.
//
//   scripts/build bench && build/bench/bench/posy-bench-flows [PACKETS [FLOWS [MEMORY]]]
//   build/bench/bench/posy-bench-flows --write FILE.pcap [PACKETS [FLOWS]]      writes the capture instead
#include <ctime>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string_view>
#include <unordered_map>

#include "packet/frames.hpp"
#include "packet/traffic.hpp"
#include "posy/count_min.hpp"
#include "posy/packet/capture.hpp"
#include "posy/packet/flow_parts.hpp"
#include "posy/packet/heavy_flows.hpp"
#include "posy/theory/flows.hpp"
#include "sketch/zipf.hpp"

namespace {

using namespace posy;
using namespace posy::packets;

constexpr double share = 0.0001;  // from which a flow is heavy
constexpr std::size_t snap = 96;
const hasher keyed(hash_family::siphash, {1, 2});

double thread_seconds() {
    timespec now{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

// The first bytes of every frame of a flow: its rank decides what it is.
bytes frame_of(std::uint64_t rank) {
    std::mt19937_64 random(rank);
    const auto port = [&] { return static_cast<unsigned>(1024 + random() % 60'000); };
    const unsigned from = port(), to = random() % 2 ? 443 : port();
    const bool six = random() % 8 == 0, is_tcp = random() % 4 != 0;
    const bytes inner = is_tcp ? tcp(from, to) : udp(from, to);
    bytes packet = six ? ipv6(is_tcp ? 6 : 17, inner) : ipv4({.protocol = is_tcp ? 6U : 17U}, inner);
    const std::size_t addresses = six ? 8 : 12, size = six ? 16 : 4;
    for (const std::size_t last : {addresses + size, addresses + 2 * size})
        for (std::size_t i = 1; i <= 3; ++i) packet[last - i] = static_cast<std::byte>(random());
    const unsigned type = six ? 0x86dd : 0x0800;
    const bool tagged = random() % 10 == 0;
    bytes frame = tagged ? ethernet(0x8100, pair_of(7) + pair_of(type) + packet) : ethernet(type, packet);
    frame.resize(snap);
    return frame;
}

// The length fields of IP are in the frame; how long a packet is differs from packet to packet.
void set_length(bytes& frame, std::size_t length) {
    const bool tagged = frame[12] == std::byte{0x81};
    const std::size_t ip = tagged ? 18 : 14;
    const bool six = std::to_integer<unsigned>(frame[ip]) >> 4 == 6;
    const std::size_t value = length - ip - (six ? 40 : 0), at = ip + (six ? 4 : 2);
    frame[at] = static_cast<std::byte>(value >> 8);
    frame[at + 1] = static_cast<std::byte>(value & 255);
}

bytes make_capture(std::uint64_t packets, std::uint64_t flows) {
    const zipf draw(1.1, flows);
    std::mt19937_64 random(1);
    std::unordered_map<std::uint64_t, bytes> frames;
    bytes file(24 + packets * (16 + snap));
    const auto put = [](std::byte* at, std::uint32_t value) { store_little(at, value); };
    put(&file[0], 0xa1b2c3d4);
    put(&file[4], 2 | 4 << 16);
    put(&file[16], snap);
    put(&file[20], 1);
    std::byte* at = &file[24];
    for (std::uint64_t i = 0; i < packets; ++i) {
        bytes& frame = frames[draw(random)];
        if (frame.empty()) frame = frame_of(frames.size());
        // Acknowledgements, full packets, and what lies between.
        const auto kind = random() % 10;
        const std::size_t length = kind < 4 ? 96 : kind < 8 ? 1514 : 96 + random() % 1400;
        set_length(frame, length);
        put(at, static_cast<std::uint32_t>(1'700'000'000 + i / 1'000'000));
        put(at + 4, static_cast<std::uint32_t>(i % 1'000'000));
        put(at + 8, snap);
        put(at + 12, static_cast<std::uint32_t>(length));
        std::memcpy(at + 16, frame.data(), snap);
        at += 16 + snap;
    }
    return file;
}

// Calls use(key, bytes of IP) for every packet.
template <class Use>
void for_each_packet(byte_view file, Use use) {
    capture_reader in;
    for (captured c; in.next(file, c) == capture_reader::step::packet;) {
        const headers h = headers_of(c.frame, c.original_length, *c.link);
        if (h.outcome == outcome::found) use(h.key, h.ip_bytes);
    }
    if (in.end(file.size())) std::abort();
}

struct truth_of_capture {
    exact_counts sizes;
    std::uint64_t total = 0;
};

truth_of_capture count_exactly(byte_view file) {
    truth_of_capture truth;
    for_each_packet(file, [&](const flow_key& key, std::uint32_t size) {
        truth.sizes[key] += size;
        truth.total += size;
    });
    return truth;
}

// The best of five runs.
double seconds(byte_view file, const heavy_flow_options& options, heavy_flows::report& r) {
    const auto parts = *flow_parts::parse("flow");
    double best = 1e9;
    for (int run = 0; run < 5; ++run) {
        auto flows = *heavy_flows::make(options, keyed);
        const double start = thread_seconds();
        for_each_packet(file,
                        [&](const flow_key& key, std::uint32_t size) { flows.add(parts.of(key), size); });
        best = std::min(best, thread_seconds() - start);
        r = flows.so_far();
    }
    return best;
}

// One row of the table. `rising`: the threshold is a share of the traffic so far, otherwise its final value
// from the start.
void measure(const bytes& file, std::uint64_t packets, const truth_of_capture& truth, std::uint64_t memory,
             bool rising) {
    const std::uint64_t slots = std::bit_floor(memory / 4 / 64);
    heavy_flow_options options{.width = (memory - 64 * slots) / 16, .entries = slots / 2};
    if (rising) {
        options.share = share;
    } else {
        options.threshold = static_cast<std::uint64_t>(share * static_cast<double>(truth.total));
    }
    heavy_flows::report r;
    const double time = seconds(file, options, r);
    auto sketch = *count_min::with_bytes(keyed, memory, 4, update_rule::plain);
    for_each_packet(file,
                    [&](const flow_key& key, std::uint32_t size) { sketch.add(keyed(key.bytes()), size); });
    exact_counts found;
    for (const auto& flow : r.flows) found[flow.key] = flow.high;
    double heavy = 0, missed = 0, ours = 0, theirs = 0;
    for (const auto& [key, size] : truth.sizes) {
        if (size < r.complete_from) continue;
        ++heavy;
        if (!found.contains(key)) {
            ++missed;
            continue;
        }
        ours += static_cast<double>(found[key] - size);
        theirs += static_cast<double>(sketch.estimate(keyed(key.bytes())) - size);
    }
    const double strength = theory::stage_strength(
        static_cast<double>(r.threshold), static_cast<double>(options.width), static_cast<double>(r.total));
    std::printf("%9llu  %-7s %10.2f %14llu %6.0f %7.0f %11.1f %11.1f %8llu %9.0f\n",
                static_cast<unsigned long long>(memory), rising ? "rising" : "fixed",
                static_cast<double>(packets) / time / 1e6, static_cast<unsigned long long>(r.complete_from),
                heavy, missed, ours / heavy, theirs / heavy, static_cast<unsigned long long>(r.passed),
                theory::multistage_entries(static_cast<double>(truth.sizes.size()),
                                           static_cast<double>(options.width), strength, 4));
}

void measure_all(const bytes& file, std::uint64_t packets, const std::vector<std::uint64_t>& memories) {
    const auto truth = count_exactly(file);
    std::printf("%llu packets of %zu flows, %.3g bytes; heavy from a share of %g on\n\n",
                static_cast<unsigned long long>(packets), truth.sizes.size(),
                static_cast<double>(truth.total), share);
    std::printf(
        "                      million       complete                error of heavy flows      entries "
        "made\n");
    std::printf(
        "   memory  threshold packets/s    from, bytes  heavy  missed        here   count-min           at "
        "most\n");
    for (const std::uint64_t memory : memories)
        for (const bool rising : {false, true}) measure(file, packets, truth, memory, rising);
}

void write(const char* path, const bytes& file) {
    std::FILE* const out = std::fopen(path, "wb");
    if (out == nullptr || std::fwrite(file.data(), 1, file.size(), out) != file.size() ||
        std::fclose(out) != 0) {
        std::perror(path);
        std::exit(2);
    }
}

}  // namespace

int main(int argc, char** argv) {
    const bool writes = argc > 2 && std::string_view(argv[1]) == "--write";
    const int first = writes ? 3 : 1;
    const auto number = [&](int i, std::uint64_t otherwise) {
        return argc > first + i ? std::strtoull(argv[first + i], nullptr, 10) : otherwise;
    };
    const std::uint64_t packets = number(0, 5'000'000), flows = number(1, 1'000'000), memory = number(2, 0);
    const bytes file = make_capture(packets, flows);
    if (writes) {
        write(argv[2], file);
    } else {
        measure_all(
            file, packets,
            memory != 0 ? std::vector{memory} : std::vector<std::uint64_t>{1 << 18, 1 << 20, 1 << 22});
    }
}
