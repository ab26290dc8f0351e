// The loops of posy::python::batch.
#pragma once

#include "batch.hpp"
#include "posy/base/threads.hpp"

namespace posy::python {

template <class Use>
void batch::each_piece(unsigned threads, std::size_t piece_rows, const Use& use) const {
    constexpr std::size_t most_kept = 1 << 20;  // bytes of scratch memory, from one batch to the next
    std::exception_ptr thrown;
    std::mutex of_thrown;
    std::atomic<bool> failed = false;
    std::size_t before = 0;
    for (const auto& part : *in_columns()) {
        base::for_each_index((part->size() + piece_rows - 1) / piece_rows, threads, [&](std::size_t i) {
            if (failed) return;
            try {
                thread_local scratch memory;
                const std::size_t first = i * piece_rows;
                const piece keys = part->read(first, std::min(piece_rows, part->size() - first), memory);
                if (keys.size() != 0) use(keys, rows_of_piece{before + first, keys.some, keys.rows});
                if (memory.bytes.capacity() > most_kept) memory = {};
            } catch (...) {
                const std::lock_guard held(of_thrown);
                if (!thrown) thrown = std::current_exception();
                failed = true;
            }
        });
        if (thrown) std::rethrow_exception(thrown);
        before += part->size();
    }
}

// The keys of a piece that are objects, as digests, and which rows they are.
class object_piece {
  public:
    explicit object_piece(const hasher& hash) : hash_(hash) {}

    const hasher& hash() const { return hash_; }
    bool full() const { return size_ == piece_size; }
    std::size_t size() const { return size_; }
    void add(digest d, std::size_t row) {
        digests_[size_++] = d;
        if (some_) rows_.push_back(row - first_);
    }
    // Texts are hashed together, which is faster. They must stay where they are until then.
    void add_later(std::string_view text, std::size_t row) {
        texts_[size_++] = text;
        ++waiting_;
        if (some_) rows_.push_back(row - first_);
    }
    void hash_waiting() {
        const std::size_t from = size_ - waiting_;
        hash_(std::span<const std::string_view>(texts_.data() + from, waiting_),
              std::span(digests_.data() + from, waiting_));
        waiting_ = 0;
    }
    // This row has no key.
    void skip() {
        for (std::size_t i = 0; !some_ && i < size_; ++i) rows_.push_back(i);
        some_ = true;
    }
    std::span<const digest> digests() const { return {digests_.data(), size_}; }
    rows_of_piece rows() const { return {first_, some_, rows_}; }
    void begin(std::size_t row) {
        size_ = 0, first_ = row, some_ = false;
        rows_.clear();
    }

