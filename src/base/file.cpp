#include "file.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

namespace posy::base {

error system_error(const std::string& what) { return {what + ": " + std::strerror(errno)}; }

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
    if (!S_ISREG(status.st_mode)) return error{"not a regular file"};
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

result<atomic_file> atomic_file::create(const std::filesystem::path& name) {
    if (name.empty()) return error{"a file without a name cannot be written"};
    std::error_code ignored;
    // A link keeps pointing at what it points at: the file behind it is replaced.
    const std::filesystem::path target = is_symlink(name, ignored) ? canonical(name, ignored) : name;
    struct stat old {};
    const bool exists = stat(name.c_str(), &old) == 0;
    if (exists && !S_ISREG(old.st_mode)) {
        descriptor file(open(name.c_str(), O_WRONLY | O_CLOEXEC));
        if (file.get() < 0) return system_error("cannot open for writing");
        return atomic_file(std::move(file), {}, {});
    }
    if (target.empty()) return error{"it is a link to nowhere"};
    auto made = in_place_of(target);
    if (made && exists) {  // a replaced file keeps its mode, and its owner where that is ours to give
        if (fchown(made->get(), old.st_uid, old.st_gid) != 0) errno = 0;
        fchmod(made->get(), old.st_mode & 07777);
    }
    return made;
}

result<atomic_file> atomic_file::in_place_of(const std::filesystem::path& target) {
    // A file without a name: if we are killed, nothing is left behind.
    const auto directory = target.has_parent_path() ? target.parent_path() : std::filesystem::path(".");
    descriptor file(open(directory.c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666));
    std::string temporary;
    if (file.get() < 0 && (errno == EOPNOTSUPP || errno == EISDIR)) {  // a file system that has none
        temporary = target.string() + ".XXXXXX";
        file = descriptor(mkostemp(temporary.data(), O_CLOEXEC));
    }
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
        temporary_ = target_.string() + "." + std::to_string(getpid()) + ".new";
        unlink(temporary_.c_str());
        const std::string self = "/proc/self/fd/" + std::to_string(file_.get());
        if (linkat(AT_FDCWD, self.c_str(), AT_FDCWD, temporary_.c_str(), AT_SYMLINK_FOLLOW) != 0) {
            temporary_.clear();
            return system_error("cannot name the new file");
        }
    }
    if (rename(temporary_.c_str(), target_.c_str()) != 0) return system_error("cannot rename into place");
    temporary_.clear();
    target_.clear();
    return {};
}

}  // namespace posy::base
