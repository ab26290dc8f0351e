// The objects behind the handles, and what all of them can: become a message, and be one.
//
// Thread safety: as posy.h says.
#pragma once

#include <cstdlib>
#include <memory>
#include <new>
#include <utility>

#include "call.hpp"
#include "posy/dialect/foreign_filter.hpp"
#include "posy/message.hpp"

namespace posy::c {

// A body, and the hasher of its keys, made once.
template <class Body>
struct keyed_body {
    using body_type = Body;
    explicit keyed_body(Body from) : body(std::move(from)), hash(body.hash()) {}

    Body body;
    hasher hash;
};

}  // namespace posy::c

struct posy_filter : posy::c::keyed_body<posy::bloom_filter> {
    using keyed_body::keyed_body;
};
struct posy_counting : posy::c::keyed_body<posy::counting_filter> {
    using keyed_body::keyed_body;
};
struct posy_growing : posy::c::keyed_body<posy::growing_filter> {
    using keyed_body::keyed_body;
};
struct posy_window : posy::c::keyed_body<posy::window_filter> {
    using keyed_body::keyed_body;
};
struct posy_sealed : posy::c::keyed_body<posy::sealed_filter> {
    using keyed_body::keyed_body;
};
struct posy_map : posy::c::keyed_body<posy::bloomier_map> {
    using keyed_body::keyed_body;
};
struct posy_counts : posy::c::keyed_body<posy::count_min> {
    using keyed_body::keyed_body;
};
struct posy_hitters : posy::c::keyed_body<posy::heavy_hitters> {
    using keyed_body::keyed_body;
};
struct posy_delta {
    using body_type = posy::filter_delta;
    body_type body;
};
struct posy_foreign {
    std::unique_ptr<posy::foreign_filter> body;
};

namespace posy::c {

// Memory that posy_free() gives back.
inline void* allocate(std::size_t size) {
    void* const memory = std::malloc(std::max<std::size_t>(size, 1));
    if (!memory) throw std::bad_alloc();
    return memory;
}
inline void hand_out(byte_view from, void** bytes, std::size_t* size) {
    void* const memory = allocate(from.size());
    if (!from.empty()) std::memcpy(memory, from.data(), from.size());
    *bytes = memory;
    *size = from.size();
}

inline coding coding_of(int number) {
    switch (number) {
        case POSY_RAW:
            return coding::raw;
        case POSY_SMALLEST:
            return coding::smallest;
        case POSY_FASTEST:
            return coding::fastest;
    }
    throw exception(error::invalid("coding is " + std::to_string(number) +
                                   "; it is POSY_RAW, POSY_SMALLEST or POSY_FASTEST"));
}

template <class Handle>
posy_status to_bytes(const Handle* handle, int coding, void** bytes, std::size_t* size,
                     posy_error* error) noexcept {
    return call(error, [&] {
        const auto& body = given(handle, "handle").body;
        given(bytes, "bytes");
        given(size, "size");
        hand_out(posy::to_bytes(body, {.want = coding_of(coding)}), bytes, size);
    });
}

template <class Handle>
posy_status from_bytes(const void* bytes, std::size_t size, std::uint64_t max_memory, Handle** out,
                       posy_error* error) noexcept {
    return call(error, [&] {
        using body_type = typename Handle::body_type;
        Handle*& handle = place_for(out, "handle");
        auto read = *posy::from_bytes(bytes_given(bytes, size, "bytes"), limits_of(max_memory));
        if (read.size != size)
            throw exception(
                error::damaged("bytes behind the message; give one message and no more", read.size));
        auto* const body = std::get_if<body_type>(&read.body);
        if (!body)
            throw exception(error::mismatch("a message of kind " + std::string(name_of(kind_of(read.body))) +
                                            ", not of kind " +
                                            std::string(name_of(kind_of_body<body_type>))));
        handle = new Handle{std::move(*body)};
    });
}

template <class Handle>
posy_status save(const Handle* handle, const char* path, int coding, posy_error* error) noexcept {
    return call(error, [&] {
        const auto& body = given(handle, "handle").body;
        const auto saved = posy::save(&given(path, "path"), body, {.want = coding_of(coding)});
        if (!saved) throw exception(saved.error().behind(path));
    });
}

template <class Handle>
posy_status load(const char* path, std::uint64_t max_memory, Handle** out, posy_error* error) noexcept {
    return call(error, [&] {
        Handle*& handle = place_for(out, "handle");
        auto loaded = posy::load<typename Handle::body_type>(&given(path, "path"), limits_of(max_memory));
        if (!loaded) throw exception(loaded.error().behind(path));
        handle = new Handle{std::move(*loaded)};
    });
}

}  // namespace posy::c
