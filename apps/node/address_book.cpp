#include "address_book.hpp"

#include <openssl/sha.h>

#include <array>

#include "http/message.hpp"
#include "posy/overlay/letter_batch.hpp"

namespace posy::node {

overlay::node_id node_at(std::string_view address) {
    std::array<unsigned char, SHA256_DIGEST_LENGTH> sum{};
    SHA256(reinterpret_cast<const unsigned char*>(address.data()), address.size(), sum.data());
    return load_little<overlay::node_id>(reinterpret_cast<const std::byte*>(sum.data()));
}

std::optional<std::string> canonical_address(std::string_view url) {
    if (url.size() > overlay::batch_limits::longest_address) return std::nullopt;
    const auto parsed = http::parse_url(url);
    if (!parsed || parsed->path != "/" || parsed->authority.port == 0) return std::nullopt;
    std::string address = (parsed->secure ? "https://" : "http://") + parsed->authority.text();
    for (char& c : address)
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    if (address.size() > overlay::batch_limits::longest_address) return std::nullopt;
    return address;
}

overlay::node_id address_book::keep(const std::string& address) {
    const auto number = node_at(address);
    kept_.emplace(number, address);
    return number;
}

std::optional<overlay::node_id> address_book::learn(std::string_view address) {
    if (canonical_address(address) != address) return std::nullopt;
    const auto number = node_at(address);
    if (find(number) != nullptr) return number;
    if (learnt_.size() >= most_) {
        learnt_.erase(recent_.back().number);
        recent_.pop_back();
    }
    recent_.push_front({number, std::string(address)});
    learnt_[number] = recent_.begin();
    return number;
}

const std::string* address_book::find(overlay::node_id number) {
    if (const auto kept = kept_.find(number); kept != kept_.end()) return &kept->second;
    const auto found = learnt_.find(number);
    if (found == learnt_.end()) return nullptr;
    recent_.splice(recent_.begin(), recent_, found->second);
    return &found->second->address;
}

}  // namespace posy::node
