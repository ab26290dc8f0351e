#include "posy/envelope.hpp"

#include <array>
#include <string>

#include "base/reader.hpp"

namespace posy::reconcile {
void envelope::append_to(std::vector<std::byte>& out) const {
    out.push_back(static_cast<std::byte>(kind_));
    out.insert(out.end(), payload_.begin(), payload_.end());
}

result<envelope> envelope::parse(const hasher& hash, byte_view bytes, const read_limits& limits) {
    if (bytes.empty()) return error::damaged("a reconciliation message that does not say what it is", 0);
    const auto what = static_cast<reconcile::kind>(bytes[0]);
    if (!is_member(what))
        return error::unsupported("an unknown kind of reconciliation message; use a newer Posy", 0);
    if (bytes.size() > limits.max_bytes)
        return base::above_limit("a reconciliation message of", bytes.size(), limits.max_bytes, 0);
    return envelope(what, hash, bytes.subspan(1));
}

}  // namespace posy::reconcile
