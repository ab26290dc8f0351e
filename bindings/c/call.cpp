// Errors as C has them, and the functions that belong to no type.
#include "call.hpp"

#include <cstdlib>
#include <new>
#include <stdexcept>

namespace posy::c {
namespace {

posy_status status_of(error_kind kind) {
    switch (kind) {
        case error_kind::invalid:
            return POSY_INVALID;
        case error_kind::damaged:
            return POSY_DAMAGED;
        case error_kind::too_large:
            return POSY_TOO_LARGE;
        case error_kind::mismatch:
            return POSY_MISMATCH;
        case error_kind::unsupported:
            return POSY_UNSUPPORTED;
        case error_kind::busy:
            return POSY_BUSY;
        case error_kind::input_output:
            return POSY_INPUT_OUTPUT;
    }
    return POSY_INTERNAL;
}

// A text that does not fit is cut before a whole character of UTF-8.
void put(posy_error* error, posy_status status, std::string_view text, std::uint64_t offset = POSY_UNKNOWN) {
    if (!error) return;
    std::size_t size = std::min(text.size(), sizeof error->text - 1);
    if (size < text.size())
        while (size > 0 && (static_cast<unsigned char>(text[size]) & 0xc0) == 0x80) --size;
    error->status = status;
    error->zero = 0;
    error->offset = offset;
    std::memcpy(error->text, text.data(), size);
    error->text[size] = '\0';
}

}  // namespace

posy_status report(posy_error* error) noexcept {
    const auto with = [&](posy_status status, std::string_view text, std::uint64_t offset = POSY_UNKNOWN) {
        put(error, status, text, offset);
        return status;
    };
    try {
        throw;
    } catch (const exception& e) {
        return with(status_of(e.why().kind), e.what(), e.why().offset.value_or(POSY_UNKNOWN));
    } catch (const std::bad_alloc&) {
        return with(POSY_NO_MEMORY, "out of memory");
    } catch (const std::length_error&) {  // more elements than there can be addresses
        return with(POSY_NO_MEMORY, "out of memory");
    } catch (const std::exception& e) {
        return with(POSY_INTERNAL, e.what());
    } catch (...) {
        return with(POSY_INTERNAL, "an unknown error");
    }
}

}  // namespace posy::c

const char* posy_version(void) { return POSY_VERSION; }

const char* posy_status_name(posy_status status) {
    switch (status) {
        case POSY_OK:
            return "ok";
        case POSY_INVALID:
            return "invalid";
        case POSY_DAMAGED:
            return "damaged";
        case POSY_TOO_LARGE:
            return "too large";
        case POSY_MISMATCH:
            return "mismatch";
        case POSY_UNSUPPORTED:
            return "unsupported";
        case POSY_BUSY:
            return "busy";
        case POSY_INPUT_OUTPUT:
            return "input/output";
        case POSY_NO_MEMORY:
            return "no memory";
        case POSY_INTERNAL:
            return "internal";
    }
    return "unknown";
}

void posy_free(void* memory) { std::free(memory); }
