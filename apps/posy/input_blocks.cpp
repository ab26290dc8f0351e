// The input cut into blocks of whole records, and the threads that work on them.
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <exception>
#include <memory>
#include <mutex>
#include <thread>

#include "keys.hpp"
#include "posy/base/file.hpp"
#include "posy/parallel.hpp"
#include "progress.hpp"
#include "tool.hpp"

namespace posy::tool {
namespace {

constexpr std::size_t block_size = 1 << 20;

// A block and whatever keeps its text alive.
struct held_block {
    block piece;
    std::shared_ptr<const void> keep;
};

// Hands out the blocks of all files, one after the other. next() is called under a lock.
class block_source {
  public:
    explicit block_source(const key_options& options)
        : end_(options.record_end()),
          stop_(options.stop),
          files_(options.files.empty() ? std::vector<std::string>{"-"} : options.files) {
        for (std::string& name : files_) name = display_name(name);
    }

    std::optional<held_block> next(const key_options& options) {
        for (; index_ < files_.size(); close()) {
            if (stopped()) return std::nullopt;
            if (!open_) open(options.files.empty() ? "-" : options.files[index_]);
            if (auto piece = map_ ? next_mapped() : next_read()) return piece;
        }
        return std::nullopt;
    }

  private:
    void open(const std::string& path) {
        file_ = path == "-" ? base::descriptor(dup(STDIN_FILENO))
                            : take(base::open_for_reading(path), files_[index_]);
        const auto size = base::regular_size(file_.get());
        if (size && base::position(file_.get()) == std::uint64_t{0})
            map_ = std::make_shared<base::mapping>(
                take(base::mapping::of(file_.get(), 0, *size), files_[index_]));
        open_ = true;
        offset_ = 0;
    }
    void close() {
        map_.reset();
        carry_.clear();
        open_ = ended_ = false;
        ++index_;
    }
    bool stopped() const {
        pollfd told{stop_, POLLIN, 0};  // poll ignores a negative descriptor
        return poll(&told, 1, 0) > 0;
    }
    // Until there is something to read; false if the input ends before.
    bool wait() const {
        std::array<pollfd, 2> either{{{file_.get(), POLLIN, 0}, {stop_, POLLIN, 0}}};
        while (poll(either.data(), either.size(), -1) < 0 && errno == EINTR) continue;
        return either[1].revents == 0;
    }
    block piece(std::string_view text) {
        const block b{text, sequence_++, &files_[index_], offset_};
        offset_ += text.size();
        return b;
    }
    std::optional<held_block> next_mapped() {
        const auto bytes = map_->bytes().subspan(offset_);
        const std::string_view rest(reinterpret_cast<const char*>(bytes.data()), bytes.size());
        if (rest.empty()) return std::nullopt;
        const std::size_t end = rest.find(end_, std::min(block_size, rest.size() - 1));
        return held_block{piece(rest.substr(0, end == std::string_view::npos ? end : end + 1)), map_};
    }
    // The records that have come so far: the next ones may be long in coming.
    std::optional<held_block> next_read() {
        auto text = std::make_shared<std::string>(std::move(carry_));
        carry_.clear();
        std::size_t filled = text->size();  // the rest is room
        while (!ended_) {
            if (stop_ >= 0 && !wait())
                return std::nullopt;  // a record that has not come whole does not count
            // The room doubles for a record that does not fit, so that it is copied only a few times, however
            // small the pieces in which it comes.
            if (text->size() - filled < block_size) text->resize(std::max(2 * filled, filled + block_size));
            const std::span room = std::span(*text).subspan(filled);
            const auto got =
                take(base::read_waiting(file_.get(), std::as_writable_bytes(room)), files_[index_]);
            ended_ = got == 0;  // the last record may lack its end mark
            const std::size_t last = std::string_view(room.data(), got).rfind(end_);
            filled += got;
            if (last != std::string_view::npos) {
                const std::size_t end = filled - got + last + 1;
                carry_ = text->substr(end, filled - end);
                filled = end;
                break;
            }
        }
        text->resize(filled);
        if (text->empty()) return std::nullopt;
        return held_block{piece(*text), text};
    }

