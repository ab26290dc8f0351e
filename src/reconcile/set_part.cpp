#include "set_part.hpp"

#include "payload.hpp"

namespace posy::reconcile {

set_part set_part::of(const digest_set& set, std::uint64_t first, std::uint64_t end) {
    const auto some = set.elements().subspan(first, end - first);
    return {set.hash(), set.width(), set.size(), first, {some.begin(), some.end()}};
}

void set_part::append_to(std::vector<std::byte>& out) const {
    out.push_back(static_cast<std::byte>(width));
    base::put_varint(out, items);
    base::put_varint(out, first);
    base::put_varint(out, elements.size());
    out.reserve(out.size() + elements.size() * bytes_of(width));
    for (const digest& d : elements) put_digest(out, d, width);
}

result<set_part> set_part::parse(const hasher& hash, byte_view bytes, const read_limits& limits) {
    payload_reader in(bytes);
    set_part part{hash, in.width(), 0, 0, {}};
    part.items = in.items();
    part.first = in.varint();
    if (part.first > part.items) in.fail("a part of a list that begins behind its end");
    const std::uint64_t count = in.count(bytes_of(part.width), sizeof(digest), limits);
    if (count > part.items - part.first) in.fail("a part of a list that is longer than the list");
    part.elements.reserve(in.wrong() ? 0 : count);
    for (std::uint64_t i = 0; i < count && !in.wrong(); ++i) {
        const digest next = in.element(part.width);
        if (i > 0 && !ascending{}(part.elements.back(), next))
            in.fail("digests that are not in ascending order, or one that comes twice");
        part.elements.push_back(next);
    }
    if (auto wrong = in.finish()) return *wrong;
    return part;
}

}  // namespace posy::reconcile
