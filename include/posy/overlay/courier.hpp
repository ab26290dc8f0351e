// Records that must arrive, once and in order, over a network that loses, repeats and delays messages.
//
// To each receiver one parcel is on its way at a time. It has a number and all records that were waiting, up
// to a limit, and is sent again until its receipt comes: what is written while a parcel is on its way travels
// together in the next. Numbers ascend even over a restart, because the first is the time.
//
// The receiver takes a number above the last one that it took from this sender, and acknowledges every
// parcel. Memory: the records that wait, and two numbers per correspondent. Thread safety: none.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "posy/overlay/mail.hpp"

namespace posy::overlay {

class courier {
  public:
    // The first byte of parcels and of their receipts; how long to wait for a receipt, in milliseconds.
    courier(std::byte parcel, std::byte receipt, std::uint64_t patience)
        : parcel_(parcel), receipt_(receipt), patience_(patience) {}

    void post(node_id to, byte_view record, std::uint64_t now, outbox&);

    // A parcel has come: its records, if they are new. Nothing if it has come before, or is damaged.
    std::optional<byte_view> open(node_id from, byte_view parcel, outbox&);
    // A receipt has come; whether it is for a parcel on its way.
    bool settle(node_id from, byte_view receipt, std::uint64_t now, outbox&);

    void tick(std::uint64_t now, outbox&);
    std::optional<std::uint64_t> next_tick() const;
    bool idle() const { return !earliest_; }

    static constexpr std::size_t most_bytes = 32 << 10;  // of records in a parcel; a record may have as many

  private:
    struct line {
        std::uint64_t number = 0;          // of the parcel on its way; 0 if there is none
        std::uint64_t sent_at = 0;         // and when it was sent last
        message_bytes parcel{};            // which is this
        std::vector<std::byte> waiting{};  // records
        std::vector<std::size_t> ends{};   // where each of them ends
    };
    void dispatch(node_id to, line&, std::uint64_t now, outbox&);
    void watch(std::uint64_t at) { earliest_ = earliest_ ? std::min(*earliest_, at) : at; }

    std::byte parcel_, receipt_;
    std::uint64_t patience_;
    std::uint64_t last_number_ = 0;
    std::unordered_map<node_id, line> lines_;
    std::unordered_map<node_id, std::uint64_t> taken_;  // the last number taken from each sender
    std::optional<std::uint64_t> earliest_;             // when a parcel may have to be sent again
};

}  // namespace posy::overlay
