// The server's headers, and the border between its C and our C++.
//
// The server reports an error by a longjmp, which skips destructors; an exception that reaches its frames
// ends the process. So each side keeps to itself: code that calls the server holds nothing with a destructor,
// and C++ that may throw runs inside guarded(), and calls nothing of the server there that can fail. C++
// objects that outlive a call belong to a memory context: owned.
#pragma once

#include "values.hpp"

// The server's headers define macros with common names, so they come last.
extern "C" {
#include <postgres.h>

#include <fmgr.h>
#include <utils/memutils.h>
}

// Declares and begins a function that SQL calls. The names of these functions are all that the module exports
// (posy.map).
#define POSY_SQL(name)         \
    extern "C" {               \
    PG_FUNCTION_INFO_V1(name); \
    }                          \
    extern "C" Datum name(PG_FUNCTION_ARGS)

namespace posy::postgres {

// What is left of an exception when it has been destroyed.
struct failure {
    int code;
    const char* hint;  // or null
    char text[1024];

    void take(int sql_code, const char* what);
    void take(const error&);
    [[noreturn]] void report() const;
};

template <class Work>
[[gnu::noinline]] bool attempt(const Work& work, failure& why) {
    try {
        work();
        return true;
    } catch (const exception& e) {
        why.take(e.why());
    } catch (const std::bad_alloc&) {
        why.take(ERRCODE_OUT_OF_MEMORY, "no memory");
    } catch (const std::exception& e) {
        why.take(ERRCODE_EXTERNAL_ROUTINE_EXCEPTION, e.what());
    } catch (...) {
        why.take(ERRCODE_EXTERNAL_ROUTINE_EXCEPTION, "unknown exception");
    }
    return false;
}

// Runs C++. What it throws becomes an SQL error when all its objects are gone.
template <class Work>
void guarded(const Work& work) {
    failure why;
    if (!attempt(work, why)) [[unlikely]]
        why.report();
}

// A C++ object that is destroyed with a memory context. It lives in the context itself and is not moved.
template <class T>
struct owned {
    T* object;
    MemoryContextCallback at_end;

    static owned* in(MemoryContext context) {
        auto* cell = static_cast<owned*>(MemoryContextAllocZero(context, sizeof(owned)));
        cell->at_end.func = [](void* mine) { delete static_cast<owned*>(mine)->object; };
        cell->at_end.arg = cell;
        MemoryContextRegisterResetCallback(context, &cell->at_end);
        return cell;
    }
    void set(T&& value) {
        delete object;
        object = nullptr;
        object = new T(std::move(value));
    }
};

// A value of this many bytes, yet to be written; and bytes as a value that SQL keeps. To be called in
// guarded(): they throw if there is no memory.
struct varlena* room_for(std::size_t bytes);
Datum datum_of(byte_view bytes);
inline byte_view bytes_of(const struct varlena* value) {
    return {reinterpret_cast<const std::byte*>(VARDATA_ANY(value)), VARSIZE_ANY_EXHDR(value)};
}

Datum jsonb_of(const char* text);
// The same of the text that make() returns, which runs in guarded().
template <class Make>
Datum jsonb_result(const Make& make) {
    Datum copied = 0;
    guarded([&] { copied = datum_of(as_byte_view(make() + '\0')); });
    return jsonb_of(VARDATA(DatumGetPointer(copied)));
}

}  // namespace posy::postgres
