// Reading messages: the frame, then the body within the limits.
#include "reading.hpp"

#include <algorithm>
#include <array>
#include <bit>

#include "base/reader.hpp"
#include "codec/choose.hpp"
#include "codec/counters.hpp"
#include "posy/base/file.hpp"

// Words are read as they are in memory. A port to a big-endian machine swaps them here and in message.cpp.
static_assert(std::endian::native == std::endian::little);

namespace posy {
namespace {

// The limit for a reader that holds an array is what another one like it takes.
static_assert(read_limits{0, 0, 0}.holding(5'000'000).max_bytes == bits::array_memory(8 * 5'000'000ULL));
static_assert(read_limits{0, 0, 0}.holding(4'000'000).max_bytes == bits::array_memory(8 * 4'000'000ULL));

error cut_off(std::uint64_t at) { return {"the message is cut off; get it again", at}; }

result<void> check_sum(byte_view header, byte_view payload, byte_view trailer) {
    frame::checksum sum;
    sum.add(header);
    sum.add(payload);
    if (load_little<std::uint32_t>(trailer.data()) == sum.value()) return {};
    return error{"the checksum is wrong: the message is damaged; get it again",
                 header.size() + payload.size()};
}

result<void> check_limit(const frame::header& h, std::uint64_t most) {
    if (h.memory_bytes() <= most) return {};
    return error{"the array takes " + base::above_limit(h.memory_bytes(), most)};
}

// The body around an array that has been read or decoded.
result<any_body> body_of(const frame::header& h, bit_array array) {
    if (const std::uint64_t used = array.size() % 64; used != 0 && array.words().back() >> used != 0) {
        return error{"bits are set past the end of the array; the message is damaged"};
    }
    switch (h.kind) {
        case frame::kind::counting: {
            auto counters = counter_array::from_cells(std::move(array), h.counter_bits);
            auto filter =
                counting_filter::from_counters(h.geometry, std::move(counters), *h.provenance.items);
            if (!filter) return filter.error();
            filter->set_planned(h.provenance.planned);
            return any_body(std::move(*filter));
        }
        case frame::kind::delta:
            return any_body(filter_delta{h.geometry, h.provenance.items, h.base_generation, h.base_checksum,
                                         std::move(array), h.provenance.intersection});
        default: {
            auto filter = bloom_filter::from_bits(h.geometry, std::move(array), h.provenance.items);
            filter.set_provenance(h.provenance);
            return any_body(std::move(filter));
        }
    }
}

// A body that keeps using the bytes of its payload.
bool lives_in_payload(frame::kind kind) {
    return kind == frame::kind::queryable || kind == frame::kind::sealed || kind == frame::kind::map;
}

template <class Body>
result<any_body> any(result<Body> body) {
    if (!body) return body.error();
    return any_body(std::move(*body));
}

// The body of a payload that describes its own shape, in at most this many bytes of memory.
result<any_body> body_of(frame::kind kind, const hasher& hash, byte_view payload, std::uint64_t most,
                         std::shared_ptr<const void> keep) {
    switch (kind) {
        case frame::kind::sealed:
            return any(sealed_filter::open(hash, std::move(keep), payload));
        case frame::kind::map:
            return any(bloomier_map::open(hash, std::move(keep), payload));
        case frame::kind::count_min:
            return any(count_min::parse(hash, payload, most));
        case frame::kind::spectral:
            return any(spectral_filter::parse(hash, payload, most));
        case frame::kind::heavy:
            return any(heavy_hitters::parse(hash, payload, most));
        case frame::kind::growing:
            return any(growing_filter::parse(hash, payload, most));
        case frame::kind::window:
            return any(window_filter::parse(hash, payload, most));
        default:
            return any(reconcile::envelope::parse(hash, payload, most));
    }
}

// The body of a payload that is not raw, or that is raw in memory owned by `keep`.
result<any_body> body_of(const frame::header& h, byte_view payload, std::uint64_t most,
                         std::shared_ptr<const void> keep) {
    if (!h.has_geometry())
        return body_of(h.kind, hasher(h.geometry.hash, h.geometry.seed), payload, most, std::move(keep));
    if (h.kind == frame::kind::queryable)
        return any(compressed_filter::open(h.geometry, h.form, h.provenance, std::move(keep), payload, most));
    if (auto within = check_limit(h, most); !within) return within.error();
    if (auto fair = codec::check_work(h.codec, payload, h.array_bits(), codec::for_message); !fair)
        return fair.error();
    auto array = bit_array::make(h.array_bits());
    if (!array) return array.error();
    if (h.raw()) {
        std::ranges::copy(payload, std::as_writable_bytes(array->words()).begin());
    } else if (h.codec == codec_id::counters) {
        if (auto done = codec::decode_counters(payload, array->words(), h.geometry.bits, h.counter_bits);
            !done)
            return done.error();
    } else {
        if (auto done = codec::decode(h.codec, payload, {array->words(), array->size()}); !done)
            return done.error();
    }
    return body_of(h, std::move(*array));
}

// Offsets in errors about a body count from the payload's start, if there are any.
error in_payload(error why, std::size_t header_size) {
    why.offset = why.offset.value_or(0) + header_size;
    return why;
}

}  // namespace

result<opened_frame> open_frame(byte_view bytes) {
    const auto size = frame::header_size(bytes.first(std::min(bytes.size(), frame::prefix_size)));
    if (!size) return size.error();
    if (bytes.size() < *size) return cut_off(bytes.size());
    const auto header = bytes.first(*size);
    const auto h = frame::decode(header);
    if (!h) return h.error();
    const auto rest = bytes.subspan(*size);
    if (rest.size() < h->payload_size + frame::checksum_size) return cut_off(bytes.size());
    const auto payload = rest.first(h->payload_size);
    if (auto good = check_sum(header, payload, rest.subspan(h->payload_size, frame::checksum_size)); !good)
        return good.error();
    return opened_frame{*h, payload, *size + h->payload_size + frame::checksum_size};
}

result<message> read_body(const opened_frame& opened, const read_limits& limits) {
    const frame::header& h = opened.header;
    byte_view payload = opened.payload;
    std::shared_ptr<std::vector<std::byte>> copy;
    if (lives_in_payload(h.kind)) {  // it keeps using these bytes, so it gets a copy of its own
        copy = std::make_shared<std::vector<std::byte>>(payload.begin(), payload.end());
        payload = *copy;
    }
    auto body = body_of(h, payload, limits.most(opened.size), copy);
    if (!body) return in_payload(body.error(), opened.size - payload.size() - frame::checksum_size);
    return message{std::move(*body), h.generation, opened.size};
}

result<message> from_bytes(byte_view bytes, const read_limits& limits) {
    const auto opened = open_frame(bytes);
    if (!opened) return opened.error();
    return read_body(*opened, limits);
}

message_reader::message_reader(int file, const read_limits& limits)
    : file_(file), limits_(limits), file_size_(base::regular_size(file)) {
    if (const auto here = base::position(file); file_size_ && here) at_ = first_ = *here;
}

result<std::optional<message>> message_reader::next() {
    const std::uint64_t start = at_;
    auto next = read();
    if (next) return next;
    error why = next.error();
    if (why.offset) *why.offset += start;
    return why;
}

// Advances at_ past the message; offsets in errors count from its start.
result<std::optional<message>> message_reader::read() {
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
        if (at_ == first_) return error{"it is empty; a Posy message was expected"};
        if (at_ == start) return std::optional<message>();
    }
    const auto size = frame::header_size(byte_view(prefix).first(at_ - start));
    if (!size) return size.error();
    std::vector<std::byte> header(*size);
    std::ranges::copy(prefix, header.begin());
    if (auto got = take(std::span(header).subspan(prefix.size())); !got) return got.error();
    const auto h = frame::decode(header);
    if (!h) return h.error();
    const std::uint64_t payload_at = at_;
    if (file_size_ && *file_size_ - at_ < h->payload_size + frame::checksum_size)
        return cut_off(*file_size_ - start);

