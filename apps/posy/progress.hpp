// One line of progress on a terminal; silence in a pipe.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

namespace posy::tool {

class progress {
  public:
    // What is counted: bytes, shown with their speed; or work in a unit that means nothing to the user, shown
    // as the time that is left.
    enum class counting { bytes, work };

    // Shows nothing unless standard error is a terminal. `total`: if known.
    progress(std::string title, std::optional<std::uint64_t> total, counting what = counting::bytes);
    ~progress();
    void add(std::uint64_t done);  // calls must not overlap

  private:
    using clock = std::chrono::steady_clock;
    std::string title_;
    std::optional<std::uint64_t> total_;
    counting what_;
    bool on_;
    bool drawn_ = false;
    std::uint64_t done_ = 0;
    clock::time_point start_ = clock::now(), shown_ = start_;
};

}  // namespace posy::tool
