// What an operator has to know of the disk: that its file system is full, that it cannot be written or read,
// and that files are not what was written.
//
// Each kind of trouble is told when it begins, and while it lasts once per minute, with how often it
// happened. Cost: a look is three comparisons. Thread safety: failed() and damaged() from any thread; the
// rest belongs to one.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

#include "http/journal.hpp"
#include "posy/http_cache/observer.hpp"

namespace posy::proxy {

class disk_news {
  public:
    static constexpr std::chrono::minutes pause{1};

    disk_news(std::string folder, std::shared_ptr<http::journal> to)
        : folder_(std::move(folder)), journal_(std::move(to)) {}

    // The reason why the last write failed.
    void failed(std::string why) {
        const std::lock_guard guard(lock_);
        why_ = std::move(why);
    }

    // A file that was found damaged, and removed.
    void damaged(std::string_view file) {
        const std::lock_guard guard(lock_);
        file_ = file;
        ++damages_;
    }
    std::uint64_t damages() const { return damages_; }

    // Every second or so.
    void look(const http_cache::store_counts& now, http::clock::time_point at) {
        if (const auto n = full_.grown(now.for_space, at))
            journal_->warning("--disk {}: its file system is full; {} objects were dropped to make room",
                              folder_, n);
        if (const auto n = unwritten_.grown(now.unwritten, at)) {
            const std::lock_guard guard(lock_);
            journal_->error("--disk {}: {}; {} objects could not be written", folder_, why_, n);
        }
        if (const auto n = damaged_.grown(damages_, at)) {
            const std::lock_guard guard(lock_);
            journal_->warning("--disk {}: {} files were damaged, and removed; the last of them was {}",
                              folder_, n, file_);
        }
        if (const auto n = unread_.grown(now.unread, at))
            journal_->error(
                "--disk {}: {} files could not be opened: too many open files; raise the limit of "
                "descriptors (ulimit -n)",
                folder_, n);
    }

  private:
    struct trouble {
        std::uint64_t told = 0;
        http::clock::time_point next{};

        // By how much since it was told; 0: there is nothing to tell now.
        std::uint64_t grown(std::uint64_t count, http::clock::time_point at) {
            if (count == told || at < next) return 0;
            next = at + pause;
            return count - std::exchange(told, count);
        }
    };

    std::string folder_;
    std::shared_ptr<http::journal> journal_;
    std::mutex lock_;
    std::string why_ = "it cannot be written", file_;
    std::atomic<std::uint64_t> damages_{0};
    trouble full_, unwritten_, unread_, damaged_;
};

}  // namespace posy::proxy
