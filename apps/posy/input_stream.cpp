#include "input_stream.hpp"

#include <fmt/core.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include <array>
#include <cstring>
#include <variant>
#include <vector>

#include "tool.hpp"

namespace posy::tool {
namespace {

constexpr std::size_t room = 1 << 17;

// Undoes gzip; several members in a row are one text, as in gzip itself.
class gunzip {
  public:
    gunzip() {
        constexpr int only_gzip = 16 + MAX_WBITS;
        if (inflateInit2(&stream_, only_gzip) != Z_OK) throw failure("no memory to read gzip");
    }
    ~gunzip() { inflateEnd(&stream_); }
    gunzip(const gunzip&) = delete;

    // How much was written; takes what was used off `from`. Throws the reason if it cannot go on.
    std::size_t operator()(byte_view& from, std::span<char> into) {
        if (ended_ && !from.empty()) {
            inflateReset(&stream_);
            ended_ = false;
        }
        // zlib takes the bytes that it only reads as mutable ones.
        stream_.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(from.data()));
        stream_.avail_in = static_cast<uInt>(from.size());
        stream_.next_out = reinterpret_cast<Bytef*>(into.data());
        stream_.avail_out = static_cast<uInt>(std::min<std::size_t>(into.size(), 1 << 30));
        const std::size_t space = stream_.avail_out;
        const int outcome = inflate(&stream_, Z_NO_FLUSH);
        if (outcome != Z_OK && outcome != Z_STREAM_END && outcome != Z_BUF_ERROR)
            throw std::runtime_error(stream_.msg ? stream_.msg : "it is damaged");
        ended_ = outcome == Z_STREAM_END;
        from = from.last(stream_.avail_in);
        return space - stream_.avail_out;
    }
    bool ended() const { return ended_; }

  private:
    z_stream stream_{};
    bool ended_ = false;
};

// Undoes zstd, any number of frames.
class unzstd {
  public:
    unzstd() {
        if (!stream_) throw failure("no memory to read zstd");
    }

    std::size_t operator()(byte_view& from, std::span<char> into) {
        if (ended_ && from.empty()) return 0;
        ZSTD_inBuffer in{from.data(), from.size(), 0};
        ZSTD_outBuffer out{into.data(), into.size(), 0};
        const std::size_t left = ZSTD_decompressStream(stream_.get(), &out, &in);
        if (ZSTD_isError(left)) throw std::runtime_error(ZSTD_getErrorName(left));
        ended_ = left == 0;
        from = from.subspan(in.pos);
        return out.pos;
    }
    bool ended() const { return ended_; }

  private:
    struct release {
        void operator()(ZSTD_DStream* stream) const { ZSTD_freeDStream(stream); }
    };
    std::unique_ptr<ZSTD_DStream, release> stream_{ZSTD_createDStream()};
    bool ended_ = false;
};

// As it is.
struct copying {
    std::size_t operator()(byte_view& from, std::span<char> into) const {
        const std::size_t size = std::min(from.size(), into.size());
        if (size != 0) std::memcpy(into.data(), from.data(), size);
        from = from.subspan(size);
        return size;
    }
    static bool ended() { return true; }
};

std::string_view name_of(compression how) { return how == compression::gzip ? "gzip" : "zstd"; }

}  // namespace

compression compression_of(byte_view first) {
    const auto starts_with = [&](std::initializer_list<unsigned char> magic) {
        return first.size() >= magic.size() && std::memcmp(first.data(), magic.begin(), magic.size()) == 0;
    };
    if (starts_with({0x1f, 0x8b, 0x08})) return compression::gzip;
    if (starts_with({0x28, 0xb5, 0x2f, 0xfd})) return compression::zstd;
    return compression::none;
}

struct input_stream::state {
    base::descriptor file;
    std::string name;
    compression how = compression::none;
    std::vector<std::byte> buffer = std::vector<std::byte>(room);
    byte_view first, left;  // in the buffer
    std::variant<copying, gunzip, unzstd> undo;

    std::size_t fill(std::size_t from) {
        return take(base::read_waiting(file.get(), std::span(buffer).subspan(from)), name);
    }
};

