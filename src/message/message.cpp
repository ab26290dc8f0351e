#include "posy/message.hpp"

#include <algorithm>
#include <bit>

#include "base/file.hpp"
#include "frame.hpp"

// Words go to the wire as they lie in memory. A port to a big-endian machine swaps them in this file.
static_assert(std::endian::native == std::endian::little);

namespace posy {
namespace {

const bit_array& payload_of(filter_ref filter) {
    return filter.counting() ? filter.counting()->counters().cells() : filter.plain().bits();
}

frame::header header_of(filter_ref filter) {
    frame::header h;
    h.geometry = filter.geometry();
    h.items = filter.plain().items();
    if (filter.counting()) {
        h.kind = frame::kind::counting;
        h.counter_bits = filter.counting()->counters().width();
    }
    h.payload_size = frame::raw_size(h.geometry, h.counter_bits);
    return h;
}

// Hands the bytes of the message to `put`, piece by piece.
template <class Put>
result<void> emit(filter_ref filter, Put put) {
    const auto header = frame::encode(header_of(filter));
    const auto payload = std::as_bytes(payload_of(filter).words());
    frame::checksum sum;
    sum.add(header);
    sum.add(payload);
    std::array<std::byte, frame::checksum_size> trailer;
    store_little(trailer.data(), sum.value());
    for (const byte_view piece : {byte_view(header), byte_view(payload), byte_view(trailer)}) {
        if (auto done = put(piece); !done) return done;
    }
    return {};
}

// A header, its payload and its checksum, all there: the filter, or what is wrong with it. Offsets count from
// the start of the message.
result<any_filter> assemble(const frame::header& h, byte_view header, bit_array payload, byte_view trailer) {
    const auto words = payload.words();
    frame::checksum sum;
    sum.add(header);
    sum.add(std::as_bytes(words));
    const std::uint64_t end = header.size() + h.payload_size;
    if (load_little<std::uint32_t>(trailer.data()) != sum.value()) {
        return error{"the checksum is wrong: the message is damaged; get it again", end};
    }
    if (const std::uint64_t used = payload.size() % 64; used != 0 && words.back() >> used != 0) {
        return error{"bits are set past the end of the array; the message is damaged", end - 8};
    }
    if (h.kind == frame::kind::filter)
        return any_filter(bloom_filter::from_bits(h.geometry, std::move(payload), h.items));
    auto counting = counting_filter::from_counters(
        h.geometry, counter_array::from_cells(std::move(payload), h.counter_bits), *h.items);
    if (!counting) return counting.error();
    return any_filter(std::move(*counting));
}

std::uint64_t payload_bits(const frame::header& h) { return h.geometry.bits * std::max(h.counter_bits, 1u); }

error cut_off(std::uint64_t at) { return {"the message is cut off; get it again", at}; }

}  // namespace

std::vector<std::byte> to_bytes(filter_ref filter) {
    std::vector<std::byte> bytes;
    (void)emit(filter, [&](byte_view piece) -> result<void> {
        bytes.insert(bytes.end(), piece.begin(), piece.end());
        return {};
    });
    return bytes;
}

result<parsed> from_bytes(byte_view bytes) {
    const auto size = frame::header_size(bytes.first(std::min(bytes.size(), frame::prefix_size)));
    if (!size) return size.error();
    if (bytes.size() < *size) return cut_off(bytes.size());
    const auto header = bytes.first(*size);
    const auto h = frame::decode(header);
    if (!h) return h.error();
    const auto rest = bytes.subspan(*size);
    if (rest.size() < h->payload_size + frame::checksum_size) return cut_off(bytes.size());
    auto payload = bit_array::make(payload_bits(*h));
    if (!payload) return payload.error();
    std::ranges::copy(rest.first(h->payload_size), std::as_writable_bytes(payload->words()).begin());
    auto filter =
        assemble(*h, header, std::move(*payload), rest.subspan(h->payload_size, frame::checksum_size));
    if (!filter) return filter.error();
    return parsed{std::move(*filter), *size + h->payload_size + frame::checksum_size};
}

message_reader::message_reader(int file) : file_(file), file_size_(base::regular_size(file)) {}

result<std::optional<any_filter>> message_reader::next() {
    const std::uint64_t start = at_;
    auto filter = read();
    if (filter) return filter;
    error why = filter.error();
    if (why.offset) *why.offset += start;
    return why;
}

// Advances at_ past the message; offsets in errors count from its start.
result<std::optional<any_filter>> message_reader::read() {
    const std::uint64_t start = at_;
    // Fills `into` from the current place, or says how far into the message the stream went.
    const auto take = [&](std::span<std::byte> into) -> result<void> {
        const auto got = base::read_fully(file_, into, file_size_ ? std::optional(at_) : std::nullopt);
        if (!got) return got.error();
        at_ += *got;
        if (*got < into.size()) return cut_off(at_ - start);
        return {};
    };

    std::array<std::byte, frame::prefix_size> prefix;
    if (auto got = take(prefix); !got) {
        if (!got.error().offset) return got.error();
        if (at_ == 0) return error{"it is empty; a Posy message was expected"};
        if (at_ == start) return std::optional<any_filter>();
    }
    const auto size = frame::header_size(byte_view(prefix).first(at_ - start));
    if (!size) return size.error();
    std::vector<std::byte> header(*size);
    std::ranges::copy(prefix, header.begin());
    if (auto got = take(std::span(header).subspan(prefix.size())); !got) return got.error();
    const auto h = frame::decode(header);
    if (!h) return h.error();
    if (file_size_ && *file_size_ - at_ < h->payload_size + frame::checksum_size)
        return cut_off(*file_size_ - start);

    const bool mapped = file_size_ && at_ % 8 == 0 && h->payload_size > 0;
    auto payload = mapped ? bit_array::map(file_, at_, payload_bits(*h)) : bit_array::make(payload_bits(*h));
    if (!payload) return payload.error();
    if (mapped) {
        at_ += h->payload_size;
    } else if (auto got = take(std::as_writable_bytes(payload->words())); !got) {
        return got.error();
    }
    std::array<std::byte, frame::checksum_size> trailer;
    if (auto got = take(trailer); !got) return got.error();
    auto filter = assemble(*h, header, std::move(*payload), trailer);
    if (!filter) return filter.error();
    return std::optional(std::move(*filter));
}

result<void> write_message(int file, filter_ref filter) {
    return emit(filter, [&](byte_view piece) { return base::write_fully(file, piece); });
}

result<any_filter> load(const std::filesystem::path& path) {
    const auto file = base::open_for_reading(path);
    if (!file) return file.error();
    auto message = message_reader(file->get()).next();
    if (!message) return message.error();
    return std::move(**message);
}

result<void> save(const std::filesystem::path& path, filter_ref filter) {
    auto file = base::atomic_file::create(path);
    if (!file) return file.error();
    if (auto written = write_message(file->get(), filter); !written) return written;
    return file->commit();
}

}  // namespace posy
