#include "posy/subscriber.hpp"

#include "posy/shared_filters.hpp"
#include "reading.hpp"

namespace posy {

reception subscriber::receive(byte_view bytes, std::uint64_t now, sequence order) {
    const auto opened = open_frame(bytes);
    // The damaged message may have been a new generation.
    if (!opened) return refuse(reception::damaged, opened.error().text());
    if (opened->size != bytes.size()) return refuse(reception::damaged, std::string(several_messages));
    const auto judged = judge(*opened, order);
    const reception r = judged ? *judged : decode(*opened, bytes);
    if (r == reception::replaced || r == reception::updated || r == reception::duplicate) updated_at_ = now;
    return r;
}

read_limits subscriber::limits() const {
    return filter_ ? limits_.holding(filter_->bits().words().size_bytes()) : limits_;
}

std::optional<reception> subscriber::judge(const opened_frame& opened, sequence order) {
    const frame::header& h = opened.header;
    const bool delta = h.kind == frame::kind::delta;
    if (!delta && h.kind != frame::kind::filter) return refuse(reception::damaged, std::string(another_kind));
    if (filter_ && h.generation < generation_ && (delta || order == sequence::ascending))
        return reception::outdated;
    // After a wrong base the bits held under this generation are in doubt: a whole filter must replace them.
    if (filter_ && h.generation == generation_ && (delta || !whole_)) {
        wants_ = wants_ && delta;
        return reception::duplicate;
    }
    if (delta) {
        if (const auto other = judge_base(opened)) return other;
    }
    const std::uint64_t most = limits().most(opened.size);
    if (h.memory_bytes() <= most) return std::nullopt;
    return refuse(reception::too_large, "a summary of " + std::to_string(h.array_bytes()) +
                                            " bytes, above the limit of " + std::to_string(most));
}

std::optional<reception> subscriber::judge_base(const opened_frame& opened) {
    const frame::header& h = opened.header;
    if (!filter_ || h.base_generation != generation_) {
        wants_ = true;
        return reception::gap;
    }
    if (h.geometry == filter_->geometry() && h.base_checksum == checksum_) return std::nullopt;
    doubt();
    return reception::wrong_base;
}

reception subscriber::decode(const opened_frame& opened, byte_view message) {
    const bool delta = opened.header.kind == frame::kind::delta;
    const auto base = delta ? edition() : std::nullopt;
    auto filter = pool_ ? pool_->find(message, base) : nullptr;
    if (!filter) {
        auto made = decoded(opened);
        if (!made) return refuse(reception::damaged, made.error().text());
        filter = std::move(*made);
        if (pool_) pool_->keep(message, base, filter);
    }
    hold(std::move(filter), opened.header.generation);
    return delta ? reception::updated : reception::replaced;
}

// The present filter stays unchanged, because copies may use it: the flips become the new filter.
result<std::shared_ptr<const bloom_filter>> subscriber::decoded(const opened_frame& opened) const {
    auto parsed = read_body(opened, limits());
    if (!parsed) return parsed.error();
    if (auto* filter = std::get_if<bloom_filter>(&parsed->body))
        return std::make_shared<const bloom_filter>(std::move(*filter));
    auto& delta = std::get<filter_delta>(parsed->body);
    delta.flips.exclude(filter_->bits());
    auto next = bloom_filter::from_bits(delta.geometry, std::move(delta.flips), delta.items);
    next.set_provenance({delta.items, delta.intersection, filter_->provenance().planned});
    return std::make_shared<const bloom_filter>(std::move(next));
}

reception subscriber::refuse(reception what, std::string why) {
    wants_ = true;
    complaint_ = std::move(why);
    return what;
}

void subscriber::hold(std::shared_ptr<const bloom_filter> filter, std::uint64_t generation) {
    checksum_ = bits_checksum(filter->bits());
    filter_ = std::move(filter);
    generation_ = generation;
    wants_ = whole_ = false;
}

}  // namespace posy
