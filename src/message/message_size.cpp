#include "posy/message_size.hpp"

#include <cmath>

#include "codec/expected_size.hpp"
#include "kinds.hpp"

namespace posy {
namespace {

frame::header header_of(frame::kind kind, const plan& p) {
    frame::header h;
    h.kind = kind;
    h.geometry = p.geometry();
    h.provenance.items = p.items;
    if (kind != frame::kind::delta) h.provenance.planned = p.promise();
    return h;
}

message_size framed(frame::header h, const codec::expected_coding& payload) {
    h.codec = payload.codec;
    h.payload_size = payload.bytes;
    return {payload.codec, payload.bytes, frame::encode(h).size() + frame::checksum_size};
}

// Of a kind whose payload describes itself.
message_size framed(frame::kind kind, std::uint64_t bytes) {
    frame::header h;
    h.kind = kind;
    h.geometry = {0, 0, layout_id{}, hash_family::xxh3, {}};
    return framed(h, {codec_id::raw, bytes});
}

}  // namespace

message_size expected_message(const plan& p, coding want) {
    const frame::header h = header_of(frame::kind::filter, p);
    return framed(h, codec::expect_bits(p.bits, p.fill * static_cast<double>(p.bits), want,
                                        frame::padding_of_raw(h, p.memory_bytes())));
}

message_size expected_message(const plan& p, const counting_plan& counters, coding want) {
    frame::header h = header_of(frame::kind::counting, p);
    h.counter_bits = counters.counter_bits;
    return framed(h, codec::expect_counters(p.bits, counters.counter_bits, counters.shares, want,
                                            frame::padding_of_raw(h, p.memory_bytes())));
}

message_size expected_delta(const plan& p) {
    const frame::header h = header_of(frame::kind::delta, p);
    return framed(h, codec::expect_bits(p.bits, *p.delta_fill * static_cast<double>(p.bits), coding::smallest,
                                        frame::padding_of_raw(h, p.memory_bytes())));
}

message_size expected_message(const growing_filter::forecast& f) {
    return framed(frame::kind_of<growing_filter>, f.payload_bytes);
}

message_size expected_sealed_message(double payload_bits) {
    return framed(frame::kind_of<sealed_filter>, static_cast<std::uint64_t>(std::round(payload_bits / 8)));
}

}  // namespace posy
