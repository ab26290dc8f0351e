#include "packet_stream.hpp"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <optional>
#include <vector>

#include "posy/base/file.hpp"
#include "tool.hpp"

namespace posy::tool {
namespace {

// Waits until the file can be read; false if `stop` can.
bool wait_for(int file, int stop) {
    std::array<pollfd, 2> either{{{file, POLLIN, 0}, {stop, POLLIN, 0}}};
    while (poll(either.data(), either.size(), -1) < 0 && errno == EINTR) {
    }
    return either[1].revents == 0;
}

// A mapped file is read in place; of a pipe, what is there is kept in a buffer that grows with the largest
// packet.
class capture_file : public packet_stream {
  public:
    capture_file(const std::string& path, int stop)
        : name_(display_name(path)),
          file_(path == "-" ? base::descriptor(dup(STDIN_FILENO))
                            : take(base::open_for_reading(path), name_)),
          stop_(stop) {
        const auto size = base::regular_size(file_.get());
        if (size && base::position(file_.get()) == std::uint64_t{0}) {
            map_.emplace(take(base::mapping::of(file_.get(), 0, *size), name_));
            rest_ = map_->bytes();
        }
    }

    step next(packets::captured& into) override {
        for (;;) {
            switch (reader_.next(rest_, into)) {
                case packets::capture_reader::step::packet:
                    return ++packets_ % 1024 == 0 && stopped() ? step::end : step::packet;
                case packets::capture_reader::step::damaged:
                    throw failure(name_ + ": " + reader_.wrong()->text());
                case packets::capture_reader::step::more:
                    if (!more()) return step::end;
            }
        }
    }

  private:
    bool stopped() const {
        pollfd told{stop_, POLLIN, 0};  // poll ignores a negative descriptor
        return poll(&told, 1, 0) > 0;
    }
    // False at the end.
    bool more() {
        if (map_) return finish();
        if (!wait_for(file_.get(), stop_)) return false;
        constexpr std::size_t piece = 1 << 16;
        std::vector<std::byte> longer(rest_.size() + piece);
        std::ranges::copy(rest_, longer.begin());
        const std::size_t got =
            take(base::read_waiting(file_.get(), std::span(longer).subspan(rest_.size())), name_);
        longer.resize(rest_.size() + got);
        buffer_.swap(longer);
        rest_ = buffer_;
        return got > 0 || finish();
    }
    bool finish() {
        if (const auto wrong = reader_.end(rest_.size())) throw failure(name_ + ": " + wrong->text());
        return false;
    }

    std::string name_;
    base::descriptor file_;
    int stop_;
    std::optional<base::mapping> map_;
    std::vector<std::byte> buffer_;
    byte_view rest_;
    packets::capture_reader reader_;
    std::uint64_t packets_ = 0;
};

}  // namespace

std::string unknown_link_text(std::uint32_t number) {
    return "of link type " + std::to_string(number) + ", which is not supported";
}

std::unique_ptr<packet_stream> open_capture(const std::string& path, int stop) {
    return std::make_unique<capture_file>(path, stop);
}

std::unique_ptr<packet_stream> open_packets(const std::string& name, int stop) {
    std::error_code failed;
    if (name == "-" || std::filesystem::exists(name, failed)) return open_capture(name, stop);
    return open_interface(name, stop);
}

}  // namespace posy::tool
