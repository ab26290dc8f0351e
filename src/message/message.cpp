#include "posy/message.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <memory>

#include "base/file.hpp"
#include "codec/choose.hpp"
#include "codec/counters.hpp"
#include "frame.hpp"

// Words go to the wire as they lie in memory. A port to a big-endian machine swaps them in this file.
static_assert(std::endian::native == std::endian::little);

namespace posy {
namespace {

// ---- writing ----------------------------------------------------------------------------------------------

// A message before it is written: the header, and the payload as it lies or as it was coded.
struct draft {
    frame::header header;
    byte_view payload;
    std::vector<std::byte> coded;  // what `payload` looks at, unless that lies elsewhere
};

draft draft_array(frame::header h, const bit_array& bits, const packing& how) {
    draft d{h, std::as_bytes(bits.words()), {}};
    const codec::bit_view view{bits.words(), bits.size(),
                               how.want == coding::raw && !how.codec ? 0 : bits.ones()};
    d.header.codec = how.codec.value_or(codec::choose(view, how.want));
    if (d.header.codec != codec_id::raw) {
        codec::encode(d.header.codec, view, d.coded);
        if (d.coded.size() < d.payload.size()) {
            d.payload = d.coded;
        } else {
            d.header.codec = codec_id::raw;
        }
    }
    return d;
}

draft draft_of(const bloom_filter& filter, const packing& how) {
    frame::header h;
    h.geometry = filter.geometry();
    h.provenance = filter.provenance();
    return draft_array(h, filter.bits(), how);
}

draft draft_of(const filter_delta& delta, const packing& how) {
    frame::header h;
    h.kind = frame::kind::delta;
    h.geometry = delta.geometry;
    h.provenance = {.items = delta.items, .intersection = delta.intersection};
    h.base_generation = delta.base_generation;
    h.base_checksum = delta.base_checksum;
    return draft_array(h, delta.flips, how);
}

draft draft_of(const counting_filter& filter, const packing& how) {
    const counter_array& counters = filter.counters();
    draft d{{}, std::as_bytes(counters.cells().words()), {}};
    d.header.kind = frame::kind::counting;
    d.header.geometry = filter.geometry();
    d.header.provenance = filter.provenance();
    d.header.counter_bits = counters.width();
    if (how.codec.value_or(how.want == coding::raw ? codec_id::raw : codec_id::counters) ==
        codec_id::counters) {
        codec::encode_counters(counters.cells().words(), counters.size(), counters.width(), d.coded);
        if (d.coded.size() < d.payload.size()) d.payload = d.coded, d.header.codec = codec_id::counters;
    }
    return d;
}

draft draft_of(const compressed_filter& filter, const packing&) {
    draft d{{}, filter.bytes(), {}};
    d.header.kind = frame::kind::queryable;
    d.header.form = filter.form();
    d.header.geometry = filter.geometry();
    d.header.provenance = filter.provenance();
    return d;
}

// The kinds whose payload tells its own shape.
template <class Body>
constexpr frame::kind kind_of = [] {
    if (std::same_as<Body, sealed_filter>) return frame::kind::sealed;
    if (std::same_as<Body, bloomier_map>) return frame::kind::map;
    if (std::same_as<Body, count_min>) return frame::kind::count_min;
    if (std::same_as<Body, spectral_filter>) return frame::kind::spectral;
    if (std::same_as<Body, heavy_hitters>) return frame::kind::heavy;
    if (std::same_as<Body, growing_filter>) return frame::kind::growing;
    if (std::same_as<Body, window_filter>) return frame::kind::window;
    return frame::kind::reconciliation;
}();

template <class Body>
draft draft_of(const Body& body, const packing&) {
    draft d;
    d.header.kind = kind_of<Body>;
    d.header.geometry = {0, 0, layout_id{}, body.hash().family(), body.hash().seed()};
    if constexpr (requires { body.bytes(); }) {
        d.payload = body.bytes();
    } else {
        body.append_to(d.coded);
        d.payload = d.coded;
    }
    return d;
}

// Hands the bytes of the message to `put`, piece by piece.
template <class Put>
result<void> emit(body_ref body, const packing& how, Put put) {
    draft d = std::visit([&](const auto* each) { return draft_of(*each, how); }, body.get());
    d.header.generation = how.generation;
    d.header.payload_size = d.payload.size();
    const auto header = frame::encode(d.header);
    frame::checksum sum;
    sum.add(header);
    sum.add(d.payload);
    std::array<std::byte, frame::checksum_size> trailer;
    store_little(trailer.data(), sum.value());
    for (const byte_view piece : {byte_view(header), d.payload, byte_view(trailer)}) {
        if (auto done = put(piece); !done) return done;
    }
    return {};
}

// ---- reading ----------------------------------------------------------------------------------------------

error cut_off(std::uint64_t at) { return {"the message is cut off; get it again", at}; }

result<void> check_sum(byte_view header, byte_view payload, byte_view trailer) {
    frame::checksum sum;
    sum.add(header);
    sum.add(payload);
    if (load_little<std::uint32_t>(trailer.data()) == sum.value()) return {};
    return error{"the checksum is wrong: the message is damaged; get it again",
                 header.size() + payload.size()};
}

result<void> check_limit(const frame::header& h, const read_limits& limits) {
    if (h.array_bytes() <= limits.max_bytes) return {};
    return error{"the array takes " + std::to_string(h.array_bytes()) + " bytes, above the limit of " +
                     std::to_string(limits.max_bytes) + "; raise it if you trust the sender",
                 frame::prefix_size};
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

// A body that goes on living in the bytes of its payload.
bool lives_in_payload(frame::kind kind) {
    return kind == frame::kind::queryable || kind == frame::kind::sealed || kind == frame::kind::map;
}

template <class Body>
result<any_body> any(result<Body> body) {
    if (!body) return body.error();
    return any_body(std::move(*body));
}

// The body of a payload that tells its own shape.
result<any_body> body_of(frame::kind kind, const hasher& hash, byte_view payload, const read_limits& limits,
                         std::shared_ptr<const void> keep) {
    switch (kind) {
        case frame::kind::sealed:
            return any(sealed_filter::open(hash, std::move(keep), payload));
        case frame::kind::map:
            return any(bloomier_map::open(hash, std::move(keep), payload));
        case frame::kind::count_min:
            return any(count_min::parse(hash, payload, limits.max_bytes));
        case frame::kind::spectral:
            return any(spectral_filter::parse(hash, payload, limits.max_bytes));
        case frame::kind::heavy:
            return any(heavy_hitters::parse(hash, payload, limits.max_bytes));
        case frame::kind::growing:
            return any(growing_filter::parse(hash, payload, limits.max_bytes));
        case frame::kind::window:
            return any(window_filter::parse(hash, payload, limits.max_bytes));
        default:
            return any(reconcile::envelope::parse(hash, payload, limits.max_bytes));
    }
}

// The body of a payload that is not raw, or raw in someone else's memory. `keep` is what keeps it there.
result<any_body> body_of(const frame::header& h, byte_view payload, const read_limits& limits,
                         std::shared_ptr<const void> keep) {
    if (!h.has_geometry())
        return body_of(h.kind, hasher(h.geometry.hash, h.geometry.seed), payload, limits, std::move(keep));
    if (h.kind == frame::kind::queryable) {
        auto filter = compressed_filter::open(h.geometry, h.form, h.provenance, std::move(keep), payload);
        if (!filter) return filter.error();
        return any_body(std::move(*filter));
    }
    if (auto within = check_limit(h, limits); !within) return within.error();
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

// Errors about a body count from the payload's start, or from nowhere.
error in_payload(error why, std::size_t header_size) {
    why.offset = why.offset.value_or(0) + header_size;
    return why;
}

}  // namespace

std::vector<std::byte> to_bytes(body_ref body, const packing& how) {
    std::vector<std::byte> bytes;
    (void)emit(body, how, [&](byte_view piece) -> result<void> {
        bytes.insert(bytes.end(), piece.begin(), piece.end());
        return {};
    });
    return bytes;
}

result<message> from_bytes(byte_view bytes, const read_limits& limits) {
    const auto size = frame::header_size(bytes.first(std::min(bytes.size(), frame::prefix_size)));
    if (!size) return size.error();
    if (bytes.size() < *size) return cut_off(bytes.size());
    const auto header = bytes.first(*size);
    const auto h = frame::decode(header);
    if (!h) return h.error();
    const auto rest = bytes.subspan(*size);
    if (rest.size() < h->payload_size + frame::checksum_size) return cut_off(bytes.size());
    auto payload = rest.first(h->payload_size);
    if (auto good = check_sum(header, payload, rest.subspan(h->payload_size, frame::checksum_size)); !good)
        return good.error();
    std::shared_ptr<std::vector<std::byte>> copy;
    if (lives_in_payload(h->kind)) {  // it goes on living in these bytes, so it gets its own
        copy = std::make_shared<std::vector<std::byte>>(payload.begin(), payload.end());
        payload = *copy;
    }
    auto body = body_of(*h, payload, limits, copy);
    if (!body) return in_payload(body.error(), *size);
    const std::size_t whole = *size + h->payload_size + frame::checksum_size;
    return message{std::move(*body), h->generation, whole};
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
        // Straight into an array: mapped from a file, read from a pipe, where pages are taken as they fill.
        if (!file_size_) {
            if (auto within = check_limit(*h, limits_); !within) return within.error();
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
                return error{"the payload has " + std::to_string(h->payload_size) +
                                 " bytes, above the limit of " + std::to_string(limits_.max_bytes) +
                                 "; raise it if you trust the sender",
                             frame::prefix_size};
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
        body = body_of(*h, payload, limits_, keep);
    }
    if (!body) return in_payload(body.error(), *size);
    return std::optional(message{std::move(*body), h->generation, at_ - start});
}

result<void> write_message(int file, body_ref body, const packing& how) {
    return emit(body, how, [&](byte_view piece) { return base::write_fully(file, piece); });
}

result<message> load(const std::filesystem::path& path, const read_limits& limits) {
    const auto file = base::open_for_reading(path);
    if (!file) return file.error();
    auto next = message_reader(file->get(), limits).next();
    if (!next) return next.error();
    return std::move(**next);
}

result<void> save(const std::filesystem::path& path, body_ref body, const packing& how) {
    auto file = base::atomic_file::create(path);
    if (!file) return file.error();
    if (auto written = write_message(file->get(), body, how); !written) return written;
    return file->commit();
}

}  // namespace posy
