#include "posy/base/file.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

namespace posy::base {

error system_error(const std::string& what) {
    const int code = errno;
    error why = error::input_output(what + ": " + std::strerror(code));
    why.system = code;
    return why;
}

descriptor& descriptor::operator=(descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
}
descriptor::~descriptor() {
    if (number_ >= 0) close(number_);
}
int descriptor::release() { return std::exchange(number_, -1); }

result<descriptor> open_for_reading(const std::filesystem::path& path) {
    descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (file.get() < 0) return system_error("cannot open");
    return file;
}

result<descriptor> open_regular(const std::filesystem::path& path) {
    descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW | O_NOCTTY));
    if (file.get() < 0) return system_error("cannot open");
    struct stat status {};
    if (fstat(file.get(), &status) != 0) return system_error("cannot read");
    if (!S_ISREG(status.st_mode)) return error::input_output("not a regular file");
    return file;
}

result<std::size_t> read_waiting(int file, std::span<std::byte> into) {
    std::size_t done = 0;
    while (done < into.size()) {
        pollfd more{file, POLLIN, 0};
        if (done > 0 && poll(&more, 1, 0) <= 0) break;
        const ssize_t got = read(file, into.data() + done, into.size() - done);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return system_error("cannot read");
        if (got == 0) break;
        done += static_cast<std::size_t>(got);
    }
    return done;
}

result<std::size_t> read_fully(int file, std::span<std::byte> into, std::optional<std::uint64_t> at) {
    std::size_t done = 0;
    while (done < into.size()) {
        const auto left = into.subspan(done);
        const ssize_t got = at ? pread(file, left.data(), left.size(), static_cast<off_t>(*at + done))
                               : read(file, left.data(), left.size());
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return system_error("cannot read");
        if (got == 0) break;
        done += static_cast<std::size_t>(got);
    }
    return done;
}

result<void> write_fully(int file, byte_view bytes) {
    while (!bytes.empty()) {
        const ssize_t put = write(file, bytes.data(), bytes.size());
        if (put < 0 && errno == EINTR) continue;
        if (put < 0) return system_error("cannot write");
        bytes = bytes.subspan(static_cast<std::size_t>(put));
    }
    return {};
}

std::optional<std::uint64_t> regular_size(int file) {
    struct stat status {};
    if (fstat(file, &status) != 0 || !S_ISREG(status.st_mode) || status.st_size == 0) return std::nullopt;
    return static_cast<std::uint64_t>(status.st_size);
}

std::optional<std::uint64_t> position(int file) {
    const off_t at = lseek(file, 0, SEEK_CUR);
    if (at < 0) return std::nullopt;
    return static_cast<std::uint64_t>(at);
}

result<mapping> mapping::of(int file, std::uint64_t offset, std::uint64_t size) {
    if (size == 0) return mapping(nullptr, 0, 0);
    const auto page = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
    const std::uint64_t skip = offset % page;
    void* base = mmap(nullptr, size + skip, PROT_READ, MAP_PRIVATE, file, static_cast<off_t>(offset - skip));
    if (base == MAP_FAILED) return system_error("cannot map");
    return mapping(base, skip, size);
}

mapping::mapping(mapping&& other) noexcept
    : base_(std::exchange(other.base_, nullptr)), skip_(other.skip_), size_(other.size_) {}

mapping::~mapping() {
    if (base_) munmap(base_, skip_ + size_);
}

result<std::filesystem::path> behind_links(const std::filesystem::path& name) {
    std::error_code failed;
    if (!is_symlink(name, failed)) return name;
    auto target = canonical(name, failed);
    if (failed) return error::input_output("it is a link to nowhere");
    return target;
}

bool names(const std::filesystem::path& path, int file) {
    struct stat by_name {
    }, by_number{};
    return stat(path.c_str(), &by_name) == 0 && fstat(file, &by_number) == 0 &&
           by_name.st_dev == by_number.st_dev && by_name.st_ino == by_number.st_ino;
}

