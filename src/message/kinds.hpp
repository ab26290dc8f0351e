// The kinds of messages, out of the one list of what a message can carry.
#pragma once

#include <concepts>
#include <utility>

#include "frame.hpp"
#include "posy/message.hpp"

namespace posy::frame {

template <class Body>
constexpr kind kind_of = kind_of_body<Body>;

static_assert(kind_of<bloom_filter> == kind::filter && kind_of<counting_filter> == kind::counting &&
              kind_of<filter_delta> == kind::delta && kind_of<compressed_filter> == kind::queryable &&
              kind_of<sealed_filter> == kind::sealed && kind_of<bloomier_map> == kind::map &&
              kind_of<count_min> == kind::sketch && kind_of<spectral_filter> == kind::spectral &&
              kind_of<heavy_hitters> == kind::heavy_hitters && kind_of<growing_filter> == kind::growing &&
              kind_of<window_filter> == kind::window && kind_of<reconcile::envelope> == kind::reconciliation);

// Calls use.operator()<Body>() for the body of this kind. Precondition: there is one, as decode() checks.
template <std::size_t I = 0, class Use>
decltype(auto) with_body(kind what, Use&& use) {
    using body = std::variant_alternative_t<I, any_body>;
    if constexpr (I + 1 < std::variant_size_v<any_body>) {
        if (what != kind_of<body>) return with_body<I + 1>(what, std::forward<Use>(use));
    }
    return use.template operator()<body>();
}

}  // namespace posy::frame
