// The kinds of messages: a number on the wire, and one word that programs read.
#pragma once

#include <cstdint>
#include <string_view>

#include "posy/base/names.hpp"

namespace posy {

// The numbers are on the wire, and are the places in the list `bodies` (posy/message.hpp).
enum class message_kind : std::uint8_t {
    filter = 1,
    counting,
    delta,
    queryable,
    sealed,
    map,
    sketch,
    spectral,
    heavy_hitters,
    growing,
    window,
    reconciliation,
};

constexpr std::string_view name_of(message_kind member) {
    switch (member) {
        case message_kind::filter:
            return "filter";
        case message_kind::counting:
            return "counting";
        case message_kind::delta:
            return "delta";
        case message_kind::queryable:
            return "queryable";
        case message_kind::sealed:
            return "sealed";
        case message_kind::map:
            return "map";
        case message_kind::sketch:
            return "sketch";
        case message_kind::spectral:
            return "spectral";
        case message_kind::heavy_hitters:
            return "heavy_hitters";
        case message_kind::growing:
            return "growing";
        case message_kind::window:
            return "window";
        case message_kind::reconciliation:
            return "reconciliation";
    }
    return {};
}

}  // namespace posy
