// Packets of an interface, from a packet socket of Linux.
//
// The socket gives what follows the link header, whatever the link is, and what the kernel has not taken off
// yet (VLAN tags it has). So one socket serves every interface, and "any" for all of them.
#include <arpa/inet.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <optional>

#include "packet_stream.hpp"
#include "posy/base/file.hpp"
#include "tool.hpp"

namespace posy::tool {
namespace {

constexpr std::size_t snap_length = 256, batch = 64;
constexpr int kernel_buffer = 32 << 20;  // for bursts
constexpr int idle_milliseconds = 200;

class interface_packets : public packet_stream {
  public:
    interface_packets(const std::string& name, int stop) : name_(name), stop_(stop) {
        const unsigned index = name == "any" ? 0 : if_nametoindex(name.c_str());
        if (name != "any" && index == 0)
            throw failure(name + ": there is no such file and no such interface");
        socket_ = base::descriptor(socket(AF_PACKET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
        if (socket_.get() < 0)
            throw failure(
                base::system_error(name + ": cannot capture; that needs root or CAP_NET_RAW").message);
        const int yes = 1;
        if (setsockopt(socket_.get(), SOL_SOCKET, SO_RCVBUFFORCE, &kernel_buffer, sizeof kernel_buffer) != 0)
            setsockopt(socket_.get(), SOL_SOCKET, SO_RCVBUF, &kernel_buffer, sizeof kernel_buffer);
        sockaddr_ll where{};
        where.sll_family = AF_PACKET;
        where.sll_protocol = htons(ETH_P_ALL);
        where.sll_ifindex = static_cast<int>(index);
        if (setsockopt(socket_.get(), SOL_SOCKET, SO_TIMESTAMPNS, &yes, sizeof yes) != 0 ||
            bind(socket_.get(), reinterpret_cast<const sockaddr*>(&where), sizeof where) != 0)
            throw failure(base::system_error(name + ": cannot capture").message);
    }

    step next(packets::captured& into) override {
        if (at_ == filled_) {
            const step got = receive();
            if (got != step::packet) return got;
        }
        into = packet(at_++);
        return step::packet;
    }

    std::uint64_t dropped() override {
        tpacket_stats since_last{};
        socklen_t size = sizeof since_last;
        if (getsockopt(socket_.get(), SOL_PACKET, PACKET_STATISTICS, &since_last, &size) == 0)
            dropped_ += since_last.tp_drops;
        return dropped_;
    }

  private:
    struct slot {
        std::array<std::byte, snap_length> bytes;
        alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(timespec))> control;
        sockaddr_ll from;
        iovec part;
    };

    // Waits, but not for ever, and takes what is there.
    step receive() {
        std::array<pollfd, 2> either{{{socket_.get(), POLLIN, 0}, {stop_, POLLIN, 0}}};
        const int ready = poll(either.data(), either.size(), idle_milliseconds);
        if (either[1].revents != 0 && ready > 0) return step::end;
        if (ready <= 0) return step::idle;
        for (std::size_t i = 0; i < batch; ++i) {
            slot& s = slots_[i];
            s.part = {s.bytes.data(), s.bytes.size()};
            messages_[i].msg_hdr = {&s.from,          sizeof s.from,    &s.part, 1,
                                    s.control.data(), s.control.size(), 0};
        }
        const int got = recvmmsg(socket_.get(), messages_.data(), batch, MSG_TRUNC, nullptr);
        if (got < 0 && errno != EAGAIN && errno != EINTR)
            throw failure(base::system_error(name_ + ": capturing stopped").message);
        at_ = 0;
        filled_ = got > 0 ? static_cast<std::size_t>(got) : 0;
        return filled_ > 0 ? step::packet : step::idle;
    }

    packets::captured packet(std::size_t i) {
        const unsigned length = messages_[i].msg_len, kind = ntohs(slots_[i].from.sll_protocol);
        packets::captured one{
            .frame = byte_view(slots_[i].bytes).first(std::min<std::size_t>(length, snap_length)),
            .original_length = length};
        if (kind == ETH_P_IP || kind == ETH_P_IPV6) one.link = packets::link_type::raw_ip;
        msghdr& head = messages_[i].msg_hdr;
        for (cmsghdr* c = CMSG_FIRSTHDR(&head); c; c = CMSG_NXTHDR(&head, c))
            if (c->cmsg_level == SOL_SOCKET && c->cmsg_type == SO_TIMESTAMPNS) {
                timespec when;
                std::memcpy(&when, CMSG_DATA(c), sizeof when);
                one.time = static_cast<std::uint64_t>(when.tv_sec) * 1'000'000'000 +
                           static_cast<std::uint64_t>(when.tv_nsec);
            }
        return one;
    }

    std::string name_;
    int stop_;
    base::descriptor socket_;
    std::array<slot, batch> slots_{};
    std::array<mmsghdr, batch> messages_{};
    std::size_t at_ = 0, filled_ = 0;
    std::uint64_t dropped_ = 0;
};

}  // namespace

std::unique_ptr<packet_stream> open_interface(const std::string& name, int stop) {
    return std::make_unique<interface_packets>(name, stop);
}

}  // namespace posy::tool
