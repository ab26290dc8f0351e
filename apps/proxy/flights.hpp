// Requests for the same thing at the same time become one (request collapsing): the first to come fetches,
// the others wait for it and look again. Thread safety: all calls from any thread.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "node/bell.hpp"

namespace posy::proxy {

class flights {
  public:
    using flight = node::bell;

    // True when this caller is the first, and must land().
    bool take_off(const std::string& key, std::shared_ptr<flight>& found) {
        const std::lock_guard lock(mutex_);
        auto [at, first] = open_.try_emplace(key);
        if (first) at->second = std::make_shared<flight>();
        found = at->second;
        return first;
    }

    void land(const std::string& key) {
        std::shared_ptr<flight> done;
        {
            const std::lock_guard lock(mutex_);
            const auto at = open_.find(key);
            if (at == open_.end()) return;
            done = std::move(at->second);
            open_.erase(at);
        }
        done->ring();
    }

    static http::task<void> wait(const std::shared_ptr<flight>& f, http::worker& here,
                                 http::clock::time_point end) {
        co_await f->wait(here, end, 0);  // it rings once
    }

  private:
    std::mutex mutex_;
    std::map<std::string, std::shared_ptr<flight>> open_;
};

}  // namespace posy::proxy
