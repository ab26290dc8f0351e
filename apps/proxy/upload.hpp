// The body of a request, on its way to the origin while the origin's answer is read.
//
// An origin may answer before it has all of the body: it refuses it (413), or talks both ways at once. So the
// body is sent by a coroutine of its own. With `Expect: 100-continue` the client is not asked for it before
// the origin said 100, or a second has passed: some origins never say it (RFC 9110, 10.1.1).
//
// Invariant: after stop() nothing runs any more. The server awaits it before the request ends
// (http::request::finish_body), whatever became of the exchange. Thread safety: all on the thread of the
// request.
#pragma once

#include <exception>
#include <memory>

#include "http/server.hpp"

namespace posy::proxy {

class upload : public std::enable_shared_from_this<upload> {
  public:
    // Begins. `time`: from the end of the body to the head of the answer.
    static std::shared_ptr<upload> begin(http::request& from, std::shared_ptr<http::transport> to,
                                         http::clock::duration time);

    upload(http::request& from, std::shared_ptr<http::transport> to, http::clock::duration time);

    // The origin has said 100, and the client knows it.
    void go_on();
    // For that.
    bool waits() const { return waits_; }
    // Until we say nothing to the client any more of our own accord: a write at a time.
    http::task<void> silence();
    // The head of the answer is here; the time that is left is its own.
    void answered() { answered_ = true; }
    // The origin has all of it.
    bool whole() const { return whole_; }
    // What the client did wrong, if anything.
    std::exception_ptr fault() const { return fault_; }
    // No more of it. Nothing else may be under way on the connection to the origin.
    http::task<void> stop();
    // The client has its answer, and the origin goes on to read: so does the body, as long as it moves.
    http::task<void> finish();

  private:
    http::task<void> run();
    http::task<void> wait_for_the_word();
    http::task<void> pass_on();

    http::request& from_;
    std::shared_ptr<http::transport> to_;
    http::clock::duration time_;
    http::alarm patience_, ending_;
    std::exception_ptr fault_;
    bool waits_, speaks_ = false, answered_ = false, whole_ = false, stopped_ = false, over_ = false;
};

}  // namespace posy::proxy
