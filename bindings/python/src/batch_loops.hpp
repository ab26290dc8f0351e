// The loops of posy::python::batch.
#pragma once

#include "batch.hpp"
#include "posy/base/threads.hpp"

namespace posy::python {

template <class Use>
void batch::each_piece(unsigned threads, std::size_t piece_rows, const Use& use) const {
    std::exception_ptr thrown;
    std::mutex of_thrown;
    std::size_t before = 0;
    for (const auto& part : *in_columns()) {
        base::for_each_index((part->size() + piece_rows - 1) / piece_rows, threads, [&](std::size_t i) {
            try {
                thread_local scratch memory;
                const std::size_t first = i * piece_rows;
                const piece keys = part->read(first, std::min(piece_rows, part->size() - first), memory);
                if (keys.size() != 0) use(keys, rows_of_piece{before + first, keys.some, keys.rows});
            } catch (...) {
                const std::lock_guard held(of_thrown);
                if (!thrown) thrown = std::current_exception();
            }
        });
        if (thrown) std::rethrow_exception(thrown);
        before += part->size();
    }
}

// Lists and tuples are indexed: quicker than an iterator, and the objects ahead can be fetched from memory.
template <class Use>
std::size_t batch::each_object(const Use& use) const {
    PyObject* const source = source_.ptr();
    std::size_t row = 0;
    if (PyList_CheckExact(source)) {
        for (; row < static_cast<std::size_t>(PyList_GET_SIZE(source)); ++row) {
            constexpr std::size_t ahead = 24;
#ifdef Py_GIL_DISABLED
            const nb::object key = nb::steal(PyList_GetItemRef(source, static_cast<Py_ssize_t>(row)));
            if (!key.is_valid()) throw nb::python_error();
#else
            if (row + ahead < static_cast<std::size_t>(PyList_GET_SIZE(source))) {
                const char* const later = reinterpret_cast<const char*>(
                    PyList_GET_ITEM(source, static_cast<Py_ssize_t>(row + ahead)));
                __builtin_prefetch(later);
                __builtin_prefetch(later + 64);
            }
            const nb::object key = nb::borrow(PyList_GET_ITEM(source, static_cast<Py_ssize_t>(row)));
#endif
            use(key.ptr(), row);
        }
        return row;
    }
    const nb::object all = nb::steal(PyObject_GetIter(source));
    if (!all.is_valid()) throw nb::python_error();
    for (;; ++row) {
        const nb::object key = nb::steal(PyIter_Next(all.ptr()));
        if (!key.is_valid()) break;
        use(key.ptr(), row);
    }
    if (PyErr_Occurred()) throw nb::python_error();
    return row;
}

template <class Use>
std::size_t batch::each_digest(const hasher& hash, const Use& use) const {
    if (in_columns()) {
        const nb::gil_scoped_release released;
        each_piece(1, piece_size, [&](const piece& keys, const rows_of_piece& rows) {
            std::array<digest, piece_size> digests;
            const std::span made(digests.data(), keys.size());
            if (keys.of_words)
                hash(keys.words, made);
            else
                hash(keys.texts, made);
            use(std::span<const digest>(made), rows);
        });
        return *size_;
    }
    std::array<digest, piece_size> digests;
    std::vector<std::size_t> rows;
    std::size_t size = 0, first = 0;
    bool some = false;
    const auto hand_over = [&](std::size_t next) {
        if (size != 0) {
            const nb::gil_scoped_release released;
            use(std::span<const digest>(digests.data(), size), rows_of_piece{first, some, rows});
        }
        size = 0, first = next, some = false;
        rows.clear();
    };
    const std::size_t count = each_object([&](PyObject* key, std::size_t row) {
        if (skip_nulls_ && is_missing(key)) {
            // The first that is left out: those before it are the first rows of the piece.
            if (!some)
                for (std::size_t i = 0; i < size; ++i) rows.push_back(i);
            some = true;
            return;
        }
        digests[size++] = digest_of(key, hash, row);
        if (some) rows.push_back(row - first);
        if (size == piece_size) hand_over(row + 1);
    });
    hand_over(count);
    return count;
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
