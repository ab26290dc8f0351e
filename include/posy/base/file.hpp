// Files and descriptors, with errors as values.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>

#include "posy/bytes.hpp"
#include "posy/result.hpp"

namespace posy::base {

// Owns a descriptor; closing errors are ignored, so writers sync first.
class descriptor {
  public:
    explicit descriptor(int number = -1) : number_(number) {}
    descriptor(descriptor&& other) noexcept : number_(other.release()) {}
    descriptor& operator=(descriptor&& other) noexcept;
    ~descriptor();

    int get() const { return number_; }
    int release();

  private:
    int number_;
};

result<descriptor> open_for_reading(const std::filesystem::path&);
// Opens a regular file and nothing else: an error for links, pipes, devices and folders, which another user
// may have put in its place. Never waits for another process.
result<descriptor> open_regular(const std::filesystem::path&);

// Waits for the first byte and reads what is available by then; 0 at the end.
result<std::size_t> read_waiting(int file, std::span<std::byte> into);
// The number of bytes read, less than into.size() only at the end of the file. `at`: an offset, or the
// current position.
result<std::size_t> read_fully(int file, std::span<std::byte> into, std::optional<std::uint64_t> at = {});
result<void> write_fully(int file, byte_view);

// The size, if the descriptor is of a regular file with a size above 0 (files in /proc report 0 but have
// content).
std::optional<std::uint64_t> regular_size(int file);
// Where the next read would start, if the descriptor has a position.
std::optional<std::uint64_t> position(int file);

// A part of a file in memory, read on access. The caller has checked that the file is long enough.
class mapping {
  public:
    static result<mapping> of(int file, std::uint64_t offset, std::uint64_t size);
    mapping(mapping&& other) noexcept;
    mapping& operator=(mapping&&) = delete;
    ~mapping();

    byte_view bytes() const { return {static_cast<const std::byte*>(base_) + skip_, size_}; }

  private:
    mapping(void* base, std::size_t skip, std::size_t size) : base_(base), skip_(skip), size_(size) {}

    void* base_;  // null: nothing is mapped
    std::size_t skip_;
    std::size_t size_;
};

// The file that a name refers to after following links; it need not exist, unless the name is a link.
result<std::filesystem::path> behind_links(const std::filesystem::path&);
// Is this the file that the path refers to now?
bool names(const std::filesystem::path&, int file);

// What a committed file survives. Waiting for the disk costs milliseconds.
enum class durability { power_loss, kill };

// A file that appears under its name complete, or not at all. It is written without a name where the file
// system supports that, otherwise beside the target, and then renamed. A killed process leaves at most a file
// NAME.posy-tmp, which the next writer of the same target removes. A target that exists and is not a regular
// file (a device, a pipe) is written directly.
class atomic_file {
  public:
    static result<atomic_file> create(const std::filesystem::path& target);
    // Takes the place of whatever has the name, a link or a pipe included.
    static result<atomic_file> in_place_of(const std::filesystem::path& target);
    atomic_file(atomic_file&& other) noexcept;
    atomic_file& operator=(atomic_file&&) = delete;
    ~atomic_file();  // removes what was not committed

    int get() const { return file_.get(); }
    result<void> commit(durability survives = durability::power_loss);

  private:
    atomic_file(descriptor file, std::filesystem::path temporary, std::filesystem::path target);

    descriptor file_;
    std::filesystem::path temporary_;  // empty: it has no name yet
    std::filesystem::path target_;     // empty: written directly, or committed
};

// errno as an error, its text after what was tried.
error system_error(const std::string& what);

}  // namespace posy::base
