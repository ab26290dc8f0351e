// The memory that there is for objects, wherever they are: on their way in, stored, or evicted and still
// being sent to someone slow.
//
// Invariant: what was taken and not yet given back never exceeds the room. A body takes its bytes before it
// has them and gives them back when its last user is gone, so that the sum of all bodies keeps the budget
// whatever clients and origins do. Cost: two atomic additions an object.
// Thread safety: every call from any thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace posy::http_cache {

class room {
  public:
    explicit room(std::uint64_t bytes) : bytes_(bytes) {}

    // False, and nothing taken, when there is not as much left.
    bool take(std::uint64_t bytes);
    void give_back(std::uint64_t bytes) { used_ -= bytes; }

    std::uint64_t bytes() const { return bytes_; }
    std::uint64_t used() const { return used_; }
    // How often there was not enough.
    std::uint64_t refusals() const { return refusals_; }

  private:
    std::uint64_t bytes_;
    std::atomic<std::uint64_t> used_{0}, refusals_{0};
};

// A body that is being collected for the store. It takes room as it grows and gives up for good when there is
// none, or when it becomes larger than `most`: the collector then passes on what comes and keeps
// nothing. Thread safety: as of any value.
class incoming_body {
  public:
    // With a known length all its room is taken at once, so that bodies that cannot all be finished do not
    // take it from each other. `beside` is what will be stored beside the body: the head (head_cost()).
    incoming_body(std::shared_ptr<room>, std::uint64_t most, std::optional<std::uint64_t> length,
                  std::uint64_t beside);
    // One that has given up already.
    incoming_body() = default;

    bool open() const { return held_ != nullptr; }
    // Takes the room for this many bytes more. False when there is none: what is there stays until it is
    // dropped.
    bool make_room(std::uint64_t bytes);
    // False when it has given up; then nothing is held.
    bool append(std::string_view piece);
    // What is there; to be filled by the caller, if the length was known. It stays where it is until the body
    // that was taken is gone.
    std::string& text();
    // The body. Its room is taken until the last pointer is gone. Precondition: open(), which it is no more.
    std::shared_ptr<const std::string> take();

  private:
    struct counted;
    std::shared_ptr<counted> held_;
    std::uint64_t most_ = 0;
};

}  // namespace posy::http_cache
