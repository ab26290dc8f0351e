#include "packet_source.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "posy/base/file.hpp"
#include "posy/packet/flow_records.hpp"
#include "progress.hpp"
#include "tool.hpp"

namespace posy::tool {
namespace {

using packets::captured, packets::outcome;

// The bytes of a file or pipe, as much at a time as there is: a regular file is mapped and comes as one
// piece.
class byte_source {
  public:
    explicit byte_source(const std::string& path)
        : name_(display_name(path)),
          file_(path == "-" ? base::descriptor(dup(STDIN_FILENO))
                            : take(base::open_for_reading(path), name_)) {
        const auto size = base::regular_size(file_.get());
        if (size && base::position(file_.get()) == std::uint64_t{0})
            map_.emplace(take(base::mapping::of(file_.get(), 0, *size), name_));
    }
    // What `left` (the end of what this returned before) and further bytes are; nothing if there are no more.
    std::optional<byte_view> more(byte_view left) {
        if (ended_) return std::nullopt;
        if (map_) {
            ended_ = true;
            return map_->bytes();
        }
        const std::size_t kept = left.size();
        if (kept > 0) std::memmove(buffer_.data(), left.data(), kept);
        if (buffer_.size() < kept + (1 << 20)) buffer_.resize(2 * kept + (1 << 20));
        const auto got = take(base::read_waiting(file_.get(), std::span(buffer_).subspan(kept)), name_);
        ended_ = got == 0;
        if (ended_) return std::nullopt;
        return byte_view(buffer_).first(kept + got);
    }
    const std::string& name() const { return name_; }
    std::optional<std::uint64_t> size() const {
        return map_ ? std::optional<std::uint64_t>(map_->bytes().size()) : std::nullopt;
    }

  private:
    std::string name_;
    base::descriptor file_;
    std::optional<base::mapping> map_;
    std::vector<std::byte> buffer_;
    bool ended_ = false;
};

// Totals do not wrap: a record that would take them beyond 64 bits is not believed.
result<packets::flow_record> addable_row(const packets::flow_table& table, std::string_view line,
                                         const packet_tally& so_far) {
    auto row = table.row(line);
    if (row && (row->bytes > ~so_far.bytes || row->packets > ~so_far.packets))
        return error::damaged("a count with which the total exceeds 2^64 − 1");
    return row;
}

}  // namespace

void count_frame(const captured& c, const packet_options& o, packet_tally& tally, flow_watch& watch) {
    if (!c.link) {
        if (tally.unknown_link++ == 0) tally.unknown_link_number = c.link_number;
        return;
    }
    const packets::headers h = packets::headers_of(c.frame, c.original_length, *c.link, o.which);
    const bool enough = h.outcome == outcome::cut_short && h.version != 0 && o.only_addresses;
    if (h.outcome == outcome::found || enough) {
        ++tally.packets;
        tally.bytes += h.ip_bytes;
        return watch.add(h.key, h.ip_bytes, 1, c.time);
    }
    switch (h.outcome) {
        case outcome::found:
            break;
        case outcome::not_ip:
            ++tally.not_ip;
            break;
        case outcome::cut_short:
            ++tally.cut_short;
            break;
        case outcome::malformed:
            ++tally.malformed;
            break;
        case outcome::too_deep:
            ++tally.too_deep;
            break;
    }
}

std::optional<std::string> read_capture(const std::string& path, const packet_options& o, packet_tally& tally,
                                        flow_watch& watch) {
    byte_source source(path);
    progress shown("reading packets", source.size());
    packets::capture_reader reader;
    captured c;
    byte_view left;
    std::uint64_t told = 0;
    while (const auto piece = source.more(left)) {
        left = *piece;
        while (reader.next(left, c) == packets::capture_reader::step::packet) {
            count_frame(c, o, tally, watch);
            if (reader.offset() - told < 1 << 22) continue;
            shown.add(reader.offset() - told);
            told = reader.offset();
        }
        if (reader.wrong()) break;
    }
    if (const auto wrong = reader.end(left.size())) return source.name() + ": " + wrong->text();
    return std::nullopt;
}

void read_records(const std::string& path, packet_tally& tally, flow_watch& watch, std::string& first_wrong) {
    byte_source source(path);
    std::optional<packets::flow_table> table;
    byte_view left;
    std::uint64_t line_number = 0;
    const auto use = [&](std::string_view line) {
        ++line_number;
        if (line.empty() || line == "\r") return;
        if (!table) {
            table = take(packets::flow_table::of_header(line), source.name());
            const auto has_all = table->require(watch.asked().by, watch.asked().count_packets);
            if (!has_all)
                throw failure(source.name() + ": " + has_all.error().message +
                              "; ask with --by and --weight for what the table has");
            return;
        }
        const auto row = addable_row(*table, line, tally);
        if (!row) {
            ++tally.malformed;
            if (first_wrong.empty())
                first_wrong =
                    source.name() + ": line " + std::to_string(line_number) + ": " + row.error().message;
            return;
        }
        tally.packets += row->packets;
        tally.bytes += row->bytes;
        watch.add(row->key, row->bytes, row->packets, row->time);
    };
    constexpr std::size_t longest_line = 1 << 20;
    while (const auto piece = source.more(left)) {
        std::string_view text(reinterpret_cast<const char*>(piece->data()), piece->size());
        for (auto end = text.find('\n'); end != text.npos; end = text.find('\n')) {
            use(text.substr(0, end));
            text.remove_prefix(end + 1);
        }
        if (text.size() > longest_line)
            throw failure(source.name() + ": a line of more than a mebibyte; this is no table");
        left = piece->last(text.size());
    }
    if (!left.empty()) use({reinterpret_cast<const char*>(left.data()), left.size()});
    if (!table) throw failure(source.name() + ": an empty table; its first line names the columns");
}

}  // namespace posy::tool
