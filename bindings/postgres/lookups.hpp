// Lookups of keys in a value: the value is decoded once, and kept as long as the same one is asked.
//
// A scan hands the same value to every call. To tell that it is the same, nothing is decoded or fetched: a
// value that is stored elsewhere is known by the pointer to it, any other by its address, its size and its
// first and last bytes, the message's checksum among them. Two values that share all that and differ would
// have to come one after the other in the same memory with the same checksum of 32 bits.
//
// Cost: comparing about a hundred bytes per call.
#pragma once

#include <algorithm>
#include <cstring>

#include "keys.hpp"

namespace posy::postgres {

class value_identity {
  public:
    bool is_of(const struct varlena* value) const {
        const std::size_t size = VARSIZE_ANY(value);
        if (VARATT_IS_EXTERNAL(value))
            return VARATT_IS_EXTERNAL_ONDISK(value) && size == size_ && same_ends(value);
        return value == address_ && size == size_ && same_ends(value);
    }
    void set(const struct varlena* value) {
        address_ = value;
        size_ = VARSIZE_ANY(value);
        std::memcpy(head_, value, std::min(size_, sizeof head_));
        std::memcpy(tail_, tail_of(value), std::min(size_, sizeof tail_));
    }
    void forget() { size_ = 0; }

  private:
    const char* tail_of(const struct varlena* value) const {
        return reinterpret_cast<const char*>(value) + size_ - std::min(size_, sizeof tail_);
    }
    bool same_ends(const struct varlena* value) const {
        return std::memcmp(head_, value, std::min(size_, sizeof head_)) == 0 &&
               std::memcmp(tail_, tail_of(value), std::min(size_, sizeof tail_)) == 0;
    }

    const struct varlena* address_;
    std::size_t size_;
    char head_[64], tail_[64];
};

// A decoded value and the hash of its keys.
template <class Body>
struct decoded {
    explicit decoded(Body from) : body(std::move(from)), hash(body.hash()) {}
    Body body;
    hasher hash;
};

// Kept in fn_extra of a function whose first argument is the value and whose second is the key.
template <class Body>
struct lookup {
    key_form form;  // first: key_form::of_argument() makes it
    value_identity identity;
    owned<decoded<Body>>* kept;

    static lookup& of(FunctionCallInfo fcinfo) {
        auto& mine = *reinterpret_cast<lookup*>(key_form::of_argument(fcinfo, 1, sizeof(lookup)));
        if (!mine.kept) mine.kept = owned<decoded<Body>>::in(fcinfo->flinfo->fn_mcxt);
        const auto* value = reinterpret_cast<const struct varlena*>(PG_GETARG_POINTER(0));
        if (!mine.identity.is_of(value)) mine.decode(value);
        return mine;
    }
    const Body& body() const { return kept->object->body; }
    // The digest of the second argument. Nothing here throws.
    digest key(FunctionCallInfo fcinfo) const {
        key_form::scratch room;
        return kept->object->hash(form.bytes_of(PG_GETARG_DATUM(1), room));
    }

  private:
    void decode(const struct varlena* value) {
        identity.forget();
        struct varlena* whole = pg_detoast_datum_packed(const_cast<struct varlena*>(value));
        guarded([&] { kept->set(decoded<Body>(*read_value<Body>(bytes_of(whole)))); });
        if (whole != value) pfree(whole);
        identity.set(value);
    }
};

// The value in an argument, decoded. To be called in guarded().
template <class Body>
Body body_of(const struct varlena* value) {
    return std::move(*read_value<Body>(bytes_of(value)));
}

// The result of changing the first argument by the second.
template <class Body, class Change>
Datum combined(FunctionCallInfo fcinfo, const Change& change) {
    const struct varlena *a = PG_GETARG_VARLENA_PP(0), *b = PG_GETARG_VARLENA_PP(1);
    Datum value = 0;
    guarded([&] {
        auto into = body_of<Body>(a);
        *change(into, body_of<Body>(b));
        value = datum_of(write_value(into));
    });
    return value;
}

}  // namespace posy::postgres
