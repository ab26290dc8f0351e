#include "posy/shared_filters.hpp"

#include "posy/message.hpp"

namespace posy {

shared_filters::key shared_filters::key_of(byte_view message, std::optional<edition> base) {
    const digest d = hasher()(message);
    const edition from = base.value_or(edition{});
    return {d.low, d.high, from.generation, from.checksum};
}

shared_filters::filter shared_filters::find(byte_view message, std::optional<edition> base) const {
    const auto found = decoded_.find(key_of(message, base));
    return found == decoded_.end() ? nullptr : found->second.lock();
}

void shared_filters::keep(byte_view message, std::optional<edition> base, const filter& made) {
    decoded_[key_of(message, base)] = made;
    sweep();
}

std::shared_ptr<const std::vector<std::byte>> shared_filters::whole(const filter& of,
                                                                    std::uint64_t generation) {
    encoded& kept = encoded_[of.get()];
    // The address may be that of a filter that is gone.
    if (!kept.message || kept.filter.lock() != of || kept.generation != generation) {
        const packing how{.want = coding::smallest, .generation = generation};
        kept = {of, generation, std::make_shared<const std::vector<std::byte>>(to_bytes(*of, how))};
    }
    auto message = kept.message;
    sweep();
    return message;
}

void shared_filters::sweep() {
    if (decoded_.size() + encoded_.size() < sweep_at_) return;
    std::erase_if(decoded_, [](const auto& entry) { return entry.second.expired(); });
    std::erase_if(encoded_, [](const auto& entry) { return entry.second.filter.expired(); });
    sweep_at_ = std::max<std::size_t>(1024, 2 * (decoded_.size() + encoded_.size()));
}

}  // namespace posy
