#include "stored.hpp"

#include <cmath>

#include "posy/algebra.hpp"
#include "posy/estimate.hpp"
#include "posy/standing.hpp"

namespace posy::sqlite {
namespace {

// Calls the first of the functions that takes the body, if any does.
template <class... Functions>
struct overloaded : Functions... {
    using Functions::operator()...;
};
template <class... Functions>
overloaded(Functions...) -> overloaded<Functions...>;  // clang 14 does not deduce it

error cannot(const std::string& kind, const char* what) {
    return error::unsupported("a message of kind " + kind + " " + what);
}

template <class Body>
constexpr bool hashes_keys = requires(const Body& body) {
    body.hash();
};
template <class Body>
constexpr bool answers = requires(const Body& body, digest d) {
    body.may_contain(d);
};
template <class Body>
constexpr bool unites = requires(Body& into, const Body& from) {
    posy::unite(into, from);
};

}  // namespace

stored::stored(message m) : body_(std::move(m.body)), size_(m.size) {
    std::visit(
        [&]<class Body>(const Body& body) {
            if constexpr (hashes_keys<Body>) hash_ = body.hash();
        },
        body_);
}

result<stored> stored::read(byte_view bytes) {
    auto read = from_bytes(bytes);
    if (!read) return read.error();
    if (read->size != bytes.size())
        return error::damaged("bytes behind the message; a value is one message", read->size);
    return stored(std::move(*read));
}

result<bool> stored::may_contain(std::string_view key) const {
    // The kind that is asked most, without the detour.
    if (const auto* filter = std::get_if<bloom_filter>(&body_)) return filter->may_contain((*hash_)(key));
    const error no = cannot(kind(), "cannot say whether it contains a key");
    if (!hash_) return no;
    const digest d = (*hash_)(key);
    return std::visit(
        overloaded{[&](const bloomier_map& map) -> result<bool> { return map.find(d).has_value(); },
                   [&](const count_min& sketch) -> result<bool> { return sketch.estimate(d) > 0; },
                   [&](const heavy_hitters& heavy) -> result<bool> { return heavy.sketch().estimate(d) > 0; },
                   // As of the latest insertion: a value has no clock.
                   [&](const window_filter& window) -> result<bool> {
                       return window.may_contain(d, window.latest());
                   },
                   [&]<class Body>(const Body& body) -> result<bool> {
                       if constexpr (answers<Body>)
                           return body.may_contain(d);
                       else
                           return no;
                   }},
        body_);
}

result<std::optional<std::uint64_t>> stored::lookup(std::string_view key) const {
    if (const auto* map = std::get_if<bloomier_map>(&body_)) return map->find((*hash_)(key));
    return cannot(kind(), "has no values; make a map with map_agg() or posy seal --values");
}

result<std::uint64_t> stored::estimate(std::string_view key) const {
    if (const auto* sketch = std::get_if<count_min>(&body_)) return sketch->estimate((*hash_)(key));
    if (const auto* filter = std::get_if<spectral_filter>(&body_)) return filter->estimate((*hash_)(key));
    if (const auto* heavy = std::get_if<heavy_hitters>(&body_))
        return heavy->sketch().estimate((*hash_)(key));
    return cannot(kind(), "counts no keys; make a sketch with count_min_agg() or posy count");
}

result<std::optional<std::uint64_t>> stored::items() const {
    using number = result<std::optional<std::uint64_t>>;
    const auto of_filter = [](const bloom_filter& filter) -> number {
        const auto stands = standing_of(filter);
        if (!stands) return std::optional<std::uint64_t>();
        return std::optional(static_cast<std::uint64_t>(std::llround(stands->items)));
    };
    const auto of_made = [&](const result<bloom_filter>& filter) -> number {
        if (!filter) return filter.error();
        return of_filter(*filter);
    };
    return std::visit(
        overloaded{[&](const bloom_filter& filter) { return of_filter(filter); },
                   [&](const counting_filter& filter) { return of_filter(filter.projection()); },
                   [&](const compressed_filter& filter) { return of_made(filter.unpack()); },
                   [&](const spectral_filter& filter) { return of_made(filter.projection()); },
                   [&](const window_filter& window) -> number {
                       return std::optional(window.items(window.latest()));
                   },
                   [&]<class Body>(const Body& body) -> number {
                       if constexpr (requires { body.items(); })
                           return std::optional(body.items());
                       else
                           return cannot(kind(), "does not know the number of different keys");
                   }},
        body_);
}

result<double> stored::rate() const {
    const auto of_filter = [](const bloom_filter& filter) { return filter.false_positive_rate(); };
    return std::visit(
        overloaded{
            [&](const counting_filter& filter) -> result<double> { return of_filter(filter.projection()); },
            [&](const compressed_filter& filter) { return filter.false_positive_rate(); },
            [&](const spectral_filter& filter) -> result<double> {
                const auto projection = filter.projection();
                if (!projection) return projection.error();
                return of_filter(*projection);
            },
            [&](const window_filter& window) -> result<double> {
                return window.false_positive_rate(window.latest());
            },
            [&]<class Body>(const Body& body) -> result<double> {
                if constexpr (requires { double{body.false_positive_rate()}; })
                    return body.false_positive_rate();
                else
                    return cannot(kind(), "has no false-positive rate");
            }},
        body_);
}

result<double> intersection_size(const stored& a, const stored& b) {
    const auto* first = std::get_if<bloom_filter>(&a.body());
    const auto* second = std::get_if<bloom_filter>(&b.body());
    if (!first || !second)
        return error::unsupported("intersection_size() compares two messages of kind filter");
    const auto compared = compare(*first, *second);
    if (!compared) return compared.error();
    return compared->intersection.value;
}

result<void> unite(stored& into, const stored& from) {
    const auto kind = [](const stored& value) { return std::string(name_of(kind_of(value.body()))); };
    if (into.body().index() != from.body().index())
        return error::mismatch("a message of kind " + kind(from) + " cannot be united with one of kind " +
                               kind(into));
    return std::visit(
        [&]<class Body>(Body& body) -> result<void> {
            if constexpr (unites<Body>)
                return posy::unite(body, std::get<Body>(from.body()));
            else
                return cannot(kind(into), "cannot be united; unite filters, or aggregate the keys again");
        },
        into.body());
}

}  // namespace posy::sqlite