    std::array<std::byte, frame::checksum_size> trailer;
    result<any_body> body = error{};
    if (h->raw() && (!file_size_ || payload_at % bit_array::alignment == 0)) {
        // Directly into an array: mapped from a file, or read from a pipe, where pages are allocated as they
        // fill.
        if (!file_size_) {
            if (auto within = check_limit(*h, limits_.max_bytes); !within)
                return in_payload(within.error(), *size);
        }
        auto array = file_size_ ? bit_array::map(file_, payload_at, h->array_bits())
                                : bit_array::make(h->array_bits());
        if (!array) return array.error();
        if (file_size_) {
            at_ += h->payload_size;
        } else if (auto got = take(std::as_writable_bytes(array->words())); !got) {
            return got.error();
        }
        if (auto got = take(trailer); !got) return got.error();
        if (auto good = check_sum(header, std::as_bytes(array->words()), trailer); !good) return good.error();
        body = body_of(*h, std::move(*array));
    } else {
        std::shared_ptr<const void> keep;
        byte_view payload;
        if (file_size_) {
            auto mapped = base::mapping::of(file_, payload_at, h->payload_size);
            if (!mapped) return mapped.error();
            auto held = std::make_shared<base::mapping>(std::move(*mapped));
            payload = held->bytes();
            keep = held;
            at_ += h->payload_size;
        } else {
            if (!h->has_geometry() && h->payload_size > limits_.max_bytes) {
                return error{"the payload takes " + base::above_limit(h->payload_size, limits_.max_bytes),
                             *size};
            }
            // Memory grows with what arrives, not with what was claimed.
            auto held = std::make_shared<std::vector<std::byte>>();
            while (held->size() < h->payload_size) {
                const std::size_t had = held->size();
                held->resize(had + std::min<std::uint64_t>(h->payload_size - had,
                                                           std::max<std::size_t>(had, 1 << 16)));
                if (auto got = take(std::span(*held).subspan(had)); !got) return got.error();
            }
            payload = *held;
            keep = held;
        }
        if (auto got = take(trailer); !got) return got.error();
        if (auto good = check_sum(header, payload, trailer); !good) return good.error();
        body = body_of(*h, payload, limits_.most(at_ - start), keep);
    }
    if (!body) return in_payload(body.error(), *size);
    return std::optional(message{std::move(*body), h->generation, at_ - start});
}

result<message> load(const std::filesystem::path& path, const read_limits& limits) {
    const auto file = base::open_for_reading(path);
    if (!file) return file.error();
    auto next = message_reader(file->get(), limits).next();
    if (!next) return next.error();
    return std::move(**next);
}

}  // namespace posy
