// Reading messages: the frame, then the body within the limits.
#include "reading.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <utility>

#include "base/reader.hpp"
#include "codec/choose.hpp"
#include "codec/counters.hpp"
#include "kinds.hpp"
#include "posy/base/file.hpp"
#include "posy/message_length.hpp"

// Words are read as they are in memory. A port to a big-endian machine swaps them here and in message.cpp.
static_assert(std::endian::native == std::endian::little);

namespace posy {
namespace {

// The limit for a reader that holds an array is what another one like it takes.
static_assert(read_limits{0, 0, 0}.holding(5'000'000).max_bytes == bits::array_memory(8 * 5'000'000ULL));
static_assert(read_limits{0, 0, 0}.holding(4'000'000).max_bytes == bits::array_memory(8 * 4'000'000ULL));

error cut_off(std::uint64_t at) { return error::damaged("the message is cut off; get it again", at); }

result<void> check_sum(byte_view header, byte_view payload, byte_view trailer) {
    frame::checksum sum;
    sum.add(header);
    sum.add(payload);
    if (load_little<std::uint32_t>(trailer.data()) == sum.value()) return {};
    return error::damaged("the checksum is wrong: the message is damaged; get it again",
                          header.size() + payload.size());
}

result<void> check_limit(const frame::header& h, std::uint64_t most) {
    if (h.memory_bytes() <= most) return {};
    return base::above_limit("the array takes", h.memory_bytes(), most);
}

// The body around an array that has been read or decoded.
result<any_body> body_of(const frame::header& h, bit_array array) {
    if (const std::uint64_t used = array.size() % 64; used != 0 && array.words().back() >> used != 0) {
        return error::damaged("bits are set past the end of the array; the message is damaged");
    }
    if (h.kind == frame::kind::counting) {
        auto counters = counter_array::from_cells(std::move(array), h.counter_bits);
        auto filter = counting_filter::from_counters(h.geometry, std::move(counters), *h.provenance.items);
        if (!filter) return filter.error();
        filter->set_planned(h.provenance.planned);
        return any_body(std::move(*filter));
    }
    if (h.kind == frame::kind::delta)
        return any_body(filter_delta{h.geometry, h.provenance.items, h.base_generation, h.base_checksum,
                                     std::move(array), h.provenance.intersection});
    auto filter = bloom_filter::from_bits(h.geometry, std::move(array), h.provenance.items);
    filter.set_provenance(h.provenance);
    return any_body(std::move(filter));
}

// A body that goes on living in the bytes of its payload.
template <class Body>
concept opened_in_place = requires {
    &Body::open;
};

bool lives_in_payload(frame::kind kind) {
    return frame::with_body(kind, []<class Body>() { return opened_in_place<Body>; });
}

template <class Body>
result<any_body> any(result<Body> body) {
    if (!body) return body.error();
    return any_body(std::move(*body));
}

// The body of a payload that describes itself, in at most this many bytes of memory.
result<any_body> body_of(frame::kind kind, const hasher& hash, byte_view payload, std::uint64_t most,
                         std::shared_ptr<const void> keep) {
    return frame::with_body(kind, [&]<class Body>() -> result<any_body> {
        if constexpr (frame::kind_of<Body> <= frame::kind::queryable)
            __builtin_unreachable();  // they have arrays
        else if constexpr (opened_in_place<Body>)
            return any(Body::open(hash, std::move(keep), payload));
        else
            return any(Body::parse(hash, payload, read_limits::exactly(most)));
    });
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

// A message on its way in from a descriptor. Offsets in errors count from its first byte.
class arriving_message {
  public:
    arriving_message(int file, std::optional<std::uint64_t> file_size, std::uint64_t start,
                     const read_limits& limits)
        : file_(file), file_size_(file_size), start_(start), at_(start), limits_(limits) {}

    // Nothing where the stream has ended.
    result<std::optional<message>> read() {
        const auto begun = read_header();
        if (!begun) return begun.error();
        if (!*begun) return std::optional<message>();
        if (file_size_ && *file_size_ - at_ < h_.payload_size + frame::checksum_size)
            return cut_off(*file_size_ - start_);
        const bool as_it_lies = h_.raw() && (!file_size_ || at_ % bit_array::alignment == 0);
        auto body = as_it_lies ? read_array() : read_payload();
        if (!body) return body.error();
        return std::optional(message{std::move(*body), h_.generation, at_ - start_});
    }
    // The place behind what was read.
    std::uint64_t end() const { return at_; }

  private:
    // Fills `into`, or says how far into the message the stream went.
    result<void> take(std::span<std::byte> into) {
        const auto got = base::read_fully(file_, into, file_size_ ? std::optional(at_) : std::nullopt);
        if (!got) return got.error();
        at_ += *got;
        if (*got < into.size()) return cut_off(at_ - start_);
        return {};
    }

    // False where the stream has ended.
    result<bool> read_header() {
        std::array<std::byte, frame::prefix_size> prefix;
        if (auto got = take(prefix); !got) {
            if (got.error().kind == error_kind::input_output) return got.error();
            if (at_ == start_) return false;
        }
        const auto size = frame::header_size(byte_view(prefix).first(at_ - start_));
        if (!size) return size.error();
        header_.resize(*size);
        std::ranges::copy(prefix, header_.begin());
        if (auto got = take(std::span(header_).subspan(prefix.size())); !got) return got.error();
        const auto decoded = frame::decode(header_);
        if (!decoded) return decoded.error();
        h_ = *decoded;
        return true;
    }

    result<void> check(byte_view payload) {
        std::array<std::byte, frame::checksum_size> trailer;
        if (auto got = take(trailer); !got) return got;
        return check_sum(header_, payload, trailer);
    }

    // Straight into an array: mapped from a file, read from a pipe, where pages are taken as they fill.
    result<any_body> read_array() {
        if (!file_size_) {
            if (auto within = check_limit(h_, limits_.max_bytes); !within)
                return within.error().in_part_at(header_.size());
        }
        auto array =
            file_size_ ? bit_array::map(file_, at_, h_.array_bits()) : bit_array::make(h_.array_bits());
        if (!array) return array.error();
        if (file_size_) {
            at_ += h_.payload_size;
        } else if (auto got = take(std::as_writable_bytes(array->words())); !got) {
            return got.error();
        }
        if (auto good = check(std::as_bytes(array->words())); !good) return good.error();
        return in_payload(body_of(h_, std::move(*array)));
    }

    result<any_body> read_payload() {
        std::shared_ptr<const void> keep;
        const auto payload = file_size_ ? map_payload(keep) : receive_payload(keep);
        if (!payload) return payload.error();
        if (auto good = check(*payload); !good) return good.error();
        return in_payload(body_of(h_, *payload, limits_.most(at_ - start_), std::move(keep)));
    }

    result<byte_view> map_payload(std::shared_ptr<const void>& keep) {
        auto mapped = base::mapping::of(file_, at_, h_.payload_size);
        if (!mapped) return mapped.error();
        at_ += h_.payload_size;
        auto held = std::make_shared<base::mapping>(std::move(*mapped));
        keep = held;
        return held->bytes();
    }

    // Memory grows with what arrives, not with what was claimed.
    result<byte_view> receive_payload(std::shared_ptr<const void>& keep) {
        if (!h_.has_geometry() && h_.payload_size > limits_.max_bytes) {
            return base::above_limit("the payload takes", h_.payload_size, limits_.max_bytes, header_.size());
        }
        auto held = std::make_shared<std::vector<std::byte>>();
        while (held->size() < h_.payload_size) {
            const std::size_t had = held->size();
            held->resize(had +
                         std::min<std::uint64_t>(h_.payload_size - had, std::max<std::size_t>(had, 1 << 16)));
            if (auto got = take(std::span(*held).subspan(had)); !got) return got.error();
        }
        keep = held;
        return byte_view(*held);
    }

    result<any_body> in_payload(result<any_body> body) const {
        if (!body) return body.error().in_part_at(header_.size());
        return body;
    }

    int file_;
    std::optional<std::uint64_t> file_size_;  // of a regular file
    std::uint64_t start_, at_;
    const read_limits& limits_;
    std::vector<std::byte> header_;
    frame::header h_;
};

}  // namespace

result<std::optional<std::uint64_t>> message_length(byte_view bytes) {
    using length = std::optional<std::uint64_t>;
    if (bytes.size() < frame::prefix_size) return length();
    const auto size = frame::header_size(bytes);
    if (!size) return size.error();
    if (bytes.size() < *size) return length();
    const auto header = frame::decode(bytes.first(*size));
    if (!header) return header.error();
    return length(*size + header->payload_size + frame::checksum_size);
}

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
    if (!body) return body.error().in_part_at(opened.size - payload.size() - frame::checksum_size);
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
    arriving_message arriving(file_, file_size_, at_, limits_);
    auto next = arriving.read();
    const std::uint64_t start = std::exchange(at_, arriving.end());
    if (!next) return next.error().offset ? next.error().in_part_at(start) : next.error();
    if (!*next && at_ == first_) return error::damaged("it is empty; a Posy message was expected");
    return next;
}

result<message> load(const std::filesystem::path& path, const read_limits& limits) {
    const auto file = base::open_for_reading(path);
    if (!file) return file.error();
    auto next = message_reader(file->get(), limits).next();
    if (!next) return next.error();
    return std::move(**next);
}

}  // namespace posy
