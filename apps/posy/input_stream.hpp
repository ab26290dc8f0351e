// The bytes of an input file: a descriptor, and what gzip or zstd made of them is undone. Which of the two it
// was is seen from the first bytes, not from the name.
//
// Memory: some 100 KiB, and with zstd the window that its data asks for, at most 128 MiB. Thread safety:
// none.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "posy/base/file.hpp"

namespace posy::tool {

enum class compression { none, gzip, zstd };
compression compression_of(byte_view first_bytes);

// A file of messages, by its first bytes.
bool is_posy(std::string_view first_bytes);

// Throws failure for what is no text, by its first bytes: other compression than the above, and UTF-16.
void refuse_other_forms(const std::string& name, std::string_view first_bytes);

class input_stream {
  public:
    // `name` is what errors call it.
    input_stream(base::descriptor, std::string name);
    ~input_stream();
    input_stream(input_stream&&) noexcept;
    input_stream& operator=(input_stream&&) = delete;

    int descriptor() const;
    compression compressed() const;
    // As they are in the file: some, if there are any. Before the first read().
    byte_view first_bytes() const;
    // Whether the next read() needs nothing from the descriptor.
    bool has_more() const;
    // Waits for the first byte and gives what is there by then; 0 at the end. Throws failure.
    std::size_t read(std::span<char> into);

  private:
    struct state;
    std::unique_ptr<state> state_;
};

// All of a file, or of standard input (-), up to this many bytes. Throws failure.
std::string read_all(const std::string& path, std::size_t most);
// The same of what should be text.
std::string read_text(const std::string& path, std::size_t most = std::size_t{1} << 30);

}  // namespace posy::tool
