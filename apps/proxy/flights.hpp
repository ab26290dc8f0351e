// Requests for the same thing at the same time become one (request collapsing): the first to come fetches,
// the others wait for the head of its answer. If that can be shared they read the answer as it arrives; if
// not, they are let go at once.
//
// A flight is open from the first request until its answer is in the store or cannot be shared; who comes in
// between finds it. Thread safety: all calls from any thread.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "arrival.hpp"
#include "node/bell.hpp"

namespace posy::proxy {

class flights {
  public:
    class flight {
        friend class flights;
        std::string key;
        std::shared_ptr<arrival> arrived;
        node::bell news;
    };

    // True when this caller is the first, and must land().
    bool take_off(const std::string& key, std::shared_ptr<flight>& found) {
        const std::lock_guard lock(mutex_);
        auto [at, first] = open_.try_emplace(key);
        if (first) {
            at->second = std::make_shared<flight>();
            at->second->key = key;
        }
        found = at->second;
        return first;
    }

    // The head is here: all who wait may read, and all who come before it lands.
    void arrive(flight& f, std::shared_ptr<arrival> what) {
        {
            const std::lock_guard lock(mutex_);
            f.arrived = std::move(what);
        }
        f.news.ring();
    }

    void land(const std::shared_ptr<flight>& f) {
        {
            const std::lock_guard lock(mutex_);
            remove(*f);
        }
        f->news.ring();
    }

    // What is on its way is outdated: those who come from now on must not get it.
    void outdate(const std::string& key) {
        std::shared_ptr<flight> old;
        {
            const std::lock_guard lock(mutex_);
            const auto at = open_.find(key);
            if (at == open_.end()) return;
            old = at->second;
            remove(*old);
        }
        old->news.ring();
    }

    // What came, or null: it landed, or `end` came first.
    http::task<std::shared_ptr<arrival>> wait(const std::shared_ptr<flight>& f, http::worker& here,
                                              http::clock::time_point end) {
        co_await f->news.wait(here, end, 0);
        const std::lock_guard lock(mutex_);
        co_return f->arrived;
    }

  private:
    void remove(flight& f) {
        f.arrived.reset();
        const auto at = open_.find(f.key);
        if (at != open_.end() && at->second.get() == &f) open_.erase(at);
    }

    std::mutex mutex_;
    std::map<std::string, std::shared_ptr<flight>> open_;
};

}  // namespace posy::proxy