  private:
    const hasher& hash_;
    std::array<digest, piece_size> digests_;
    std::array<std::string_view, piece_size> texts_;
    std::vector<std::size_t> rows_;
    std::size_t size_ = 0, first_ = 0, waiting_ = 0;
    bool some_ = false;
};

// Lists and tuples, which are indexed: quicker than an iterator, and the objects ahead are fetched from
// memory. Nothing of Python's runs between a str and its hash, so that nobody can take it out of the list;
// not so without the interpreter's lock.
#ifndef Py_GIL_DISABLED
inline bool take_text(PyObject* source, std::size_t row, object_piece& to) {
    constexpr std::size_t ahead = 32;
    PyObject** const items = PySequence_Fast_ITEMS(source);
    if (row + ahead < static_cast<std::size_t>(PySequence_Fast_GET_SIZE(source))) {
        const char* const later = reinterpret_cast<const char*>(items[row + ahead]);
        __builtin_prefetch(later);
        __builtin_prefetch(later + 64);
    }
    PyObject* const key = items[row];
    if (!PyUnicode_CheckExact(key) || !PyUnicode_IS_COMPACT_ASCII(key)) return false;
    to.add_later(text_of(key, row), row);
    return true;
}
#else
inline bool take_text(PyObject*, std::size_t, object_piece&) { return false; }
#endif

// Null: another thread has made the list shorter since its size was asked for, which it can do where the
// interpreter has no lock.
inline nb::object item_of(PyObject* source, std::size_t row) {
    nb::object item = nb::steal(PySequence_GetItem(source, static_cast<Py_ssize_t>(row)));
    if (item.is_valid()) return item;
    if (!PyErr_ExceptionMatches(PyExc_IndexError)) throw nb::python_error();
    PyErr_Clear();
    return item;
}

// Ctrl-C, once in a while. Handlers may change a list: its size is asked for again after this.
inline void check_signals() {
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
}

inline bool is_indexed(PyObject* source) { return PyList_CheckExact(source) || PyTuple_CheckExact(source); }

template <class Use>
std::size_t batch::each_object(const Use& use) const {
    PyObject* const source = source_.ptr();
    std::size_t row = 0;
    if (is_indexed(source)) {
        for (; row < static_cast<std::size_t>(PySequence_Fast_GET_SIZE(source)); ++row) {
            const nb::object item = item_of(source, row);
            if (!item.is_valid()) break;
            use(item.ptr(), row);
            if (row % piece_size == 0) check_signals();
        }
        return row;
    }
    const nb::object all = nb::steal(PyObject_GetIter(source));
    if (!all.is_valid()) throw nb::python_error();
    for (;; ++row) {
        const nb::object key = nb::steal(PyIter_Next(all.ptr()));
        if (!key.is_valid()) break;
        if (row % piece_size == 0) check_signals();
        use(key.ptr(), row);
    }
    if (PyErr_Occurred()) throw nb::python_error();
    return row;
}

// Fills pieces with the digests of objects, and calls full(next row) when one is full and at the end; also
// before an error of Python's, so that the keys before it count.
template <class Full>
std::size_t batch::gather(object_piece& piece, const Full& full) const {
    const auto use_full = [&](std::size_t next) {
        if (!piece.full()) return;
        full(next);
        check_signals();
    };
    const auto take = [&](PyObject* key, std::size_t row) {
        piece.hash_waiting();
        skip_nulls_&& is_missing(key) ? piece.skip() : piece.add(digest_of(key, piece.hash(), row), row);
        use_full(row + 1);
    };
    PyObject* const source = source_.ptr();
    std::size_t row = 0;
    try {
        if (!is_indexed(source)) row = each_object(take);
        while (is_indexed(source) && row < static_cast<std::size_t>(PySequence_Fast_GET_SIZE(source))) {
            if (take_text(source, row, piece)) {
                use_full(row + 1);
            } else {
                const nb::object item = item_of(source, row);
                if (!item.is_valid()) break;
                take(item.ptr(), row);
            }
            ++row;
        }
    } catch (const nb::python_error&) {
        full(row);
        throw;
    }
    full(row);
    return row;
}

template <class Use>
std::size_t batch::each_digest(const hasher& hash, const Use& use) const {
    if (in_columns()) {
        const nb::gil_scoped_release released;
        each_piece(1, piece_size, [&](const piece& keys, const rows_of_piece& rows) {
            std::array<digest, piece_size> digests;
            const std::span made(digests.data(), keys.size());
            keys.of_words ? hash(keys.words, made) : hash(keys.texts, made);
            use(std::span<const digest>(made), rows);
        });
        return *size_;
    }
    const auto some = std::make_unique<object_piece>(hash);
    return gather(*some, [&](std::size_t next) {
        some->hash_waiting();
        if (some->size() != 0) {
            const nb::gil_scoped_release released;
            use(some->digests(), some->rows());
        }
        some->begin(next);
    });
}

template <class Use>
std::size_t batch::each_key(const Use& use) const {
    if (!in_columns()) {
        return each_object([&](PyObject* key, std::size_t row) {
            if (skip_nulls_ && is_missing(key)) return;
            with_key(key, row, [&](auto bytes) { use(bytes, row); });
        });
    }
    each_piece(1, piece_size, [&](const piece& keys, const rows_of_piece& rows) {
        for (std::size_t i = 0; i < keys.size(); ++i)
            if (keys.of_words)
                use(keys.words[i], rows[i]);
            else
                use(keys.texts[i], rows[i]);
    });
    return *size_;
}

}  // namespace posy::python
