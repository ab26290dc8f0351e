#include "overlay/geographic_mail.hpp"

#include <limits>

#include "base/varint.hpp"

namespace posy::overlay::geographic_mail {
namespace {

using base::put_varint;
using base::reader;

enum class record_kind : std::uint8_t { change = 1, move = 2 };

std::vector<std::byte> begin(kind k) { return {static_cast<std::byte>(k)}; }

void put(std::vector<std::byte>& to, square s) {
    put_varint(to, s.level);
    put_varint(to, s.x);
    put_varint(to, s.y);
}

square read_square(reader& from, unsigned levels) {
    const auto number = [&] {
        return static_cast<std::uint32_t>(from.varint(std::numeric_limits<std::uint32_t>::max()));
    };
    square s;
    s.level = static_cast<unsigned>(from.varint(levels));
    s.x = number();
    s.y = number();
    if (!lies_in(s, levels)) from.fail("a square outside of the field");
    return s;
}

node_id read_station(reader& from, unsigned levels) {
    const node_id station = from.varint((node_id{1} << 2 * most_levels) - 1);
    if (!lies_in(cell_of(station), levels)) from.fail("a station outside of the field");
    return station;
}

template <class Value>
std::optional<Value> finished(reader& from, Value value) {
    return from.finish() ? std::nullopt : std::optional(std::move(value));
}

record read_record(reader& from, unsigned levels) {
    const auto what = from.byte();
    const std::uint64_t host = from.varint();
    if (what == static_cast<std::uint8_t>(record_kind::change)) {
        const auto changing = static_cast<unsigned>(from.varint(levels));
        return change{host, changing, from.varint(1) == 1};
    }
    if (what != static_cast<std::uint8_t>(record_kind::move)) from.fail("a record of an unknown kind");
    return move{host, from.varint()};
}

}  // namespace

std::vector<std::byte> bytes_of(const record& r) {
    std::vector<std::byte> to;
    if (const auto* c = std::get_if<change>(&r)) {
        to.push_back(static_cast<std::byte>(record_kind::change));
        for (const std::uint64_t field : {c->host, std::uint64_t{c->levels}, std::uint64_t{c->came}})
            put_varint(to, field);
    } else {
        const auto& m = std::get<move>(r);
        to.push_back(static_cast<std::byte>(record_kind::move));
        for (const std::uint64_t field : {m.host, m.moves}) put_varint(to, field);
    }
    return to;
}

std::vector<std::byte> bytes_of(const search& s) {
    std::vector<std::byte> to = begin(kind::search);
    for (const std::uint64_t field :
         {s.ticket, s.origin, s.host, s.forwards, s.distance, std::uint64_t{s.next.size()}})
        put_varint(to, field);
    for (const square each : s.next) put(to, each);
    return to;
}

std::vector<std::byte> bytes_of(const call& c) {
    std::vector<std::byte> to = begin(kind::call);
    for (const std::uint64_t field : {c.ticket, c.origin, c.host}) put_varint(to, field);
    put(to, c.region);
    return to;
}

std::vector<std::byte> bytes_of(const answer& a) {
    std::vector<std::byte> to = begin(kind::answer);
    for (const std::uint64_t field : {a.ticket, a.host, a.at ? *a.at + 1 : 0, a.forwards, a.distance})
        put_varint(to, field);
    return to;
}

std::vector<std::byte> bytes_of_summary(square s, byte_view message) {
    std::vector<std::byte> to = begin(kind::summary);
    put(to, s);
    to.insert(to.end(), message.begin(), message.end());
    return to;
}

std::vector<std::byte> bytes_of_want(square s) {
    std::vector<std::byte> to = begin(kind::want);
    put(to, s);
    return to;
}

std::optional<std::vector<record>> read_records(byte_view bytes, unsigned levels) {
    reader from(bytes);
    std::vector<record> all;
    while (from.left() > 0 && !from.wrong()) all.push_back(read_record(from, levels));
    return finished(from, std::move(all));
}

std::optional<search> read_search(byte_view bytes, unsigned levels) {
    reader from(bytes);
    search s;
    s.ticket = from.varint();
    s.origin = read_station(from, levels);
    s.host = from.varint();
    s.forwards = from.varint();
    s.distance = from.varint();
    const auto count = from.varint(most_squares(levels));
    for (std::uint64_t i = 0; i < count && !from.wrong(); ++i) s.next.push_back(read_square(from, levels));
    return finished(from, std::move(s));
}

std::optional<call> read_call(byte_view bytes, unsigned levels) {
    reader from(bytes);
    call c;
    c.ticket = from.varint();
    c.origin = read_station(from, levels);
    c.host = from.varint();
    c.region = read_square(from, levels);
    return finished(from, c);
}

std::optional<answer> read_answer(byte_view bytes, unsigned levels) {
    reader from(bytes);
    answer a;
    a.ticket = from.varint();
    a.host = from.varint();
    if (const auto at = from.varint(node_id{1} << 2 * most_levels)) {
        a.at = at - 1;
        if (!lies_in(cell_of(*a.at), levels)) from.fail("a station outside of the field");
    }
    a.forwards = from.varint();
    a.distance = from.varint();
    return finished(from, a);
}

std::optional<square> read_want(byte_view bytes, unsigned levels) {
    reader from(bytes);
    const square s = read_square(from, levels);
    return finished(from, s);
}

std::optional<summary> read_summary(byte_view bytes, unsigned levels) {
    reader from(bytes);
    const square s = read_square(from, levels);
    const byte_view message = from.rest();
    return finished(from, summary{s, message});
}

}  // namespace posy::overlay::geographic_mail
