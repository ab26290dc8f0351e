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
// A regular file of ours, and nothing that someone put in its place: an error for links, pipes, devices and
// folders. Never waits for another process.
result<descriptor> open_regular(const std::filesystem::path&);

// Waits for the first byte, and takes what else is there by then; 0 at the end.
result<std::size_t> read_waiting(int file, std::span<std::byte> into);
// Bytes left when the end came; less than into.size() only at the end. `at`: an offset, or the current place.
result<std::size_t> read_fully(int file, std::span<std::byte> into, std::optional<std::uint64_t> at = {});
result<void> write_fully(int file, byte_view);

// The size, if the descriptor is of a regular file with something in it (files of /proc say 0 and have
// plenty).
std::optional<std::uint64_t> regular_size(int file);
// Where the next read would start, if that can be said.
std::optional<std::uint64_t> position(int file);

// A piece of a file in memory, read when it is touched. Whoever maps has checked that the file is long
// enough.
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

// The file that a name leads to, through links; it need not exist, unless the name is a link.
result<std::filesystem::path> behind_links(const std::filesystem::path&);
// Is this the file that the path leads to now?
bool names(const std::filesystem::path&, int file);

// What a committed file survives. Waiting for the disk costs milliseconds.
enum class durability { power_loss, kill };

// A file that appears under its name all at once, or not at all: written without a name where the file system
// can, else beside the target; then renamed. Even a kill leaves nothing half done, at most a file
// NAME.posy-tmp, which the next writer of the same target removes. A target that exists and is no regular
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

// strerror as an error, behind what was tried.
error system_error(const std::string& what);

}  // namespace posy::base
