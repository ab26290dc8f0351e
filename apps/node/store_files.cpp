#include "store_files.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>

#include "posy/bytes.hpp"

namespace posy::node {

std::vector<std::string> store_files(const std::string& folder) {
    std::vector<std::string> found;
    std::error_code failed;
    for (std::filesystem::directory_iterator at(folder, failed), end; !failed && at != end;
         at.increment(failed)) {
        const std::string name = at->path().filename().string();
        const bool ours = name == "CURRENT" || name.starts_with("MANIFEST-") || name.ends_with(".log") ||
                          name.ends_with(".ldb") || name.ends_with(".sst");
        if (ours) found.push_back(name);
    }
    return found;
}

leveldb::Status patient_env::RemoveFile(const std::string& name) {
    const std::lock_guard lock(mutex_);
    if (!waiting_) return target()->RemoveFile(name);
    later_.push_back(name);
    return {};
}

void patient_env::remove_from_now_on() {
    const std::lock_guard lock(mutex_);
    waiting_ = false;
    for (const auto& name : later_) target()->RemoveFile(name);
    later_.clear();
}

// The log, as LevelDB's doc/log_format.md has it: blocks of 32 KiB, in each of them pieces of records, and
// zeros where no header fits. A piece is a masked CRC-32C of its kind and its bytes (4 bytes), their number
// (2), its kind (1): all of a record, its first, a middle or its last piece.
namespace {

constexpr std::size_t block_size = 32768, header_size = 7;
enum kind : unsigned char { whole = 1, first = 2, middle = 3, last = 4 };

constexpr auto crc_table = [] {
    std::array<std::uint32_t, 256> table{};
    for (std::uint32_t i = 0; i < 256; ++i) {
        std::uint32_t c = i;
        for (int bit = 0; bit < 8; ++bit) c = c >> 1 ^ ((c & 1) != 0 ? 0x82f63b78U : 0);
        table[i] = c;
    }
    return table;
}();

std::uint32_t masked_crc(std::string_view bytes) {
    std::uint32_t c = ~std::uint32_t{0};
    for (const char each : bytes) c = crc_table[(c ^ static_cast<unsigned char>(each)) & 255] ^ c >> 8;
    c = ~c;
    return (c >> 15 | c << 17) + 0xa282ead8U;
}

struct piece {
    unsigned char kind;
    std::string_view bytes;
};

// The piece at the start of this text; none if that is not one as it was written.
std::optional<piece> piece_at(std::string_view text) {
    if (text.size() < header_size) return std::nullopt;
    const auto* bytes = reinterpret_cast<const std::byte*>(text.data());
    const auto length = load_little<std::uint16_t>(bytes + 4);
    const auto kind = static_cast<unsigned char>(text[6]);
    if (kind < whole || kind > last || header_size + length > text.size()) return std::nullopt;
    if (masked_crc(text.substr(6, 1U + length)) != load_little<std::uint32_t>(bytes)) return std::nullopt;
    return piece{kind, text.substr(header_size, length)};
}

class log_writer {
  public:
    void add(std::string_view record) {
        for (bool begin = true, end = false; !end; begin = false) {
            std::size_t room = block_size - out_.size() % block_size;
            if (room < header_size) {
                out_.append(room, '\0');
                room = block_size;
            }
            const auto part = record.substr(0, room - header_size);
            record.remove_prefix(part.size());
            end = record.empty();
            put(begin && end ? whole : begin ? first : end ? last : middle, part);
        }
    }
    std::string take() { return std::move(out_); }

  private:
    void put(kind what, std::string_view bytes) {
        const std::string checked = static_cast<char>(what) + std::string(bytes);
        std::array<std::byte, 6> head;
        store_little(head.data(), masked_crc(checked));
        store_little(head.data() + 4, static_cast<std::uint16_t>(bytes.size()));
        out_.append(reinterpret_cast<const char*>(head.data()), head.size());
        out_ += checked;
    }

    std::string out_;
};

}  // namespace

std::string intact_records(std::string_view log) {
    log_writer out;
    std::optional<std::string> pending;  // pieces of a record whose last has not come
    const auto use = [&](const piece& p) {
        if (p.kind == whole || p.kind == first) pending = "";
        if (!pending) return;  // its beginning is lost
        *pending += p.bytes;
        if (p.kind != whole && p.kind != last) return;
        out.add(*pending);
        pending.reset();
    };
    for (std::size_t block = 0; block < log.size(); block += block_size) {
        const auto text = log.substr(block, block_size);
        for (std::size_t at = 0; at + header_size <= text.size();) {
            if (const auto p = piece_at(text.substr(at))) {
                use(*p);
                at += header_size + p->bytes.size();
            } else {  // damaged, or zeros at the end of the block: the next one that is a piece
                pending.reset();
                ++at;
            }
        }
    }
    return out.take();
}

}  // namespace posy::node
