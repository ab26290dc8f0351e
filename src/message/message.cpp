#include "posy/message.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <memory>

#include "codec/choose.hpp"
#include "codec/counters.hpp"
#include "kinds.hpp"
#include "posy/base/file.hpp"

// Words are written as they are in memory. A port to a big-endian machine swaps them in this file.
static_assert(std::endian::native == std::endian::little);

namespace posy {
namespace {

// A message before it is written: the header, and the payload in memory or as it was coded.
struct draft {
    frame::header header;
    byte_view payload;
    std::vector<std::byte> coded;  // owns what `payload` refers to, unless that is elsewhere
};

draft draft_array(frame::header h, const bit_array& bits, const packing& how) {
    draft d{h, std::as_bytes(bits.words()), {}};
    const codec::bit_view view{bits.words(), bits.size(),
                               how.want == coding::raw && !how.codec ? 0 : bits.ones()};
    d.header.codec = codec::encode_for_reader(view, how.want, how.codec, codec::for_message,
                                              frame::padding_of_raw(h, d.payload.size()), d.coded);
    if (d.header.codec != codec_id::raw) d.payload = d.coded;
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
        if (d.coded.size() < d.payload.size() + frame::padding_of_raw(d.header, d.payload.size()) &&
            codec::check_work(codec_id::counters, d.coded, d.header.array_bits(), codec::for_message))
            d.payload = d.coded, d.header.codec = codec_id::counters;
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

// The payload describes itself.
template <class Body>
draft draft_of(const Body& body, const packing&) {
    draft d;
    d.header.kind = frame::kind_of<Body>;
    d.header.geometry = {0, 0, layout_id{}, body.hash().family(), body.hash().seed()};
    if constexpr (requires { body.bytes(); }) {
        d.payload = body.bytes();
    } else {
        body.append_to(d.coded);
        d.payload = d.coded;
    }
    return d;
}

// Calls begin(size of the message), and hands its bytes to `put`, piece by piece.
template <class Begin, class Put>
result<void> emit(body_ref body, const packing& how, Begin begin, Put put) {
    draft d = std::visit([&](const auto* each) { return draft_of(*each, how); }, body.get());
    d.header.generation = how.generation;
    d.header.payload_size = d.payload.size();
    const auto header = frame::encode(d.header);
    frame::checksum sum;
    sum.add(header);
    sum.add(d.payload);
    std::array<std::byte, frame::checksum_size> trailer;
    store_little(trailer.data(), sum.value());
    begin(header.size() + d.payload.size() + trailer.size());
    for (const byte_view piece : {byte_view(header), d.payload, byte_view(trailer)}) {
        if (auto done = put(piece); !done) return done;
    }
    return {};
}

}  // namespace

std::vector<std::byte> to_bytes(body_ref body, const packing& how) {
    std::vector<std::byte> bytes;
    (void)emit(
        body, how, [&](std::size_t size) { bytes.reserve(size); },
        [&](byte_view piece) -> result<void> {
            bytes.insert(bytes.end(), piece.begin(), piece.end());
            return {};
        });
    return bytes;
}

result<void> write_message(int file, body_ref body, const packing& how) {
    return emit(
        body, how, [](std::size_t) {}, [&](byte_view piece) { return base::write_fully(file, piece); });
}

result<void> save(const std::filesystem::path& path, body_ref body, const packing& how) {
    auto file = base::atomic_file::create(path);
    if (!file) return file.error();
    if (auto written = write_message(file->get(), body, how); !written) return written;
    return file->commit();
}

}  // namespace posy