input_stream::input_stream(base::descriptor file, std::string name) : state_(std::make_unique<state>()) {
    state& s = *state_;
    s.file = std::move(file);
    s.name = std::move(name);
    constexpr std::size_t longest_magic = 4;
    std::size_t size = 0;
    while (size < longest_magic) {
        const std::size_t got = s.fill(size);
        if (got == 0) break;
        size += got;
        // Text does not wait for more of it: a line of two bytes is a line.
        if (compression_of(s.first = byte_view(s.buffer).first(size)) == compression::none &&
            s.buffer[0] != std::byte{0x1f} && s.buffer[0] != std::byte{0x28})
            break;
    }
    s.first = s.left = byte_view(s.buffer).first(size);
    s.how = compression_of(s.first);
    if (s.how == compression::gzip) s.undo.emplace<gunzip>();
    if (s.how == compression::zstd) s.undo.emplace<unzstd>();
}
input_stream::~input_stream() = default;
input_stream::input_stream(input_stream&&) noexcept = default;

int input_stream::descriptor() const { return state_->file.get(); }
compression input_stream::compressed() const { return state_->how; }
byte_view input_stream::first_bytes() const { return state_->first; }
bool input_stream::has_more() const { return !state_->left.empty(); }

std::size_t input_stream::read(std::span<char> into) {
    state& s = *state_;
    return std::visit(
        [&](auto& undo) -> std::size_t {
            while (true) {
                try {
                    if (const std::size_t got = undo(s.left, into)) return got;
                } catch (const std::runtime_error& why) {
                    throw failure(s.name + ": damaged " + std::string(name_of(s.how)) +
                                  " data: " + why.what());
                }
                if (!s.left.empty()) continue;
                const std::size_t got = s.fill(0);
                if (got == 0 && !undo.ended())
                    throw failure(s.name + ": the " + std::string(name_of(s.how)) + " data is cut off");
                if (got == 0) return 0;
                s.left = byte_view(s.buffer).first(got);
            }
        },
        s.undo);
}

bool is_posy(std::string_view first) {
    return first.starts_with("POSY") && first.size() > 4 && static_cast<unsigned char>(first[4]) < 9;
}

void refuse_other_forms(const std::string& name, std::string_view first) {
    using namespace std::string_view_literals;
    struct form {
        std::string_view magic, what, remedy;
    };
    constexpr std::string_view bzip2_block = "1AY&SY";  // behind the level, a digit
    constexpr std::array<form, 8> forms{
        {{"\xfd\x37zXZ\0"sv, "xz data", "pipe it through xzcat"},
         {"PK\x03\x04", "a zip archive", "pipe it through unzip -p"},
         {"7z\xbc\xaf\x27\x1c", "a 7z archive", "pipe it through 7z x -so"},
         {"\x04\x22\x4d\x18", "lz4 data", "pipe it through lz4cat"},
         {"\x1f\x9d", "compress data", "pipe it through zcat"},
         {"\xff\xfe\0\0"sv, "UTF-32 text", "convert it: iconv -f UTF-32 -t UTF-8"},
         {"\xff\xfe", "UTF-16 text", "convert it: iconv -f UTF-16 -t UTF-8"},
         {"\xfe\xff", "UTF-16 text", "convert it: iconv -f UTF-16 -t UTF-8"}}};
    if (first.starts_with("BZh") &&
        first.substr(std::min<std::size_t>(4, first.size())).starts_with(bzip2_block))
        throw failure(name + ": bzip2 data; pipe it through bzcat");
    for (const auto& [magic, what, remedy] : forms)
        if (first.starts_with(magic)) throw failure(fmt::format("{}: {}; {}", name, what, remedy));
}

std::string read_all(const std::string& path, std::size_t most) {
    const std::string name = display_name(path);
    input_stream from(
        path == "-" ? base::descriptor(dup(STDIN_FILENO)) : take(base::open_for_reading(path), name), name);
    std::string text;
    std::vector<char> piece(room);
    while (const std::size_t size = from.read(piece)) {
        if (text.size() + size > most)
            throw failure(
                fmt::format("{}: longer than {} bytes, the most that this command reads at once; "
                            "split it",
                            name, most));
        text.append(piece.data(), size);
    }
    return text;
}

std::string read_text(const std::string& path, std::size_t most) {
    std::string text = read_all(path, most);
    refuse_other_forms(display_name(path), text);
    return text;
}

}  // namespace posy::tool
