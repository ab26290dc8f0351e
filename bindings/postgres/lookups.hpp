// Lookups of keys in a value: the value is decoded once, and kept as long as the same one is asked.
//
// A scan hands the same value to every call. To tell that it is the same, nothing is decoded or fetched:
//
//   stored elsewhere (TOAST)    the pointer to it
//   up to 2 KiB                 all of its bytes: many values can pass through the same memory
//   larger                      its address, its size, and its first and last 64 bytes. The last four are the
//                               message's checksum, so two values in the same memory that share all that and
//                               differ would need the same checksum of 32 bits
//   larger and compressed       never known again: what its last bytes say depends on those before
//
// Cost: comparing these bytes per call, 20 ns for 1 KiB.
#pragma once

#include <algorithm>
#include <cstring>

#include "keys.hpp"

namespace posy::postgres {

class value_identity {
  public:
    bool is_of(const struct varlena* value) const {
        if (VARSIZE_ANY(value) != size_ || !tells(value)) return false;
        if (size_ <= sizeof bytes_) return std::memcmp(bytes_, value, size_) == 0;
        return value == address_ && std::memcmp(bytes_, value, end) == 0 &&
               std::memcmp(bytes_ + end, tail_of(value), end) == 0;
    }
    void set(const struct varlena* value) {
        address_ = value;
        size_ = VARSIZE_ANY(value);
        if (size_ <= sizeof bytes_) {
            std::memcpy(bytes_, value, size_);
        } else {
            std::memcpy(bytes_, value, end);
            std::memcpy(bytes_ + end, tail_of(value), end);
        }
    }
    void forget() { size_ = 0; }

  private:
    static constexpr std::size_t end = 64;

    // A pointer into memory says nothing of what is there; one to TOAST does, as long as the query runs.
    bool tells(const struct varlena* value) const {
        if (VARATT_IS_EXTERNAL(value)) return VARATT_IS_EXTERNAL_ONDISK(value);
        return size_ <= sizeof bytes_ || !VARATT_IS_COMPRESSED(value);
    }
    const char* tail_of(const struct varlena* value) const {
        return reinterpret_cast<const char*>(value) + size_ - end;
    }

    const struct varlena* address_;
    std::size_t size_;
    char bytes_[2048];
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
