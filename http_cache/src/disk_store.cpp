#include "posy/http_cache/disk_store.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "disk_index.hpp"
#include "posy/base/file.hpp"
#include "posy/base/file_lock.hpp"
#include "posy/base/folder.hpp"
#include "posy/http_cache/stored_bytes.hpp"
#include "posy/secret_hash.hpp"

namespace posy::http_cache {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view hex_digits = "0123456789abcdef";
constexpr std::size_t name_length = 32;
constexpr std::size_t key_size = 16;
// How often a write to a full file system is tried again, each time after giving back twice as much.
constexpr int rounds_for_space = 4;

void append_hex(std::string& to, std::uint64_t value) {
    for (int shift = 60; shift >= 0; shift -= 4) to += hex_digits[value >> shift & 15];
}

std::string file_name(const label& of, const hasher& names) {
    const digest name = name_of(of, names);
    std::string text;
    append_hex(text, name.high);
    append_hex(text, name.low);
    return text;
}

bool is_hex(std::string_view text) { return text.find_first_not_of(hex_digits) == std::string_view::npos; }

// The name of a stored file, or of one that a kill left unfinished: nothing else is ever removed.
bool is_ours(std::string_view file, std::string_view folder) {
    if (file.size() < name_length || !is_hex(file.substr(0, name_length)) || !file.starts_with(folder))
        return false;
    file.remove_prefix(name_length);
    return file.empty() || file.starts_with(".posy-tmp");
}

// What cannot be read has nothing in it.
template <class Visit>
void for_each_in(const fs::path& directory, const Visit& visit) {
    std::error_code wrong;
    for (fs::directory_iterator at(directory, wrong); at != fs::directory_iterator(); at.increment(wrong)) {
        visit(*at);
    }
}

using bytes = std::vector<std::byte>;

// So many bytes from the start, or nothing.
std::optional<bytes> first_bytes(int file, std::uint64_t count) {
    bytes read(count);
    const auto got = base::read_fully(file, read, 0);
    if (!got || *got != count) return std::nullopt;
    return read;
}

// Prefix and head of a file whose length is what they say.
struct file_start {
    bytes head;
    stored_sizes sizes;
};
std::optional<file_start> start_of(int file) {
    const auto size = base::regular_size(file);
    if (!size || *size < stored_prefix_size) return std::nullopt;
    const auto prefix = first_bytes(file, stored_prefix_size);
    const auto sizes = prefix ? parse_sizes(*prefix) : error::input_output("cannot read");
    if (!sizes || sizes->total() != *size) return std::nullopt;
    auto head = first_bytes(file, stored_prefix_size + sizes->head);
    if (!head) return std::nullopt;
    return file_start{std::move(*head), *sizes};
}

// The label of a file whose head is whole and whose length is what the head says.
std::optional<label> label_in(const fs::path& path, const hasher& names) {
    const auto file = base::open_regular(path);
    if (!file) return std::nullopt;
    const auto start = start_of(file->get());
    if (!start) return std::nullopt;
    auto found = parse_label(start->head);
    if (!found || file_name(*found, names) != path.filename()) return std::nullopt;
    return std::move(*found);
}

// Nothing is wrong with a file that cannot be opened for want of a descriptor.
bool out_of_descriptors(int reason) { return reason == EMFILE || reason == ENFILE; }

struct reading {
    stored found;
    bool no_room = false;  // nothing is wrong with the file
    bool no_descriptor = false;
    bool gone = false;  // evicted meanwhile, or taken away by someone else
};

reading response_in(const fs::path& path, const label& expected, const std::shared_ptr<room>& within) {
    errno = 0;  // it stays that for what is no regular file
    const auto file = base::open_regular(path);
    if (!file && out_of_descriptors(errno)) return {.no_descriptor = true};
    if (!file && errno == ENOENT) return {.gone = true};
    const auto start = file ? start_of(file->get()) : std::nullopt;
    if (!start) return {};
    const auto& [head, sizes] = *start;
    // What is stored beside the body is about the head twice, and the rest.
    incoming_body body(within ? within : std::make_shared<room>(~std::uint64_t{0}), sizes.body, sizes.body,
                       2 * sizes.head + stored_overhead);
    if (!body.open()) return {.no_room = true};
    auto& text = body.text();
    text.resize(sizes.body);
    const auto got = base::read_fully(file->get(), std::as_writable_bytes(std::span(text)), head.size());
    if (!got || *got != sizes.body) return {};
    const auto found = parse_stored(head, body.take());
    const bool right = found && (*found)->url == expected.url && (*found)->variant == expected.variant;
    return {right ? *found : nullptr};
}

// The lock of the directory, held until the descriptor is closed: by the system, however the process ends.
result<base::descriptor> claim(const fs::path& directory) {
    base::descriptor file(
        ::open((directory / "lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600));
    if (file.get() < 0) return base::system_error("cannot open its file 'lock'");
    if (::flock(file.get(), LOCK_EX | LOCK_NB) == 0) return file;
    if (errno == EWOULDBLOCK) return base::used_by(base::flock_holder(file.get()));
    return base::system_error("cannot lock it");
}

bool has_key(const fs::path& directory) {
    std::error_code missing;
    return fs::symlink_status(directory / "key", missing).type() != fs::file_type::not_found;
}

// Without a key it may be anyone's folder: only one with nothing in it becomes a cache. What a start that was
// killed before it had written the key left behind is nothing, and so is what a file system has in its root.
result<void> check_ours(const fs::path& directory) {
    std::string stranger;
    if (has_key(directory)) return {};
    for_each_in(directory, [&](const fs::directory_entry& each) {
        const auto name = each.path().filename().string();
        if (name != "lock" && name != "lost+found" && !name.starts_with("key.posy-tmp")) stranger = name;
    });
    if (stranger.empty()) return {};
    return error::invalid("has '" + stranger +
                          "' in it and no 'key', so it is not a folder of the cache; name an empty one");
}

result<hasher> read_key(const fs::path& path) {
    const auto file = base::open_regular(path);
    if (!file) return file.error().behind("its file 'key' cannot be read");
    const auto key =
        base::regular_size(file->get()) == key_size ? first_bytes(file->get(), key_size) : std::nullopt;
    if (!key)
        return error::damaged(
            "its file 'key' does not have the 16 bytes of a key; empty the folder to start anew");
    return hasher(hash_family::siphash,
                  {load_little<std::uint64_t>(key->data()), load_little<std::uint64_t>(key->data() + 8)});
}

// The key of the directory, made when there is none.
result<hasher> names_in(const fs::path& directory) {
    const fs::path path = directory / "key";
    if (has_key(directory)) return read_key(path);
    const auto made = hash::random_seed();
    if (!made) return made.error();
    std::array<std::byte, key_size> key;
    store_little(key.data(), made->low);
    store_little(key.data() + 8, made->high);
    auto file = base::atomic_file::in_place_of(path);
    if (file) ::fchmod(file->get(), S_IRUSR | S_IWUSR);
    auto written = file ? base::write_fully(file->get(), key) : file.error();
    if (written) written = file->commit();
    if (!written) return written.error().behind("cannot write its file 'key'");
    return hasher(hash_family::siphash, *made);
}

}  // namespace

disk_store::disk_store(const disk_options& options, const hasher& names, std::unique_ptr<index> empty)
    : how_(options), names_(names), index_(std::move(empty)) {}

disk_store::~disk_store() = default;

std::uint64_t disk_store::largest() const {
    const auto most = index_->files.largest();
    return how_.largest == 0 ? most : std::min(most, how_.largest);
}

filed disk_store::measured(label of, std::uint64_t bytes) const {
    filed file(std::move(of));
    file.bytes = bytes;
    file.entry = index_overhead + 3 * file.url.size() + file.variant.key.size();
    for (const auto& name : file.variant.names) file.entry += sizeof(std::string) + name.size();
    const std::uint64_t share = how_.index_bytes == 0 ? 0 : how_.bytes / how_.index_bytes + 1;
    file.size = std::max(bytes, file.entry * share);
    return file;
}

fs::path disk_store::path_of(const label& of) const {
    const auto name = file_name(of, names_);
    return how_.directory / name.substr(0, 2) / name;
}

// With the lock held: for files that leave the index.
auto disk_store::dropping() {
    return [this](const filed& file) {
        index_->gone(file);
        (void)remove_file(file);
    };
}

// The bytes that this gave back to the file system, about.
std::uint64_t disk_store::remove_file(const label& of) const {
    const auto path = path_of(of);
    struct stat was {};
    const bool known = ::lstat(path.c_str(), &was) == 0;
    if (::unlink(path.c_str()) != 0 || !known) return 0;
    return static_cast<std::uint64_t>(std::max<std::int64_t>(was.st_size, was.st_blocks * 512));
}

result<std::unique_ptr<disk_store>> disk_store::open(const disk_options& options, observer* watching) {
    std::error_code wrong;
    fs::create_directories(options.directory, wrong);
    const auto name = options.directory.string();
    if (wrong)
        return error::input_output(name + ": cannot make this folder for the cache: " + wrong.message());
    if (auto checked = check_ours(options.directory); !checked)  // before anything is made in it
        return checked.error().behind(name);
    auto ours = claim(options.directory);
    if (!ours) return ours.error().behind(name);
    const auto names = names_in(options.directory);
    if (!names) return names.error().behind(name);
    auto empty = std::make_unique<index>(options.bytes, std::move(*ours), watching);
    std::unique_ptr<disk_store> opened(new disk_store(options, *names, std::move(empty)));
    opened->scan();
    return opened;
}

result<void> disk_store::check(const disk_options& options) {
    if (auto checked = check_ours(options.directory); !checked)
        return checked.error().behind(options.directory.string());
    return base::check_folder(options.directory);
}

// Before anyone else has the store: no lock.
void disk_store::scan() {
    std::vector<filed> found;
    for_each_in(how_.directory, [&](const fs::directory_entry& folder) {
        const auto digits = folder.path().filename().string();
        // A link leads to files of someone else, whatever they are called.
        if (digits.size() != 2 || !is_hex(digits) || folder.is_symlink()) return;
        for_each_in(folder.path(), [&](const fs::directory_entry& file) {
            std::error_code wrong;
            const auto name = file.path().filename().string();
            if (!is_ours(name, digits)) return;
            auto label = name.size() == name_length ? label_in(file.path(), names_) : std::nullopt;
            if (label && label->size <= largest()) {
                const std::uint64_t bytes = label->size;
                found.push_back(measured(std::move(*label), bytes));
            } else {  // damaged, left over from a kill, or put there by someone: a folder stays
                if (!label && name.size() == name_length) index_->tell_of_damage(file.path());
                fs::remove(file.path(), wrong);
            }
        });
    });
    std::ranges::sort(found, {}, [](const filed& l) { return std::tie(l.received, l.url, l.variant.key); });
    for (auto& label : found) {
        const auto item = std::make_shared<const filed>(std::move(label));
        if (!index_->files.fits(item->size) || !index_->put(item, dropping())) (void)remove_file(*item);
    }
}

stored disk_store::find(std::string_view url, const request_head& request,
                        const std::shared_ptr<room>& within) {
    std::unique_lock guard(index_->lock);
    const auto item = index_->files.find(hash::digested(url), request.fields);
    guard.unlock();
    if (!item) return nullptr;
    const auto read = response_in(path_of(*item), *item, within);
    if (read.found || read.no_room) return read.found;
    guard.lock();
    if (read.no_descriptor) {
        ++index_->unread;
        return nullptr;
    }
    // Damaged, or taken away by someone else meanwhile, and then the index knows already.
    if (!read.gone) index_->tell_of_damage(path_of(*item));
    index_->files.erase(item, dropping());
    return nullptr;
}

bool disk_store::has(std::string_view url) const {
    const std::lock_guard guard(index_->lock);
    return index_->files.has(url);
}

// With errno, when that is what failed.
result<base::atomic_file> disk_store::write(const stored_response& response, std::string_view head) const {
    const auto path = path_of(response);
    std::error_code wrong;
    fs::create_directory(path.parent_path(), wrong);
    if (errno = wrong.value(); wrong) return base::system_error("cannot make a folder");
    if (fs::is_symlink(path.parent_path(), wrong)) return error::input_output("its folder is a link");
    auto file = base::atomic_file::in_place_of(path);
    if (!file) return file;
    for (const std::string_view part : {head, std::string_view(*response.body)}) {
        if (auto done = base::write_fully(file->get(), as_byte_view(part)); !done) return done.error();
    }
    return file;
}

// With the lock held. False: there is nothing left to evict.
bool disk_store::give_back(std::uint64_t bytes) {
    std::uint64_t given = 0;
    const auto drop = [&](const filed& file) {
        index_->gone(file);
        given += remove_file(file);
    };
    while (given < bytes) {
        if (!index_->files.evict_one(drop)) return false;
        ++index_->for_space;
    }
    return true;
}

result<bool> disk_store::put(const stored_response& response) {
    const auto head = head_bytes(response);
    const std::uint64_t size = head.size() + response.body->size();
    auto item = std::make_shared<const filed>(measured(response, size));
    const bool right = head.size() <= stored_prefix_size + most_stored_head && size <= largest() &&
                       index_->files.fits(item->size);
    for (int round = 0;; ++round) {
        errno = 0;
        auto file = right ? write(response, head) : error::too_large("too large");
        const std::lock_guard guard(index_->lock);
        auto placed = file ? file->commit(base::durability::kill) : file.error();
        const int reason = errno;
        if (placed) return index_->put(std::move(item), dropping());
        index_->files.erase_variant(response, dropping());
        if (!right) return false;
        const bool full = reason == ENOSPC || reason == EDQUOT;
        if (full && round < rounds_for_space && give_back(size << round)) continue;
        ++index_->unwritten;
        return placed.error();
    }
}

bool disk_store::erase(std::string_view url) {
    const std::lock_guard guard(index_->lock);
    return index_->files.erase(url, dropping());
}

void disk_store::erase_variant(const label& of) {
    const std::lock_guard guard(index_->lock);
    index_->files.erase_variant(of, dropping());
}

moment disk_store::answered(const label& of) const {
    const std::lock_guard guard(index_->lock);
    const auto same = index_->files.same(of);
    return same ? same->answered : 0;
}

void disk_store::for_each_url(const std::function<void(std::string_view)>& visit) const {
    const std::lock_guard guard(index_->lock);
    index_->files.for_each_url(visit);
}

store_counts disk_store::counts() const {
    const std::lock_guard guard(index_->lock);
    auto counts = index_->files.counts();
    counts.bytes = index_->bytes;
    counts.entries = index_->entries;
    counts.for_space = index_->for_space;
    counts.unwritten = index_->unwritten;
    counts.unread = index_->unread;
    return counts;
}

}  // namespace posy::http_cache
