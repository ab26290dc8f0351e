#include "gossip_wire.hpp"

#include "base/reader.hpp"
#include "base/varint.hpp"

namespace posy::overlay::gossip {
namespace {

using base::put_little;
using base::put_varint;
using base::reader;
using bytes = std::vector<std::byte>;

constexpr std::size_t least_version = 11, least_item = 9, least_record = least_version + 2;

// ---- Writing -------------------------------------------------------------------------------------------

void put(bytes& to, const member_version& v) {
    put_little(to, v.id);
    put_little(to, static_cast<std::uint8_t>(v.status));
    put_varint(to, v.incarnation);
    put_varint(to, v.generation);
}

void put(bytes& to, const std::vector<member_version>& list) {
    put_varint(to, list.size());
    for (const member_version& v : list) put(to, v);
}

void put(bytes& to, const want::item& item) {
    put_little(to, item.id);
    put_little(to, static_cast<std::uint8_t>(item.held.has_value()));
    if (!item.held) return;
    put_varint(to, item.held->generation);
    put_little(to, item.held->checksum);
}

void put(bytes& to, byte_view part) {
    put_varint(to, part.size());
    to.insert(to.end(), part.begin(), part.end());
}

void put(bytes& to, const record& r) {
    put(to, r.version);
    put(to, as_byte_view(r.address));
    put_varint(to, r.messages.size());
    for (const byte_view m : r.messages) put(to, m);
}

void put(bytes& to, const std::vector<bool>& flags) {
    put_varint(to, flags.size());
    for (std::size_t first = 0; first < flags.size(); first += 8) {
        unsigned octet = 0;
        for (std::size_t i = first; i < std::min(first + 8, flags.size()); ++i)
            octet |= static_cast<unsigned>(flags[i]) << (i - first);
        put_little(to, static_cast<std::uint8_t>(octet));
    }
}

void put_body(bytes& to, const greeting& g) {
    put_varint(to, g.nonce);
    put_little(to, static_cast<std::uint8_t>(g.hash.has_value()));
    if (g.hash) put_little(to, *g.hash);
    put(to, g.news);
}
void put_body(bytes& to, const reply& r) {
    put_varint(to, r.nonce);
    put_little(to, static_cast<std::uint8_t>(r.equal));
    put(to, r.known);
    put(to, r.news);
}
void put_body(bytes& to, const want& w) {
    put_varint(to, w.items.size());
    for (const auto& item : w.items) put(to, item);
}
void put_body(bytes& to, const records& r) {
    put_varint(to, r.list.size());
    for (const record& each : r.list) put(to, each);
}
void put_body(bytes& to, const parts& p) {
    for (const std::uint64_t hash : p.hashes) put_little(to, hash);
}
void put_body(bytes& to, const versions& v) {
    put_little(to, v.mask);
    put(to, v.list);
}

// ---- Reading -------------------------------------------------------------------------------------------

// How many parts of at least this size follow: never more than the bytes that are left can hold.
std::size_t count_of(reader& in, std::size_t least_size) { return in.varint(in.left() / least_size); }

member_version read_version(reader& in) {
    member_version v;
    v.id = in.number<std::uint64_t>();
    const std::uint8_t status = in.byte();
    if (status > static_cast<std::uint8_t>(standing::left)) in.fail("a standing that does not exist");
    v.status = static_cast<standing>(status);
    v.incarnation = in.varint(max_number);
    v.generation = in.varint(max_number);
    return v;
}

std::vector<member_version> read_versions(reader& in, std::uint64_t most) {
    const std::size_t count = count_of(in, least_version);
    if (count > most) in.fail("more versions than a message may have");
    std::vector<member_version> list;
    for (std::size_t i = 0; i < count && !in.wrong(); ++i) list.push_back(read_version(in));
    return list;
}

bool read_flag(reader& in) {
    const std::uint8_t flag = in.byte();
    if (flag > 1) in.fail("a flag that is neither 0 nor 1");
    return flag == 1;
}

message read_greeting(reader& in, const gossip_settings& how) {
    greeting g;
    g.nonce = in.varint();
    if (read_flag(in)) g.hash = in.number<std::uint64_t>();
    g.news = read_versions(in, how.max_news + 1);
    return g;
}

message read_reply(reader& in, const gossip_settings& how) {
    reply r;
    r.nonce = in.varint();
    r.equal = read_flag(in);
    const std::uint64_t flags = in.varint(how.max_news + 1);
    const byte_view octets = in.take((flags + 7) / 8);
    for (std::uint64_t i = 0; i < flags && !octets.empty(); ++i)
        r.known.push_back((std::to_integer<unsigned>(octets[i / 8]) >> i % 8 & 1) != 0);
    // Besides its own news, what it knows better than the greeting.
    r.news = read_versions(in, 2 * how.max_news + 2);
    return r;
}

message read_want(reader& in, const gossip_settings& how) {
    want w;
    const std::size_t count = count_of(in, least_item);
    if (count > how.max_members) in.fail("more members than there may be");
    for (std::size_t i = 0; i < count && !in.wrong(); ++i) {
        want::item item{in.number<std::uint64_t>(), std::nullopt};
        if (read_flag(in)) {
            const std::uint64_t generation = in.varint();
            item.held = edition{generation, in.number<std::uint32_t>()};
        }
        w.items.push_back(item);
    }
    return w;
}

record read_record(reader& in, const gossip_settings& how) {
    record r{read_version(in), {}, {}};
    const byte_view address = in.take(in.varint(how.max_address));
    for (const std::byte b : address) r.address.push_back(static_cast<char>(b));
    const std::size_t count = count_of(in, 1);
    for (std::size_t i = 0; i < count && !in.wrong(); ++i) r.messages.push_back(in.take(in.varint()));
    return r;
}

message read_records(reader& in, const gossip_settings& how) {
    records list;
    const std::size_t count = count_of(in, least_record);
    if (count > how.max_members) in.fail("more members than there may be");
    for (std::size_t i = 0; i < count && !in.wrong(); ++i) list.list.push_back(read_record(in, how));
    return list;
}

message read_parts(reader& in) {
    parts p;
    for (std::uint64_t& hash : p.hashes) hash = in.number<std::uint64_t>();
    return p;
}

message read_listing(reader& in, const gossip_settings& how) {
    versions v;
    v.mask = in.number<std::uint32_t>();
    v.list = read_versions(in, how.max_members);
    return v;
}

message read_body(reader& in, kind what, const gossip_settings& how) {
    switch (what) {
        case kind::greeting:
            return read_greeting(in, how);
        case kind::reply:
            return read_reply(in, how);
        case kind::want:
            return read_want(in, how);
        case kind::records:
            return read_records(in, how);
        case kind::parts:
            return read_parts(in);
        case kind::versions:
            return read_listing(in, how);
    }
    in.fail_unsupported("a message of an unknown kind");
    return greeting{};
}

}  // namespace

std::vector<std::byte> write(const message& m) {
    bytes to;
    put_little(to, static_cast<std::uint8_t>(static_cast<std::size_t>(kind::greeting) + m.index()));
    std::visit([&](const auto& body) { put_body(to, body); }, m);
    return to;
}

result<message> read(byte_view from, const gossip_settings& how) {
    if (from.size() > how.max_message) return error::too_large("a message above the limit of this mesh");
    reader in(from);
    const auto what = static_cast<kind>(in.byte());
    message m = read_body(in, what, how);
    if (in.finish()) return *in.wrong();
    return m;
}

}  // namespace posy::overlay::gossip
