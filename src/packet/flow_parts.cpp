#include "posy/packet/flow_parts.hpp"

#include <algorithm>
#include <charconv>
#include <optional>

namespace posy::packets {

namespace {
struct known_part {
    std::string_view name;
    std::size_t at;
    unsigned bits_4, bits_6;
    bool address() const { return bits_4 != bits_6; }
};
constexpr std::array known_parts{
    known_part{"src", flow_key::source, 32, 128}, known_part{"dst", flow_key::destination, 32, 128},
    known_part{"sport", flow_key::source_port, 16, 16},
    known_part{"dport", flow_key::destination_port, 16, 16}, known_part{"proto", flow_key::protocol, 8, 8}};

void set_bits(flow_key& mask, std::size_t at, unsigned bits) {
    for (; bits >= 8; bits -= 8) mask.data()[at++] = std::byte{0xff};
    if (bits > 0) mask.data()[at] = static_cast<std::byte>(0xff00 >> bits);
}

std::optional<unsigned> length_of(std::string_view text, unsigned most) {
    unsigned bits = 0;
    const auto [end, wrong] = std::from_chars(text.data(), text.data() + text.size(), bits);
    if (wrong != std::errc{} || end != text.data() + text.size() || bits > most) return std::nullopt;
    return bits;
}

// What is before the first separator; the rest stays in `text`.
std::string_view cut(std::string_view& text, char separator) {
    const auto end = std::min(text.find(separator), text.size());
    const auto first = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    return first;
}
}  // namespace

result<flow_parts> flow_parts::parse(std::string_view text) {
    if (text == "flow") text = "src,dst,sport,dport,proto";
    flow_parts parts;
    if (text.empty() || text.back() == ',') return error::invalid("a list of parts that lacks one");
    while (!text.empty())
        if (auto added = parts.add(cut(text, ',')); !added) return added.error();
    return parts;
}

result<void> flow_parts::add(std::string_view text) {
    const std::string whole(text);
    const bool cut_off = text.find('/') != text.npos;
    const std::string_view name = cut(text, '/');
    const auto known = std::ranges::find(known_parts, name, &known_part::name);
    if (known == known_parts.end())
        return error::invalid(
            "'" + whole +
            "' is no part of a flow; there are src, dst, sport, dport and proto, or flow for all");
    if (asks_for(known->at)) return error::invalid("'" + std::string(name) + "' is asked for twice");
    part p{known->at, known->bits_4, known->bits_6};
    if (cut_off) {
        if (!known->address()) return error::invalid("'" + whole + "': only src and dst have prefixes");
        const auto first = length_of(cut(text, '/'), 32);
        const auto second =
            text.empty() && first ? std::optional(std::min(2 * *first, 128U)) : length_of(text, 128);
        if (!first || !second || whole.back() == '/')
            return error::invalid(
                "'" + whole + "': a prefix has at most 32 bits of IPv4, and 128 of IPv6 after a second /");
        p.bits_4 = *first;
        p.bits_6 = *second;
    }
    set_bits(mask_4_, p.at, p.bits_4);
    set_bits(mask_6_, p.at, p.bits_6);
    if (known->address()) {
        set_bits(mask_4_, flow_key::version, 8);
        set_bits(mask_6_, flow_key::version, 8);
    }
    parts_.push_back(p);
    names_.push_back(whole);
    return {};
}

bool flow_parts::asks_for(std::size_t at) const {
    return std::ranges::find(parts_, at, &part::at) != parts_.end();
}

bool flow_parts::only_addresses() const {
    return std::ranges::all_of(parts_, [](const part& p) { return p.at < flow_key::source_port; });
}

std::vector<std::string> flow_parts::texts(const flow_key& key) const {
    std::vector<std::string> all;
    for (const part& p : parts_) {
        if (p.at == flow_key::protocol) {
            all.push_back(protocol_text(key.byte(p.at)));
        } else if (p.at == flow_key::source_port || p.at == flow_key::destination_port) {
            all.push_back(std::to_string(key.pair(p.at)));
        } else {
            const bool six = key.byte(flow_key::version) == 6;
            const unsigned bits = six ? p.bits_6 : p.bits_4;
            const bool prefix = bits < (six ? 128U : 32U);
            all.push_back(address_text(key, p.at) + (prefix ? "/" + std::to_string(bits) : ""));
        }
    }
    return all;
}

}  // namespace posy::packets
