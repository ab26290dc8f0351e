#include "frame.hpp"

#include <algorithm>
#include <array>
#include <bit>

#include "base/reader.hpp"
#include "base/varint.hpp"
#include "kinds.hpp"

namespace posy::frame {
namespace {

constexpr std::array magic{std::byte{'P'}, std::byte{'O'}, std::byte{'S'}, std::byte{'Y'}};
constexpr std::byte version{1};
constexpr std::size_t kind_offset = 5;
constexpr std::size_t geometry_offset = prefix_size;
constexpr std::size_t raw_alignment = 64;

// The field of a number of items: two values are not numbers.
constexpr std::uint64_t items_unknown = 0, items_of_intersection = 1, items_offset = 2;

std::uint64_t items_field(const provenance& p) {
    if (p.items) return *p.items + items_offset;
    return p.intersection ? items_of_intersection : items_unknown;
}

void read_items(base::reader& in, header& h) {
    const std::uint64_t items = in.varint();
    if (items >= items_offset) h.provenance.items = items - items_offset;
    h.provenance.intersection = items == items_of_intersection;
    if (!h.has_geometry() && items != items_unknown)
        in.fail("a number of items where the payload has its own");
    if (h.kind == kind::counting && !h.provenance.items)
        in.fail("a counting filter that does not know its number of items");
}

void read_plan(base::reader& in, header& h) {
    const std::uint64_t items = in.varint();
    if (items == 0) return;
    h.provenance.planned = promise{items, std::bit_cast<double>(in.number<std::uint64_t>())};
    if (!h.provenance.planned->valid()) in.fail("a planned rate that does not lie between 0 and 1");
}

// Can a message of this kind have this codec?
bool allowed(const header& h) {
    if (h.kind == kind::queryable) return is_member(h.form);
    if (h.kind == kind::counting) return h.codec == codec_id::raw || h.codec == codec_id::counters;
    return h.has_geometry() ? h.codec <= codec_id::gaps : h.codec == codec_id::raw;
}

// A coding is no larger than the array with its padding. A queryable form may be larger if the array is too
// dense for it, but not larger than a list of 40-bit positions.
std::uint64_t largest_payload(const header& h) {
    if (!h.has_geometry()) return std::uint64_t{1} << 44;
    return h.kind == kind::queryable ? 40 * h.array_bytes() + 4096 : h.array_bytes() + raw_alignment;
}

}  // namespace

std::uint64_t padding_of_raw(header h, std::uint64_t array_bytes) {
    h.payload_size = array_bytes;
    h.codec = codec_id::raw;
    const std::size_t padded = encode(h).size();
    h.codec = codec_id::range;
    return padded - encode(h).size();
}

std::vector<std::byte> encode(const header& h) {
    std::vector<std::byte> bytes(magic.begin(), magic.end());
    bytes.push_back(version);
    bytes.push_back(static_cast<std::byte>(h.kind));
    bytes.push_back(h.kind == kind::queryable ? static_cast<std::byte>(h.form)
                                              : static_cast<std::byte>(h.codec));
    bytes.push_back({});  // the header's length, below
    bytes.push_back(static_cast<std::byte>(h.geometry.layout));
    bytes.push_back(static_cast<std::byte>(h.geometry.hash));
    bytes.push_back(static_cast<std::byte>(h.geometry.hashes));
    for (const std::uint64_t number :
         {h.geometry.bits, h.geometry.seed.low, h.geometry.seed.high, items_field(h.provenance),
          std::uint64_t{h.counter_bits}, h.generation}) {
        base::put_varint(bytes, number);
    }
    if (h.kind == kind::delta) {
        base::put_varint(bytes, h.base_generation);
        base::put_little(bytes, h.base_checksum);
    }
    if (h.has_plan()) {
        const auto& planned = h.provenance.planned;
        base::put_varint(bytes, planned ? planned->items : 0);
        if (planned) base::put_little(bytes, std::bit_cast<std::uint64_t>(planned->rate));
    }
    base::put_varint(bytes, h.payload_size);
    if (h.raw()) bytes.resize((bytes.size() + raw_alignment - 1) / raw_alignment * raw_alignment);
    bytes[7] = static_cast<std::byte>(bytes.size());
    return bytes;
}

result<std::size_t> header_size(byte_view prefix) {
    const std::size_t there = std::min(prefix.size(), magic.size());
    if (!std::equal(magic.begin(), magic.begin() + static_cast<std::ptrdiff_t>(there), prefix.begin())) {
        return error::damaged("not a Posy message (it does not start with \"POSY\")", 0);
    }
    if (prefix.size() < prefix_size)
        return error::damaged("the message is cut off in its header; get it again", prefix.size());
    if (prefix[4] != version) {
        return error::unsupported(
            "message format version " + std::to_string(std::to_integer<int>(prefix[4])) +
                "; this Posy reads version 1" + (prefix[4] > version ? ": use a newer one" : ""),
            4);
    }
    const auto size = std::to_integer<std::size_t>(prefix[7]);
    if (size < prefix_size + 3)
        return error::damaged("a header length of " + std::to_string(size) + " is too short", 7);
    return size;
}

result<header> decode(byte_view bytes) {
    base::reader in(bytes);
    in.take(kind_offset);
    header h;
    h.kind = static_cast<frame::kind>(in.byte());
    if (!is_member(h.kind)) in.fail_unsupported("an unknown kind of message");
    const std::uint8_t codec = in.byte();
    h.codec = static_cast<codec_id>(codec);
    h.form = static_cast<queryable_form>(codec);
    if (!allowed(h)) {
        const bool known = h.kind == kind::queryable ? is_member(h.form) : is_member(h.codec);
        known ? in.fail("a codec of another kind of message") : in.fail_unsupported("an unknown codec");
    }
    in.byte();
    h.geometry.layout = static_cast<layout_id>(in.byte());
    h.geometry.hash = static_cast<hash_family>(in.byte());
    h.geometry.hashes = in.byte();
    h.geometry.bits = in.varint();
    if (h.geometry.bits > max_bits)
        in.fail(std::to_string(h.geometry.bits) + " bits, above the limit of 2^40");
    h.geometry.seed.low = in.varint();
    h.geometry.seed.high = in.varint();
    if (!in.wrong()) {
        geometry checked = h.geometry;
        if (!h.has_geometry()) {
            if (checked.bits != 0 || checked.hashes != 0 || checked.layout != layout_id{})
                in.fail("a geometry where there is none", geometry_offset);
            checked.bits = 512, checked.hashes = 1, checked.layout = layout_id::blocked;
        }
        if (auto valid = check(checked); !valid) in.fail_as(valid.error(), geometry_offset);
    }
    read_items(in, h);
    const std::uint64_t counter_bits = in.varint();
    if (h.kind == kind::counting ? counter_bits != 4 && counter_bits != 8 : counter_bits != 0) {
        in.fail("counters of " + std::to_string(counter_bits) + " bits");
    }
    h.counter_bits = static_cast<unsigned>(counter_bits);
    h.generation = in.varint();
    if (h.kind == kind::delta) {
        h.base_generation = in.varint();
        h.base_checksum = in.number<std::uint32_t>();
    }
    if (h.has_plan()) read_plan(in, h);
    h.payload_size = in.varint();
    if (!in.wrong() && (h.raw() ? h.payload_size != h.array_bytes() : h.payload_size > largest_payload(h))) {
        in.fail("a payload of " + std::to_string(h.payload_size) + " bytes where the array has " +
                std::to_string(h.array_bytes()));
    }
    if (in.wrong()) return *in.wrong();
    // There is one way to write a header: no more padding than the codec asks for, all zero.
    const auto canonical = encode(h);
    if (!std::ranges::equal(canonical, bytes)) {
        const auto [ours, theirs] = std::ranges::mismatch(canonical, bytes);
        return error::damaged(
            "a header with other padding than its codec asks for; the bytes are damaged or from another "
            "program",
            static_cast<std::uint64_t>(theirs - bytes.begin()));
    }
    return h;
}

}  // namespace posy::frame
