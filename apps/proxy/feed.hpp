// A text that still grows, on its way to a client at the client's pace, while the filler does not wait.
//
// The filler appends and says grew(); a coroutine of its own sends what is there, 16 KB at a time. Each piece
// is copied before it is sent, so that the text may move while it grows. Invariant: after finish() nothing
// runs any more; it has to be awaited before the text or the request ends.
// Thread safety: all on the thread of the request.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "http/server.hpp"

namespace posy::proxy {

class feed {
  public:
    enum class end {
        whole,    // all of it has been said, and that is the answer
        goes_on,  // the caller sends what follows
        broken,   // the client must not take it for the whole
    };

    // `head` goes first. The text stays where it is.
    feed(http::request& to, std::string head, bool chunked, const std::string& text);

    void grew();
    // Until the client has all that is there, or is gone.
    http::task<void> finish(end);

    bool idle() const;  // the client has all that is there
    bool gone() const;
    std::uint64_t sent() const;  // bytes of the text

  private:
    struct state;
    std::shared_ptr<state> state_;
};

}  // namespace posy::proxy
