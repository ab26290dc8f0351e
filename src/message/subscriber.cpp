#include "posy/subscriber.hpp"

#include "reading.hpp"

namespace posy {

// The header tells most of what can become of a message: what is not wanted is not decoded. What is wanted
// may take as much memory as what is held already, however few bytes there are of it.
reception subscriber::receive(byte_view bytes, std::uint64_t now) {
    const auto opened = open_frame(bytes);
    const bool whole_message = opened && opened->size == bytes.size();
    const reception r = !whole_message ? reception::damaged : receive(*opened);
    if (r == reception::damaged) wants_ = true;  // whatever it was, it may have been news
    if (r == reception::replaced || r == reception::updated || r == reception::duplicate) updated_at_ = now;
    return r;
}

reception subscriber::receive(const opened_frame& opened) {
    const frame::header& h = opened.header;
    if (h.kind != frame::kind::filter && h.kind != frame::kind::delta) return reception::damaged;
    const bool is_delta = h.kind == frame::kind::delta;
    if (filter_ && h.generation < generation_) return reception::outdated;
    // After a wrong base the bits held under this number are in doubt: the whole filter replaces them.
    if (filter_ && h.generation == generation_ && (is_delta || !whole_)) {
        if (!is_delta) wants_ = false;
        return reception::duplicate;
    }
    if (is_delta && (!filter_ || h.base_generation != generation_)) {
        wants_ = true;
        return reception::gap;
    }
    if (is_delta && (whole_ || h.geometry != filter_->geometry())) {
        wants_ = whole_ = true;
        return reception::wrong_base;
    }
    auto read = read_body(opened, filter_ ? limits_.holding(filter_->bits().words().size_bytes()) : limits_);
    if (!read) return reception::damaged;
    if (is_delta) {
        if (!apply(*filter_, std::get<filter_delta>(read->body))) {
            wants_ = whole_ = true;
            return reception::wrong_base;
        }
    } else {
        filter_ = std::move(std::get<bloom_filter>(read->body));
    }
    generation_ = h.generation;
    wants_ = whole_ = false;
    return is_delta ? reception::updated : reception::replaced;
}

}  // namespace posy
