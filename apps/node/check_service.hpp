// POST /check: what a filter of the operator says of keys, or whether a password may be used.
//
// The filter is a file of any kind that can be asked for keys. One that `posy password seal` made is asked
// for a password per request, and for its edits. The file is copied into memory, so that overwriting it
// changes no answer, and read again on demand; a file that cannot be used, or whose answers would have
// another form, leaves the last good one in place. A body has at most 64 KiB, a password 128 bytes; neither
// is logged, and the memory of a password is wiped. Thread safety: all calls; answers are made on a thread of
// this object.
#pragma once

#include <atomic>
#include <boost/asio/thread_pool.hpp>
#include <memory>
#include <mutex>
#include <string>

#include "http/server.hpp"
#include "metrics.hpp"

namespace posy::node {

class check_service {
  public:
    // Throws std::runtime_error if the file is no such filter.
    explicit check_service(std::string path);
    ~check_service();

    http::task<http::response> answer(http::request&);
    // The file, read again, for use(). Throws as the constructor does, and if the answers would have another
    // form.
    struct filter;
    std::shared_ptr<const filter> prepare() const;
    void use(std::shared_ptr<const filter>);
    void describe(metrics&) const;
    // "leaked.posy (kind sealed, 1000 items)"
    std::string description() const;
    // After the server ran: ends the work in hand.
    void finish();

  private:
    struct reply;
    static std::shared_ptr<const filter> load(const std::string& path);
    std::shared_ptr<const filter> present() const;

    std::string path_;
    mutable std::mutex mutex_;
    std::shared_ptr<const filter> filter_;
    std::atomic<std::uint64_t> yes_ = 0, no_ = 0;
    boost::asio::thread_pool working_{1};
};

}  // namespace posy::node
