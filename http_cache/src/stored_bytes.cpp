#include "posy/http_cache/stored_bytes.hpp"

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include "base/reader.hpp"
#include "base/varint.hpp"

namespace posy::http_cache {

namespace {

constexpr std::uint32_t magic = 0x43595350;  // "PSYC"
constexpr std::uint32_t version = 1;
constexpr std::size_t body_checksum_at = 24;
constexpr std::size_t head_checksum_at = 32;
constexpr unsigned most_status = 999;

class writer {
  public:
    template <class Unsigned>
    void number(Unsigned value) {
        bytes_.resize(bytes_.size() + sizeof value);
        store_little(bytes_.data() + bytes_.size() - sizeof value, value);
    }
    void varint(std::uint64_t value) { base::put_varint(bytes_, value); }
    void text(std::string_view text) {
        varint(text.size());
        const auto bytes = as_byte_view(text);
        bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
    }
    byte_view bytes() const { return bytes_; }

  private:
    std::vector<std::byte> bytes_;
};

std::string_view as_text(byte_view bytes) {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::uint64_t checksum(byte_view bytes) { return hasher()(bytes).low; }

// The checksum of a prefix and a head that stand one behind the other, the checksum's own place left out.
std::uint64_t head_checksum(byte_view prefix_and_head) {
    std::string covered(as_text(prefix_and_head.first(head_checksum_at)));
    covered += as_text(prefix_and_head.subspan(stored_prefix_size));
    return checksum(as_byte_view(covered));
}

std::string text_from(base::reader& from) {
    return std::string(as_text(from.take(from.varint(most_stored_head))));
}

label label_from(base::reader& from) {
    label made;
    made.url = text_from(from);
    // A count is believed as far as there are bytes: every name takes one.
    for (auto names = from.varint(from.left()); names > 0 && !from.wrong(); --names) {
        made.variant.names.push_back(text_from(from));
    }
    made.variant.key = text_from(from);
    made.received = static_cast<seconds>(from.number<std::uint64_t>());
    return made;
}

response_head head_from(base::reader& from) {
    response_head made;
    made.status = static_cast<unsigned>(from.varint(most_status));
    made.reason = text_from(from);
    for (auto count = from.varint(from.left()); count > 0 && !from.wrong(); --count) {
        auto name = text_from(from);
        made.fields.add(name, text_from(from));
    }
    return made;
}

// The head's bytes, when the prefix and the head are whole.
result<byte_view> checked_head(byte_view bytes, const stored_sizes& sizes) {
    if (bytes.size() < stored_prefix_size + sizes.head)
        return error::damaged("the head is cut off", bytes.size());
    bytes = bytes.first(stored_prefix_size + sizes.head);
    if (load_little<std::uint64_t>(bytes.data() + head_checksum_at) != head_checksum(bytes)) {
        return error::damaged("the head's checksum does not fit: the file is damaged", head_checksum_at);
    }
    return bytes.subspan(stored_prefix_size);
}

}  // namespace

std::string head_bytes(const stored_response& from) {
    writer head;
    head.text(from.url);
    head.varint(from.variant.names.size());
    for (const auto& name : from.variant.names) head.text(name);
    head.text(from.variant.key);
    head.number(static_cast<std::uint64_t>(from.received));
    head.number(static_cast<std::uint64_t>(from.initial_age));
    head.varint(from.head.status);
    head.text(from.head.reason);
    head.varint(from.head.fields.size());
    for (const auto& field : from.head.fields) {
        head.text(field.name);
        head.text(field.value);
    }
    writer prefix;
    prefix.number(magic);
    prefix.number(version);
    prefix.number(std::uint64_t{head.bytes().size()});
    prefix.number(std::uint64_t{from.body->size()});
    prefix.number(checksum(as_byte_view(*from.body)));
    prefix.number(std::uint64_t{0});
    std::string all(as_text(prefix.bytes()));
    all += as_text(head.bytes());
    std::byte sum[8];
    store_little(sum, head_checksum(as_byte_view(all)));
    return all.replace(head_checksum_at, sizeof sum, as_text(sum));
}

result<stored_sizes> parse_sizes(byte_view prefix) {
    base::reader from(prefix.first(std::min(prefix.size(), stored_prefix_size)));
    if (from.number<std::uint32_t>() != magic) from.fail("not a stored response");
    if (from.number<std::uint32_t>() != version) from.fail("a stored response of another version");
    stored_sizes sizes;
    sizes.head = from.number<std::uint64_t>();
    if (sizes.head > most_stored_head) from.fail("a head of " + std::to_string(sizes.head) + " bytes");
    sizes.body = from.number<std::uint64_t>();
    if (sizes.body > most_stored_body) from.fail("a body of " + std::to_string(sizes.body) + " bytes");
    from.take(16);
    if (from.wrong()) return *from.wrong();
    return sizes;
}

result<label> parse_label(byte_view prefix_and_head) {
    const auto sizes = parse_sizes(prefix_and_head);
    if (!sizes) return sizes.error();
    const auto head = checked_head(prefix_and_head, *sizes);
    if (!head) return head.error();
    base::reader from(*head);
    auto made = label_from(from);
    if (from.wrong()) return from.wrong()->in_part_at(stored_prefix_size);
    made.size = sizes->total();
    return made;
}

result<stored> parse_stored(byte_view bytes) {
    const auto sizes = parse_sizes(bytes);
    if (!sizes) return sizes.error();
    const auto before = std::min<std::uint64_t>(bytes.size(), stored_prefix_size + sizes->head);
    return parse_stored(bytes.first(before),
                        std::make_shared<const std::string>(as_text(bytes.subspan(before))));
}

result<stored> parse_stored(byte_view prefix_and_head, std::shared_ptr<const std::string> body) {
    const auto sizes = parse_sizes(prefix_and_head);
    if (!sizes) return sizes.error();
    const auto head = checked_head(prefix_and_head, *sizes);
    if (!head) return head.error();
    base::reader from(*head);
    stored_response parts;
    static_cast<label&>(parts) = label_from(from);
    parts.initial_age = static_cast<seconds>(from.number<std::uint64_t>());
    parts.head = head_from(from);
    if (from.finish()) return from.finish()->in_part_at(stored_prefix_size);
    // The clock that dated it may have been ahead and set back before Date was compared with it. Whoever
    // starts with the right time would take it for younger than it is.
    parts.initial_age =
        std::max(parts.initial_age, initial_age(parts.head.fields, parts.received, parts.received));
    const auto before = prefix_and_head.size();
    if (body->size() != sizes->body)
        return error::damaged("the body is cut off, or more than the body", before + body->size());
    if (checksum(as_byte_view(*body)) !=
        load_little<std::uint64_t>(prefix_and_head.data() + body_checksum_at)) {
        return error::damaged("the body's checksum does not fit: the file is damaged", before);
    }
    parts.body = std::move(body);
    return completed(std::move(parts));
}

}  // namespace posy::http_cache
