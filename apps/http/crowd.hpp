// How many connections each address has open, so that no address takes all of them.
//
// An IPv6 host has a whole /64 to choose its addresses from, so that is what is counted. An entry lives as
// long as its connections: the map is never larger than their number. Thread safety: all calls from any
// thread.
#pragma once

#include <map>
#include <mutex>

#include "networks.hpp"

namespace posy::http {

class crowd {
  public:
    using address = http::address;

    // 0: no limit.
    explicit crowd(std::size_t most) : most_(most) {}

    // What is one party to all limits per address.
    static address party_of(const address& who) {
        const auto plain = unmapped(who);
        if (plain.is_v4()) return plain;
        auto bytes = plain.to_v6().to_bytes();
        if (!who.is_loopback()) std::fill(bytes.begin() + 8, bytes.end(), static_cast<unsigned char>(0));
        return boost::asio::ip::address_v6(bytes);
    }

    void limit(std::size_t most) {
        const std::lock_guard lock(mutex_);
        most_ = most;
    }
    // False: it has as many as it may, and this one is not counted.
    bool enter(const address& who) {
        const std::lock_guard lock(mutex_);
        auto& open = open_[party_of(who)];
        if (most_ > 0 && open >= most_) return false;
        ++open;
        return true;
    }
    void leave(const address& who) {
        const std::lock_guard lock(mutex_);
        const auto found = open_.find(party_of(who));
        if (--found->second == 0) open_.erase(found);
    }

  private:
    std::size_t most_;
    std::mutex mutex_;
    std::map<address, std::size_t> open_;
};

}  // namespace posy::http
