#include "dns_message.hpp"

#include <ares.h>
#include <netinet/in.h>

#include <array>
#include <cstring>
#include <memory>

namespace posy::http {

namespace {

constexpr int most_addresses = 16;  // of one kind; whoever owns a name chooses how many it has
constexpr std::size_t head_size = 12;

// Walks over the parts of a message. What goes beyond its end is a zero, and it is over.
class message_walk {
  public:
    explicit message_walk(std::span<const unsigned char> all) : all_(all), at_(head_size) {}

    bool over() const { return at_ > all_.size(); }
    void skip(std::size_t bytes) { at_ += bytes; }
    std::uint32_t number(std::size_t bytes) {
        std::uint32_t value = 0;
        for (std::size_t i = 0; i < bytes; ++i, ++at_)
            value = value << 8 | (at_ < all_.size() ? all_[at_] : 0);
        return value;
    }
    void name() {
        char* text = nullptr;
        long length = 0;
        const bool good = at_ < all_.size() &&
                          ares_expand_name(all_.data() + at_, all_.data(), static_cast<int>(all_.size()),
                                           &text, &length) == ARES_SUCCESS;
        if (!good) {
            at_ = all_.size() + 1;
            return;
        }
        ares_free_string(text);
        at_ += static_cast<std::size_t>(length);
    }

  private:
    std::span<const unsigned char> all_;
    std::size_t at_;
};

template <class Row, class Parse, class Make>
name_answer read_rows(std::span<const unsigned char> message, Parse parse, Make make) {
    std::array<Row, most_addresses> rows{};
    int count = most_addresses;
    name_answer said;
    const int status = parse(message.data(), static_cast<int>(message.size()), nullptr, rows.data(), &count);
    if (status != ARES_SUCCESS && status != ARES_ENODATA) return {{}, {}, false};
    for (int i = 0; status == ARES_SUCCESS && i < count; ++i) {
        const auto& row = rows[static_cast<std::size_t>(i)];
        said.addresses.push_back(make(row));
        const std::chrono::seconds lifetime(std::max(row.ttl, 0));
        said.lifetime = std::min(said.lifetime.value_or(lifetime), lifetime);
    }
    if (said.addresses.empty()) said.lifetime = negative_lifetime(message);
    return said;
}

}  // namespace

std::optional<std::chrono::seconds> negative_lifetime(std::span<const unsigned char> message) {
    if (message.size() < head_size) return std::nullopt;
    const auto count = [&](std::size_t at) { return message[at] << 8 | message[at + 1]; };
    message_walk walk(message);
    for (int i = 0; i < count(4) && !walk.over(); ++i) {
        walk.name();
        walk.skip(4);
    }
    for (int i = 0; i < count(6) + count(8) && !walk.over(); ++i) {
        constexpr std::uint32_t start_of_authority = 6;
        walk.name();
        const auto type = walk.number(2);
        walk.skip(2);
        const auto lifetime = walk.number(4);
        const auto length = walk.number(2);
        if (type != start_of_authority || i < count(6)) {
            walk.skip(length);
            continue;
        }
        walk.name();
        walk.name();
        walk.skip(16);
        const auto minimum = walk.number(4);
        if (walk.over()) return std::nullopt;
        return std::chrono::seconds(std::min(lifetime, minimum));
    }
    return std::nullopt;
}

name_answer read_answer(record wanted, int status, std::span<const unsigned char> message) {
    if (status == ARES_ENOTFOUND || status == ARES_ENODATA) return {{}, negative_lifetime(message)};
    if (status == ARES_EBADNAME) return {};
    if (status != ARES_SUCCESS) return {{}, {}, false};
    namespace ip = boost::asio::ip;
    if (wanted == record::v4)
        return read_rows<ares_addrttl>(message, ares_parse_a_reply, [](const ares_addrttl& row) {
            return ip::address(ip::address_v4(ntohl(row.ipaddr.s_addr)));
        });
    return read_rows<ares_addr6ttl>(message, ares_parse_aaaa_reply, [](const ares_addr6ttl& row) {
        ip::address_v6::bytes_type bytes;
        std::memcpy(bytes.data(), &row.ip6addr, bytes.size());
        return ip::address(ip::address_v6(bytes));
    });
}

}  // namespace posy::http
