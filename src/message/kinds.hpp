// The kinds of messages, out of the one list of what a message can carry.
#pragma once

#include <concepts>
#include <utility>

#include "frame.hpp"
#include "posy/message.hpp"

namespace posy::frame {

inline constexpr std::size_t kinds = std::variant_size_v<any_body>;

template <class Body>
constexpr kind kind_of = []<std::size_t... I>(std::index_sequence<I...>) {
    static_assert((std::same_as<Body, std::variant_alternative_t<I, any_body>> || ...));
    std::size_t number = 0;
    ((std::same_as<Body, std::variant_alternative_t<I, any_body>> ? number = I + 1 : 0), ...);
    return static_cast<kind>(number);
}
(std::make_index_sequence<kinds>());

static_assert(kind_of<bloom_filter> == kind::filter && kind_of<counting_filter> == kind::counting &&
              kind_of<filter_delta> == kind::delta && kind_of<compressed_filter> == kind::queryable);

// Calls use.operator()<Body>() for the body of this kind. Precondition: there is one, as decode() checks.
template <std::size_t I = 0, class Use>
decltype(auto) with_body(kind what, Use&& use) {
    using body = std::variant_alternative_t<I, any_body>;
    if constexpr (I + 1 < kinds) {
        if (what != kind_of<body>) return with_body<I + 1>(what, std::forward<Use>(use));
    }
    return use.template operator()<body>();
}

}  // namespace posy::frame
