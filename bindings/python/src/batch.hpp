// Many keys at once, from whatever Python has them in.
//
// Columns (NumPy, Arrow, pandas, Polars) are read in place without the interpreter's lock, on several threads
// if there are many. Keys in lists and other iterables are objects: they are hashed with the lock, a piece at
// a time, and inserted or looked up without it.
//
//   batch keys(object, skip_nulls);
//   keys.each_digest(hash, [&](std::span<const digest>, const rows_of_piece&) { … });   // without the
//   interpreter's lock
//
// The function of a batch may be called with any number of pieces, one after the other.
#pragma once

#include <Python.h>

#include <array>
#include <atomic>
#include <exception>
#include <mutex>
#include <optional>

#include "arrow.hpp"
#include "buffer.hpp"
#include "call.hpp"
#include "key.hpp"

namespace posy::python {

class object_piece;

inline constexpr std::size_t piece_size = 4096;

// Which rows of the batch the keys of a piece are.
struct rows_of_piece {
    std::size_t first = 0;
    bool some = false;
    std::span<const std::size_t> rows{};
    std::size_t operator[](std::size_t i) const { return first + (some ? rows[i] : i); }
};

class batch {
  public:
    // A TypeError if this is one key, or nothing that has keys; also if there is a null and they are not to
    // be skipped.
    batch(nb::handle source, bool skip_nulls);

    // The columns, if these are columns; else null, and the keys are objects.
    const columns* in_columns() const {
        return arrow_ ? &arrow_->parts() : buffer_ ? &buffer_->parts() : nullptr;
    }
    // How many rows, if that is known before they are read.
    std::optional<std::size_t> size() const { return size_; }

    // Calls use(std::span<const digest>, rows) for all keys, without the interpreter's lock, and returns the
    // number of rows.
    template <class Use>
    std::size_t each_digest(const hasher& hash, const Use& use) const;
    // Calls use(key, row) for all keys with a std::string_view or a std::uint64_t, with the interpreter's
    // lock.
    template <class Use>
    std::size_t each_key(const Use& use) const;
    // Calls use(object, row) for all keys that are objects. Precondition: not in_columns().
    template <class Use>
    std::size_t each_object(const Use& use) const;

    // Calls use(piece, rows) for every piece of the columns, on up to `threads` threads. Precondition:
    // in_columns(). What is thrown there is thrown here, and no piece begins after it.
    template <class Use>
    void each_piece(unsigned threads, std::size_t piece_rows, const Use& use) const;

  private:
    // Counts the rows, and refuses nulls and what has no bytes, so that a column is taken whole or not at
    // all.
    void check_columns();
    template <class Full>
    std::size_t gather(object_piece&, const Full& full) const;

    nb::object source_;
    bool skip_nulls_;
    std::optional<arrow_keys> arrow_;
    std::optional<buffer_keys> buffer_;
    std::optional<std::size_t> size_;
};

// Does a missing value stand here: None, NaN of any type, pandas.NA or NaT?
bool is_missing(PyObject*);
// As many threads as the process may use, for this many rows; `asked` if that is not 0.
unsigned threads_for(std::size_t rows, unsigned asked);

}  // namespace posy::python

#include "batch_loops.hpp"
