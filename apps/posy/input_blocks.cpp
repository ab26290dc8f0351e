// The input cut into blocks of whole records, and the threads that work on them.
#include <fmt/core.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <deque>
#include <exception>
#include <memory>
#include <mutex>
#include <thread>

#include "input_stream.hpp"
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

// A quoted field may not be longer: more likely a quote is missing, and the rest of the file is in one field.
constexpr std::size_t longest_quoted = 16 << 20;

std::string_view text_of(byte_view bytes) {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// Looks at the first records of a file before anybody reads them.
class first_look {
  public:
    first_look(const key_options& options, input_file& file, bool warns)
        : o_(options), file_(file), warns_(warns) {}

    // Takes what is no record off the front of the first text.
    void operator()(std::string_view& text) const {
        refuse_posy(text);
        if (!o_.null) refuse_other_forms(file_.name, text);  // what ends with NUL may be any bytes
        take_mark(text);
        notice_commas(text);
        notice_carriage_returns(text);
        if (o_.has_header()) file_.header = file_.format.fields(file_.format.take_record(text));
    }

  private:
    void refuse_posy(std::string_view text) const {
        if (is_posy(text))
            throw failure(file_.name +
                          ": this is a posy file, not a list of keys; 'posy info' shows what it holds");
    }
    void take_mark(std::string_view& text) const {
        constexpr std::string_view mark = "\xef\xbb\xbf";
        if (!text.starts_with(mark)) return;
        if (o_.trim || o_.lines_of_text || file_.format.quotes || !o_.json_path.empty())
            return text.remove_prefix(mark.size());
        warn("begins with a byte-order mark, which is part of the first key; --trim removes it");
    }
    void notice_carriage_returns(std::string_view text) const {
        if (o_.words || !o_.json_path.empty() || o_.null) return;
        const bool one_record = text.find(file_.format.end) == std::string_view::npos;
        // Rows of CSV end with CR and LF, too, by right.
        if (file_.format.quotes ? !one_record || text.find('\r') + 1 >= text.size()
                                : o_.trim || !file_.format.take_record(text).ends_with('\r'))
            return;
        warn(one_record
                 ? "has lines that end with CR alone, and is read as one line; pipe it through tr '\\r' '\\n'"
                 : "has lines that end with CR and LF, and the CR is part of the key; --trim removes it");
    }
    // A name of a column that is not found gets a hint of its own.
    void notice_commas(std::string_view text) const {
        const record_format& format = file_.format;
        if (o_.field.empty() || o_.has_header() || !o_.delimiter.empty() || format.delimiter != '\t') return;
        if (format.looks_like_csv(format.take_record(text)))
            warn("has no tab in its first line, but commas; if it is CSV, give --csv");
    }
    void warn(const char* what) const {
        if (warns_) fmt::print(stderr, "posy: warning: {} {}\n", file_.name, what);
    }

    const key_options& o_;
    input_file& file_;
    bool warns_;
};

// Hands out the blocks of all files, one after the other. next() is called under a lock.
class block_source {
  public:
    // What will be read once more is warned of then.
    explicit block_source(const key_options& options, bool warns = true)
        : o_(options),
          warns_(warns),
          paths_(options.files.empty() ? std::vector<std::string>{"-"} : options.files) {
        for (const std::string& path : paths_)
            files_.push_back({display_name(path), options.format_of(path), {}});
    }

    std::optional<held_block> next() {
        for (; index_ < files_.size(); close()) {
            if (stopped()) return std::nullopt;
            if (!open_) open(paths_[index_]);
            while (auto piece = map_ ? next_mapped() : next_read()) {
                if (piece->piece.offset == 0) {
                    files_[index_].at_hand = map_ ? map_->bytes().size() : offset_;
                    first_look(o_, files_[index_], warns_)(piece->piece.text);
                }
                if (!piece->piece.text.empty()) return number(std::move(*piece));
            }
        }
        return std::nullopt;
    }
    // When nobody works on its blocks any more.
    void tell_skipped() const {
        for (const input_file& file : files_)
            if (file.skipped != 0)
                fmt::print(stderr, "posy: {}: skipped {} {} without what was asked for\n", file.name,
                           file.skipped, file.skipped == 1 ? "record" : "records");
    }

  private:
    void open(const std::string& path) {
        file_ =
            path == "-" ? base::descriptor(dup(STDIN_FILENO)) : take(base::open_for_reading(path), name());
        const auto size = base::regular_size(file_.get());
        if (size && base::position(file_.get()) == std::uint64_t{0}) {
            map_ = std::make_shared<base::mapping>(take(base::mapping::of(file_.get(), 0, *size), name()));
            if (compression_of(map_->bytes()) != compression::none) map_.reset();
        }
        open_ = true;
        offset_ = lines_ = 0;
    }
    void close() {
        map_.reset();
        stream_.reset();
        carry_.clear();
        open_ = ended_ = false;
        ++index_;
    }
    bool stopped() const {
        pollfd told{o_.stop, POLLIN, 0};  // poll ignores a negative descriptor
        return poll(&told, 1, 0) > 0;
    }
    // Until there is something to read; false if the input ends before.
    bool wait() const {
        if (o_.stop < 0 || (stream_ && stream_->has_more())) return true;
        std::array<pollfd, 2> either{
            {{stream_ ? stream_->descriptor() : file_.get(), POLLIN, 0}, {o_.stop, POLLIN, 0}}};
        while (poll(either.data(), either.size(), -1) < 0 && errno == EINTR) continue;
        return either[1].revents == 0;
    }
    const std::string& name() const { return files_[index_].name; }
    const record_format& format() const { return files_[index_].format; }

    held_block piece(std::string_view text, std::shared_ptr<const void> keep) {
        held_block b{{text, 0, &files_[index_], offset_}, std::move(keep)};
        offset_ += text.size();
        return b;
    }
    held_block number(held_block b) {
        b.piece.offset = offset_ - b.piece.text.size();  // without what the first look took off
        b.piece.sequence = sequence_++;
        return b;
    }
    // The record that begins here in the text is too long, or has no end.
    [[noreturn]] void fail_in_row(std::string_view text, std::size_t record) const {
        const std::size_t quote = format().open_quote(text.substr(record));
        const std::size_t at = record + (quote == std::string_view::npos ? 0 : quote);
        const std::string_view before =
            map_ ? text_of(map_->bytes().first(offset_ + at)) : text.substr(0, at);
        const auto line = lines_ + static_cast<std::uint64_t>(std::ranges::count(before, '\n')) + 1;
        throw failure(fmt::format(
            "{}: at byte {}, line {}: {}", name(), offset_ + at, line,
            quote == std::string_view::npos
                ? "a row of more than 16 MiB; does it end with a newline?"
                : std::string("a field begins with a quote and does not end, or not within 16 MiB") +
                      (format().delimiter == '\t' ? "; if quotes are text here, say --delimiter '\\t'"
                                                  : "")));
    }

    std::optional<held_block> next_mapped() {
        const std::string_view rest = text_of(map_->bytes().subspan(offset_));
        if (rest.empty()) return std::nullopt;
        constexpr auto npos = std::string_view::npos;
        const std::size_t least = std::min(block_size, rest.size());
        std::size_t end = 0;
        if (format().quotes) {
            end = format().last_end(rest.substr(0, least));
            if (end == 0) end = end_of_long_row(rest.substr(0, least + longest_quoted));
        } else {
            end = rest.find(format().end, least - 1);
            if (end != npos) ++end;
        }
        return piece(rest.substr(0, end), map_);
    }

    // Of a mapped row that is no shorter than a block, or the last. No more is looked at than may be long.
    std::size_t end_of_long_row(std::string_view text) const {
        const std::size_t end = format().end_of(text, 0);
        const bool is_last = offset_ + text.size() == map_->bytes().size();
        if (end == std::string_view::npos &&
            (!is_last || format().open_quote(text) != std::string_view::npos))
            fail_in_row(text, 0);
        return end;
    }

    // Where the records end that have come whole, of which `before` bytes had none.
    std::size_t whole_records(std::string_view text, std::size_t before) const {
        if (format().quotes) {
            const std::size_t end = format().last_end(text);
            if (text.size() - end > longest_quoted) fail_in_row(text, end);
            return end;
        }
        const std::size_t last = text.substr(before).rfind(format().end);
        return last == std::string_view::npos ? 0 : before + last + 1;
    }
    // The records that have come so far: the next ones may be long in coming.
    std::optional<held_block> next_read() {
        auto text = std::make_shared<std::vector<char>>(std::move(carry_));
        carry_.clear();
        std::size_t filled = text->size();  // the rest is room
        while (!ended_) {
            if (!wait()) return std::nullopt;  // a record that has not come whole does not count
            if (!stream_) stream_.emplace(std::move(file_), name());
            // The room doubles for a record that does not fit, so that it is copied only a few times, however
            // small the pieces in which it comes.
            if (text->size() - filled < block_size) text->resize(std::max(2 * filled, filled + block_size));
            const std::size_t got = stream_->read(std::span(*text).subspan(filled));
            ended_ = got == 0;  // the last record may lack its end mark
            const std::size_t end = whole_records({text->data(), filled + got}, filled);
            filled += got;
            if (end != 0) {
                carry_.assign(text->begin() + static_cast<std::ptrdiff_t>(end),
                              text->begin() + static_cast<std::ptrdiff_t>(filled));
                filled = end;
                break;
            }
        }
        text->resize(filled);
        if (text->empty()) return std::nullopt;
        const std::string_view records(text->data(), text->size());
        if (ended_ && carry_.empty()) check_last(records);
        if (format().quotes) lines_ += static_cast<std::uint64_t>(std::ranges::count(records, '\n'));
        return piece(records, text);
    }
    void check_last(std::string_view text) const {
        const std::size_t last = format().last_end(text);
        if (format().open_quote(text.substr(last)) != std::string_view::npos) fail_in_row(text, last);
    }

    const key_options& o_;
    bool warns_;
    std::vector<std::string> paths_;
    std::deque<input_file> files_;  // blocks point into it
    std::size_t index_ = 0;
    bool open_ = false, ended_ = false;
    base::descriptor file_;
    std::shared_ptr<base::mapping> map_;
    std::optional<input_stream> stream_;
    std::vector<char> carry_;
    std::uint64_t offset_ = 0;
    std::uint64_t lines_ = 0;  // before the offset, in a stream of quoted rows
    std::uint64_t sequence_ = 0;
};

// Can this input be read twice, and how large is it? Asked without opening: a named pipe opens only once.
struct input_size {
    bool again = true;
    std::optional<std::uint64_t> bytes = 0;
};
// Of a file that is a regular one.
bool compressed(const std::string& path) {
    if (path == "-") return false;
    const auto file = base::open_for_reading(path);
    std::array<std::byte, 4> first;
    const auto got = file ? base::read_fully(file->get(), first) : result<std::size_t>(0);
    return got && compression_of(byte_view(first).first(*got)) != compression::none;
}

input_size size_of(const key_options& options) {
    input_size all;
    for (const std::string& path : options.files.empty() ? std::vector<std::string>{"-"} : options.files) {
        struct stat status {};
        if ((path == "-" ? fstat(STDIN_FILENO, &status) : stat(path.c_str(), &status)) != 0) {
            const bool like_a_key = errno == ENOENT && path.find_first_of("./") == std::string::npos;
            throw failure(
                display_name(path) + ": " + base::system_error("cannot open").message +
                (like_a_key ? "; keys come from files: if this is a key, write it to standard input" : ""));
        }
        const bool from_start =
            path != "-" || (base::position(STDIN_FILENO) == std::uint64_t{0} && status.st_size > 0);
        all.again = all.again && S_ISREG(status.st_mode) && from_start;
        if (!S_ISREG(status.st_mode) || compressed(path)) all.bytes = std::nullopt;
        if (all.bytes) *all.bytes += static_cast<std::uint64_t>(status.st_size);
    }
    if (all.bytes == std::uint64_t{0}) all.bytes = std::nullopt;
    return all;
}

void work_on(block_source& source, const key_options& options, const std::string& title,
             const std::function<void(const block&)>& work) {
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
                    next = source.next();
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

}  // namespace

void for_each_block(const key_options& options, const std::string& title,
                    const std::function<void(const block&)>& work) {
    block_source source(options);
    work_on(source, options, title, work);
    source.tell_skipped();
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
    const bool plain = !options.words && !options.skip_missing;  // as many keys as records
    std::atomic<std::uint64_t> total = 0;
    block_source source(options, false);
    work_on(source, options, "counting", [&](const block& piece) {
        std::uint64_t keys = 0;
        if (plain && !piece.file->format.quotes) {
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
