#include "posy/overlay/courier.hpp"

#include <algorithm>

#include "base/reader.hpp"
#include "base/varint.hpp"

namespace posy::overlay {

void courier::post(node_id to, byte_view record, std::uint64_t now, outbox& out) {
    line& mine = lines_[to];
    mine.waiting.insert(mine.waiting.end(), record.begin(), record.end());
    mine.ends.push_back(mine.waiting.size());
    if (mine.number == 0) dispatch(to, mine, now, out);
}

// As many records as fit, and one at least.
void courier::dispatch(node_id to, line& mine, std::uint64_t now, outbox& out) {
    const auto beyond = std::ranges::upper_bound(mine.ends, most_bytes);
    const auto last = std::max(beyond, mine.ends.begin() + 1) - 1;
    const std::size_t size = *last;
    last_number_ = mine.number = std::max(last_number_ + 1, now + 1);
    std::vector<std::byte> parcel{parcel_};
    base::put_varint(parcel, mine.number);
    const auto end = mine.waiting.begin() + static_cast<std::ptrdiff_t>(size);
    parcel.insert(parcel.end(), mine.waiting.begin(), end);
    mine.waiting.erase(mine.waiting.begin(), end);
    mine.ends.erase(mine.ends.begin(), last + 1);
    for (std::size_t& each : mine.ends) each -= size;
    mine.parcel = std::move(parcel);
    mine.sent_at = now;
    watch(now + patience_);
    out.push_back({to, mine.parcel});
}

std::optional<byte_view> courier::open(node_id from, byte_view parcel, outbox& out) {
    base::reader fields(parcel);
    if (fields.byte() != std::to_integer<std::uint8_t>(parcel_)) return std::nullopt;
    const std::uint64_t number = fields.varint();
    const byte_view records = fields.rest();
    if (fields.wrong() || number == 0) return std::nullopt;
    std::vector<std::byte> receipt{receipt_};
    base::put_varint(receipt, number);
    out.push_back({from, std::move(receipt)});
    std::uint64_t& taken = taken_[from];
    if (number <= taken) return std::nullopt;
    taken = number;
    return records;
}

bool courier::settle(node_id from, byte_view receipt, std::uint64_t now, outbox& out) {
    base::reader fields(receipt);
    const bool ours = fields.byte() == std::to_integer<std::uint8_t>(receipt_);
    const std::uint64_t number = fields.varint();
    const auto found = lines_.find(from);
    if (fields.finish() || !ours || found == lines_.end() || number == 0 || found->second.number != number)
        return false;
    line& mine = found->second;
    mine.number = 0;
    if (mine.ends.empty())
        lines_.erase(found);
    else
        dispatch(from, mine, now, out);
    if (lines_.empty()) earliest_.reset();
    return true;
}

void courier::tick(std::uint64_t now, outbox& out) {
    if (!earliest_ || now < *earliest_) return;
    earliest_.reset();
    for (auto& [to, mine] : lines_) {
        if (mine.number == 0) continue;
        if (mine.sent_at + patience_ <= now) {
            out.push_back({to, mine.parcel});
            mine.sent_at = now;
        }
        watch(mine.sent_at + patience_);
    }
}

std::optional<std::uint64_t> courier::next_tick() const { return earliest_; }

}  // namespace posy::overlay
