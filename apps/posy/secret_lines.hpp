// Lines that nobody else is to see, from standard input: a terminal does not show them, the memory that holds
// them is wiped, and a crash writes none of it to a file.
//
// Each line is given as it arrives. Memory: some KiB, whatever comes. Thread safety: none; one object per
// process.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace posy::tool {

class secret_lines {
  public:
    // Longer lines are a failure, which names the line by its number. `prompt` is shown on a terminal.
    secret_lines(std::size_t longest, std::string prompt);
    ~secret_lines();
    secret_lines(const secret_lines&) = delete;
    secret_lines& operator=(const secret_lines&) = delete;

    // Without its end, LF or CR LF; nothing when all have been given. Valid until the next call.
    std::optional<std::string_view> next();

  private:
    class terminal;
    bool read_more();

    std::size_t longest_;
    std::string buffer_;
    std::size_t from_ = 0, end_ = 0;  // of the buffer, what was read and not given
    std::uint64_t number_ = 0;
    std::unique_ptr<terminal> terminal_;  // null: it is none
};

}  // namespace posy::tool
