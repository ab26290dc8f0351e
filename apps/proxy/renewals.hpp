// How many stale answers are renewed behind their clients' backs at a time.
//
// No client waits for a renewal, so one client could start any number of them: there are few in all, and
// fewer for one address (IPv6: one /64). A request that gets no place serves what is stale and leaves the
// renewal to a later one. A place is given back when its last owner is gone, however the renewal ends. Thread
// safety: all calls from any thread.
#pragma once

#include <atomic>
#include <memory>

#include "http/crowd.hpp"

namespace posy::proxy {

class renewals : public std::enable_shared_from_this<renewals> {
  public:
    using address = http::crowd::address;
    static constexpr std::size_t most = 64, most_of_one = 8;

    // Null: there are enough.
    std::shared_ptr<void> enter(const address& who) {
        if (++all_ > most || !of_one_.enter(who)) {
            --all_;
            return nullptr;
        }
        const auto leave = [self = shared_from_this(), who](void*) {
            self->of_one_.leave(who);
            --self->all_;
        };
        return {this, leave};
    }

  private:
    std::atomic<std::size_t> all_{0};
    http::crowd of_one_{most_of_one};
};

}  // namespace posy::proxy
