#include "key_tally.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "posy/base/file_lock.hpp"
#include "posy/bytes.hpp"
#include "posy/digest.hpp"

namespace posy::node {
namespace {

constexpr std::string_view magic = "POSYKEYS";
constexpr std::size_t size = 72, checked = size - 8;

std::uint64_t checksum(byte_view bytes) { return hasher()(bytes.first(checked)).low; }

}  // namespace

void key_tally::add(std::string_view key) {
    const digest d = hasher()(key);
    keys += 1, low += d.low, high += d.high;
}

void key_tally::remove(std::string_view key) {
    const digest d = hasher()(key);
    keys -= 1, low -= d.low, high -= d.high;
}

std::string tally_file::path_in(const std::string& folder) { return folder + "/KEYS"; }

result<tally_file> tally_file::open(const std::string& folder) {
    base::descriptor file(::open(path_in(folder).c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666));
    if (file.get() < 0) return base::system_error("cannot open its file KEYS");
    if (flock(file.get(), LOCK_EX | LOCK_NB) != 0) {
        if (errno == EWOULDBLOCK) return base::used_by(base::flock_holder(file.get()));
        return base::system_error("cannot lock its file KEYS");
    }
    return tally_file(std::move(file));
}

result<tally_file::content> tally_file::read() const {
    std::array<std::byte, size + 1> bytes;
    const auto got = base::read_fully(file_.get(), bytes, 0);
    if (!got) return got.error();
    if (*got == 0) return content{};
    const byte_view all(bytes.data(), size);
    std::array<std::uint64_t, size / 8> words;
    for (std::size_t i = 0; i < words.size(); ++i)
        words[i] = load_little<std::uint64_t>(bytes.data() + 8 * i);
    const bool right = *got == size && std::ranges::equal(all.first(magic.size()), as_byte_view(magic)) &&
                       (words[1] == content::being_made || words[1] == content::in_use) &&
                       words[8] == checksum(all);
    if (!right) return error::damaged("its file KEYS is damaged");
    return content{static_cast<content::state>(words[1]),
                   {.keys = words[2], .low = words[3], .high = words[4]},
                   {.keys = words[5], .low = words[6], .high = words[7]}};
}

// One write of less than a page into the page cache: a process that is killed has done it or has not.
result<void> tally_file::write(const content& what, bool sync) {
    std::array<std::byte, size> bytes;
    std::ranges::copy(as_byte_view(magic), bytes.begin());
    const auto& [is, before, after] = what;
    const std::array<std::uint64_t, 7> words{is,         before.keys, before.low, before.high,
                                             after.keys, after.low,   after.high};
    for (std::size_t i = 0; i < words.size(); ++i) store_little(bytes.data() + 8 * (i + 1), words[i]);
    store_little(bytes.data() + checked, checksum(bytes));
    const ssize_t put = pwrite(file_.get(), bytes.data(), bytes.size(), 0);
    if (put != static_cast<ssize_t>(size)) return base::system_error("cannot write its file KEYS");
    if (sync && fdatasync(file_.get()) != 0) return base::system_error("cannot write its file KEYS");
    return {};
}

}  // namespace posy::node
