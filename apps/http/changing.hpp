// A value that is replaced as a whole while others read it: settings that may change while a daemon runs.
//
// A reader gets the value of this moment and keeps it as long as it likes; whoever begins after set() gets
// the next. All copies of a handle share one value. Every request reads, and hardly ever is anything set:
// readers on different threads use different copies of the pointer, each with a lock and a count of its own,
// so that they do not wait for each other. Thread safety: all calls from any thread.
#pragma once

#include <array>
#include <atomic>
#include <memory>
#include <mutex>
#include <utility>

namespace posy::http {

template <class T>
class changing {
  public:
    changing() : changing(std::make_shared<const T>()) {}
    explicit changing(T first) : changing(std::make_shared<const T>(std::move(first))) {}
    explicit changing(const std::shared_ptr<const T>& first) { set(first); }

    std::shared_ptr<const T> get() const {
        const auto& mine = (*places_)[number() % places];
        const std::lock_guard lock(mine.mutex);
        return mine.now;
    }
    void set(const std::shared_ptr<const T>& next) const {
        for (auto& each : *places_) {
            std::shared_ptr<const T> own(next.get(), [next](const T*) {});  // with a count of its own
            const std::lock_guard lock(each.mutex);
            std::swap(each.now, own);
        }
    }
    void set(T next) const { set(std::make_shared<const T>(std::move(next))); }

  private:
    static constexpr std::size_t places = 16, cache_line = 64;
    struct alignas(cache_line) place {
        mutable std::mutex mutex;
        std::shared_ptr<const T> now;
    };
    // Of this thread.
    static std::size_t number() {
        static std::atomic<std::size_t> threads{0};
        thread_local const std::size_t mine = threads++;
        return mine;
    }
    std::shared_ptr<std::array<place, places>> places_ = std::make_shared<std::array<place, places>>();
};

}  // namespace posy::http