namespace {

// A writer locks its temporary file for as long as the file has its name. So one that can be locked was left
// by a writer that was killed, and no other process removes it while we hold its lock.
void remove_leftover(const std::string& name) {
    const descriptor file(open(name.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
    if (file.get() < 0 || flock(file.get(), LOCK_EX | LOCK_NB) != 0 || !names(name, file.get())) return;
    unlink(name.c_str());
}

// Calls make(name) with names beside the target until one is free; make sets errno to EEXIST for one that is
// not. Except with concurrent writers the first name is free, so a leftover is found without reading the
// directory.
template <class Make>
std::string take_temporary_name(const std::filesystem::path& target, Make make) {
    constexpr int most = 1000;
    for (int i = 0; i < most; ++i) {
        std::string name = target.string() + ".posy-tmp" + (i == 0 ? "" : std::to_string(i));
        if (make(name)) return name;
        if (errno != EEXIST) return {};
        remove_leftover(name);
        if (make(name)) return name;
        if (errno != EEXIST) return {};
    }
    return {};
}

// For file systems that do not support files without names.
descriptor create_named(const std::filesystem::path& target, std::string& temporary) {
    descriptor file;
    temporary = take_temporary_name(target, [&](const std::string& name) {
        file = descriptor(open(name.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0666));
        if (file.get() < 0) return false;
        const bool ours = flock(file.get(), LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK;
        if (ours && names(name, file.get())) return true;
        errno = EEXIST;  // taken for a leftover before it was locked
        return false;
    });
    return temporary.empty() ? descriptor() : std::move(file);
}

}  // namespace

result<atomic_file> atomic_file::create(const std::filesystem::path& name) {
    if (name.empty()) return error::invalid("a file without a name cannot be written");
    struct stat old {};
    const bool exists = stat(name.c_str(), &old) == 0;
    if (exists && !S_ISREG(old.st_mode)) {
        descriptor file(open(name.c_str(), O_WRONLY | O_CLOEXEC));
        if (file.get() < 0) return system_error("cannot open for writing");
        return atomic_file(std::move(file), {}, {});
    }
    // A link stays as it is: the file that it points to is replaced.
    const auto target = behind_links(name);
    if (!target) return target.error();
    auto made = in_place_of(*target);
    if (made && exists) {  // a replaced file keeps its mode, and its owner where that is ours to give
        if (fchown(made->get(), old.st_uid, old.st_gid) != 0) errno = 0;
        fchmod(made->get(), old.st_mode & 07777);
    }
    return made;
}

result<atomic_file> atomic_file::in_place_of(const std::filesystem::path& target) {
    // A file without a name: if the process is killed, nothing is left.
    const auto directory = target.has_parent_path() ? target.parent_path() : std::filesystem::path(".");
    descriptor file(open(directory.c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666));
    std::string temporary;
    if (file.get() < 0 && (errno == EOPNOTSUPP || errno == EISDIR)) file = create_named(target, temporary);
    if (file.get() < 0) return system_error("cannot create");
    return atomic_file(std::move(file), temporary, target);
}

atomic_file::atomic_file(descriptor file, std::filesystem::path temporary, std::filesystem::path target)
    : file_(std::move(file)), temporary_(std::move(temporary)), target_(std::move(target)) {}

atomic_file::atomic_file(atomic_file&& other) noexcept
    : file_(std::move(other.file_)),
      temporary_(std::exchange(other.temporary_, {})),
      target_(std::exchange(other.target_, {})) {}

atomic_file::~atomic_file() {
    if (!temporary_.empty()) unlink(temporary_.c_str());
}

result<void> atomic_file::commit(durability survives) {
    if (target_.empty()) return {};
    if (survives == durability::power_loss && fsync(file_.get()) != 0) return system_error("cannot write");
    if (temporary_.empty()) {  // it needs a name before it can take another's place
        const std::string self = "/proc/self/fd/" + std::to_string(file_.get());
        // Where files cannot be locked, a leftover cannot be told from a file in use, and stays.
        if (flock(file_.get(), LOCK_EX | LOCK_NB) != 0) errno = 0;
        temporary_ = take_temporary_name(target_, [&](const std::string& name) {
            return linkat(AT_FDCWD, self.c_str(), AT_FDCWD, name.c_str(), AT_SYMLINK_FOLLOW) == 0;
        });
        if (temporary_.empty()) return system_error("cannot name the new file");
    }
    if (rename(temporary_.c_str(), target_.c_str()) != 0) return system_error("cannot rename into place");
    temporary_.clear();
    target_.clear();
    return {};
}

}  // namespace posy::base
