// Work that takes long, off the thread of a coroutine: it runs on a pool, and the coroutine goes on where it
// was.
//
// The function owns what it works on, or refers to what outlives the pool: the coroutine may be gone before
// the function is done (its loop has been shut down), and then the result is dropped. Exceptions of the
// function are thrown to the coroutine.
#pragma once

#include <boost/asio/post.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <type_traits>

#include "transport.hpp"

namespace posy::http {

template <class Function>
task<std::invoke_result_t<Function&>> elsewhere(asio::io_context& here, asio::thread_pool& pool,
                                                Function function) {
    struct job {
        job(asio::io_context& loop, Function f)
            : run(std::move(f)), timer(loop, steady_timer::time_point::max()) {}
        Function run;
        std::optional<std::invoke_result_t<Function&>> found;
        std::exception_ptr failed;
        std::mutex mutex;
        bool awaited = true;
        steady_timer timer;
    };
    // Its timer goes with the loop: the coroutine holds it, the pool only while someone waits.
    struct waiting {
        std::shared_ptr<job> of;
        ~waiting() {
            const std::lock_guard lock(of->mutex);
            of->awaited = false;
        }
    };
    const waiting w{std::make_shared<job>(here, std::move(function))};
    asio::post(pool, [j = w.of, &here] {
        try {
            j->found = j->run();
        } catch (...) {
            j->failed = std::current_exception();
        }
        const std::unique_lock lock(j->mutex);
        if (j->awaited) asio::post(here, [j] { j->timer.cancel(); });
    });
    boost::system::error_code done;
    co_await w.of->timer.async_wait(asio::redirect_error(use_awaitable, done));
    if (w.of->failed) std::rethrow_exception(w.of->failed);
    co_return std::move(*w.of->found);
}

}  // namespace posy::http
