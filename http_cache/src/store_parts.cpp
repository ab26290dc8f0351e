// Partial responses in the store: in memory, under keys of their own.
#include "posy/http_cache/partial.hpp"
#include "posy/http_cache/validation.hpp"
#include "tiers.hpp"

namespace posy::http_cache {

// In place of what is held of another version, if it is newer; with it, if it is the same. A 304 may have
// taken the strong validator away, and then nobody can tell what belongs to it.
store::change store::put_parts(const stored& object) {
    if (!strong_validator(object->head.fields, object->received)) return {};
    auto& t = *tiers_;
    label whole = *object;
    whole.url = url_of_key(object->url);
    auto& s = t.stripe_of(whole.url);
    const auto name = name_of(*object, hash::secret_hasher()).low;
    const std::lock_guard quick(s.quick);
    if (s.latest.erased_since(hash::secret_hasher()(whole.url).low, object->asked) || t.memory.same(whole) ||
        s.latest.put_since(name_of(whole, hash::secret_hasher()).low, object->asked) ||
        (t.disk && (t.both.has(whole.url, tally::disk) || s.notes.contains(whole.url))))
        return {};
    const auto held = t.memory.same(*object);
    if (!held && s.latest.put_since(name, object->asked)) return {};
    auto made = object;
    if (held) {
        const auto order = by_news(*object, *held);
        const bool older = order == std::partial_ordering::less;
        if (same_version(*object, *held)) {
            made = t.within_limits(older ? combined(*object, *held) : combined(*held, *object), object);
        } else if (order != std::partial_ordering::greater) {
            if (!older) t.memory.drop(held);  // nobody can tell which is right
            return {};
        }
    }
    if (made->size > t.memory.largest()) return {};
    s.latest.put(name, made->answered);
    const bool done = t.memory.put(made);
    return {done, false, done};
}

// The newest part alone, if all of them are too many or too large.
stored store::tiers::within_limits(stored all, const stored& newest) const {
    if (all->parts->count() > body_parts::most_parts) {
        all = packed(*all, bodies);
        if (!all || all->parts->count() > body_parts::most_parts) return newest;
    }
    return all->size > memory.largest() ? newest : all;
}

stored store::find_parts(std::string_view url, const request_head& request) {
    return tiers_->memory.find(parts_key(url), request);
}

bool store::has_parts(std::string_view url) const { return tiers_->memory.has(parts_key(url)); }

void store::for_each_parts(const std::function<void(const stored_response&)>& visit) const {
    tiers_->memory.for_each([&](const stored_response& each) {
        if (each.parts) visit(each);
    });
}

}  // namespace posy::http_cache
