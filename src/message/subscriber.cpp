#include "posy/subscriber.hpp"

namespace posy {

reception subscriber::receive(byte_view bytes, std::uint64_t now) {
    auto parsed = from_bytes(bytes, limits_);
    if (!parsed || parsed->size != bytes.size()) {
        wants_ = true;  // whatever it was, it may have been news
        return reception::damaged;
    }
    const reception r = accept(std::move(*parsed));
    if (r == reception::replaced || r == reception::updated || r == reception::duplicate) updated_at_ = now;
    return r;
}

reception subscriber::accept(message m) {
    if (auto* filter = std::get_if<bloom_filter>(&m.body)) return accept(std::move(*filter), m.generation);
    if (const auto* delta = std::get_if<filter_delta>(&m.body)) return accept(*delta, m.generation);
    wants_ = true;
    return reception::damaged;
}

reception subscriber::accept(bloom_filter filter, std::uint64_t generation) {
    if (filter_ && generation < generation_) return reception::outdated;
    const bool again = filter_ && generation == generation_;
    // After a wrong base the bits held under this number are in doubt: the whole filter replaces them.
    if (again && !whole_) {
        wants_ = false;
        return reception::duplicate;
    }
    filter_ = std::move(filter);
    generation_ = generation;
    wants_ = whole_ = false;
    return reception::replaced;
}

reception subscriber::accept(const filter_delta& delta, std::uint64_t generation) {
    if (filter_ && generation == generation_) return reception::duplicate;
    if (filter_ && generation < generation_) return reception::outdated;
    if (!filter_ || delta.base_generation != generation_) {
        wants_ = true;
        return reception::gap;
    }
    if (!apply(*filter_, delta)) {
        wants_ = whole_ = true;
        return reception::wrong_base;
    }
    generation_ = generation;
    wants_ = whole_ = false;
    return reception::updated;
}

}  // namespace posy
