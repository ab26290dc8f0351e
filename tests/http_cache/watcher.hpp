// An observer that believes only what it is told, and checks that it is told in order.
#pragma once

#include <gtest/gtest.h>

#include <mutex>
#include <set>
#include <string>

#include "posy/http_cache/observer.hpp"

namespace posy::http_cache {

class watcher : public observer {
  public:
    void entered(std::string_view url) override {
        const std::lock_guard guard(lock_);
        EXPECT_TRUE(urls_.emplace(url).second) << url << " entered twice";
    }
    void left(std::string_view url) override {
        const std::lock_guard guard(lock_);
        EXPECT_EQ(urls_.erase(std::string(url)), 1u) << url << " left without having entered";
    }
    std::set<std::string> urls() const {
        const std::lock_guard guard(lock_);
        return urls_;
    }

  private:
    mutable std::mutex lock_;
    std::set<std::string> urls_;
};

// Every URL of a store; each comes once.
template <class Store>
std::set<std::string> urls_in(const Store& store) {
    std::set<std::string> urls;
    store.for_each_url([&](std::string_view url) { EXPECT_TRUE(urls.emplace(url).second) << url; });
    return urls;
}

}  // namespace posy::http_cache
