#include "file.hpp"

#include <fcntl.h>
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
    if (fstat(file, &status) != 0 || !S_ISREG(status.st_mode)) return std::nullopt;
    return static_cast<std::uint64_t>(status.st_size);
}

result<atomic_file> atomic_file::create(const std::filesystem::path& target) {
    struct stat status {};
    if (stat(target.c_str(), &status) == 0 && !S_ISREG(status.st_mode)) {
        descriptor file(open(target.c_str(), O_WRONLY | O_CLOEXEC));
        if (file.get() < 0) return system_error("cannot open for writing");
        return atomic_file(std::move(file), {}, target);
    }
    std::string name = target.string() + ".XXXXXX";
    descriptor file(mkostemp(name.data(), O_CLOEXEC));
    if (file.get() < 0) return system_error("cannot create");
    // mkostemp makes it private; a new file gets what the umask allows, a replaced one keeps its mode.
    const mode_t mask = umask(0);
    umask(mask);
    fchmod(file.get(), status.st_mode != 0 ? status.st_mode & 07777 : 0666 & ~mask);
    return atomic_file(std::move(file), name, target);
}

atomic_file::atomic_file(descriptor file, std::filesystem::path temporary, std::filesystem::path target)
    : file_(std::move(file)), temporary_(std::move(temporary)), target_(std::move(target)) {}

atomic_file::atomic_file(atomic_file&& other) noexcept
    : file_(std::move(other.file_)),
      temporary_(std::exchange(other.temporary_, {})),
      target_(std::move(other.target_)) {}

atomic_file::~atomic_file() {
    if (!temporary_.empty()) unlink(temporary_.c_str());
}

result<void> atomic_file::commit() {
    if (temporary_.empty()) return {};
    if (fsync(file_.get()) != 0) return system_error("cannot write");
    if (rename(temporary_.c_str(), target_.c_str()) != 0) return system_error("cannot rename into place");
    temporary_.clear();
    return {};
}

}  // namespace posy::base