    char end_;
    int stop_;
    std::vector<std::string> files_;  // display names; blocks point into it
    std::size_t index_ = 0;
    bool open_ = false, ended_ = false;
    base::descriptor file_;
    std::shared_ptr<base::mapping> map_;
    std::string carry_;
    std::uint64_t offset_ = 0;
    std::uint64_t sequence_ = 0;
};

// Can this input be read twice, and how large is it? Asked without opening: a named pipe opens only once.
struct input_size {
    bool again = true;
    std::optional<std::uint64_t> bytes = 0;
};
input_size size_of(const key_options& options) {
    input_size all;
    for (const std::string& path : options.files.empty() ? std::vector<std::string>{"-"} : options.files) {
        struct stat status {};
        if ((path == "-" ? fstat(STDIN_FILENO, &status) : stat(path.c_str(), &status)) != 0) {
            throw failure(display_name(path) + ": " + base::system_error("cannot open").message);
        }
        const bool from_start =
            path != "-" || (base::position(STDIN_FILENO) == std::uint64_t{0} && status.st_size > 0);
        all.again = all.again && S_ISREG(status.st_mode) && from_start;
        if (!S_ISREG(status.st_mode)) all.bytes = std::nullopt;
        if (all.bytes) *all.bytes += static_cast<std::uint64_t>(status.st_size);
    }
    if (all.bytes == std::uint64_t{0}) all.bytes = std::nullopt;
    return all;
}

}  // namespace

void for_each_block(const key_options& options, const std::string& title,
                    const std::function<void(const block&)>& work) {
    block_source source(options);
    progress shown(title, size_of(options).bytes);
    std::mutex taking;
    std::exception_ptr failed;
    const auto worker = [&] {
        try {
            while (true) {
                std::optional<held_block> next;
                {
                    const std::lock_guard lock(taking);
                    if (failed) return;
                    next = source.next(options);
                    if (next) shown.add(next->piece.text.size());
                }
                if (!next) return;
                work(next->piece);
            }
        } catch (...) {
            const std::lock_guard lock(taking);
            if (!failed) failed = std::current_exception();
        }
    };
    std::vector<std::jthread> threads;
    for (unsigned i = 1; i < options.thread_count(); ++i) threads.emplace_back(worker);
    worker();
    threads.clear();
    if (failed) std::rethrow_exception(failed);
}

void for_each_batch(const key_options& options, const hasher& hash, const std::string& title,
                    const std::function<void(std::span<const digest>)>& use) {
    for_each_block(options, title, [&](const block& piece) {
        std::vector<digest> batch;
        for_each_key(options, piece, [&](std::string_view key, std::string_view) {
            batch.push_back(options.hash(hash, key));
        });
        use(batch);
    });
}

void insert_keys(bloom_filter& filter, const key_options& options, const hasher& hash,
                 const std::string& title) {
    if (options.thread_count() == 1) {
        for_each_batch(options, hash, title, [&](std::span<const digest> batch) { filter.insert(batch); });
        return;
    }
    parallel_build build(filter);
    for_each_batch(options, hash, title, [&](std::span<const digest> batch) { build.insert(batch); });
}

bool seekable(const key_options& options) { return size_of(options).again; }

std::uint64_t count_keys(const key_options& options) {
    const bool plain = !options.words && !options.skip_missing;
    std::atomic<std::uint64_t> total = 0;
    for_each_block(options, "counting", [&](const block& piece) {
        std::uint64_t keys = 0;
        if (plain) {
            keys = static_cast<std::uint64_t>(std::ranges::count(piece.text, options.record_end()));
            keys += piece.text.back() != options.record_end();
        } else {
            for_each_key(options, piece, [&](std::string_view, std::string_view) { ++keys; });
        }
        total += keys;
    });
    return total;
}

}  // namespace posy::tool
