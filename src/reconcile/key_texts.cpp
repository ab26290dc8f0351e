#include "reconcile/key_texts.hpp"

#include "payload.hpp"

namespace posy::reconcile {

void key_texts::append_to(std::vector<std::byte>& out) const {
    base::put_varint(out, texts.size());
    for (const std::string& text : texts) {
        base::put_varint(out, text.size());
        const byte_view bytes = as_byte_view(text);
        out.insert(out.end(), bytes.begin(), bytes.end());
    }
}

result<key_texts> key_texts::parse(const hasher&, byte_view bytes, const read_limits& limits) {
    payload_reader in(bytes);
    key_texts keys;
    const std::uint64_t count = in.count(1, sizeof(std::string), limits);
    keys.texts.reserve(count);
    for (std::uint64_t i = 0; i < count && !in.wrong(); ++i) {
        const byte_view text = in.take(in.varint());
        keys.texts.emplace_back(reinterpret_cast<const char*>(text.data()), text.size());
    }
    if (auto wrong = in.finish()) return *wrong;
    return keys;
}

}  // namespace posy::reconcile
