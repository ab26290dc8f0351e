#include "resolver.hpp"

#include <netdb.h>

#include <algorithm>
#include <boost/asio/post.hpp>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <map>
#include <mutex>
#include <thread>

#include "failures.hpp"
#include "message.hpp"

namespace posy::http {

namespace {

constexpr std::size_t longest_name = 255;  // of DNS, and of what is remembered

// A coroutine that waits. Its alarm goes with its loop: the desk holds it only while a coroutine waits.
struct waiter {
    waiter(timekeeper& time, asio::io_context& loop) : here(loop), end(time, loop) {}
    asio::io_context& here;
    alarm end;
};

struct lookup {
    std::vector<std::shared_ptr<waiter>> waiting;
    bool begun = false, done = false;
    resolver::addresses found;
};

}  // namespace

// Threads share it with the resolver, so that it outlives both.
struct resolver::desk : std::enable_shared_from_this<desk> {
    desk(timekeeper& t, const limits& l, question q, bool bounded)
        : time(t), most(l), ask(std::move(q)), bounds_queue(bounded), failed(l.failures, l.forget) {}

    timekeeper& time;  // while it is open
    const limits most;
    const question ask;
    const bool bounds_queue;

    std::mutex mutex;  // of everything below
    std::condition_variable work;
    std::map<std::string, std::shared_ptr<lookup>> open;
    std::deque<std::string> queue;  // names of those that have not begun
    failures failed;
    bool closed = false;  // the resolver is gone
    std::size_t threads = 0, idle = 0;

    std::shared_ptr<lookup> join(const std::string& name, const std::shared_ptr<waiter>&);
    void leave(const std::string& name, const std::shared_ptr<lookup>&, const std::shared_ptr<waiter>&);
    void add_thread();
    void run();
    void finish(const std::string& name, addresses);
};

std::shared_ptr<lookup> resolver::desk::join(const std::string& name, const std::shared_ptr<waiter>& who) {
    const std::lock_guard lock(mutex);
    if (failed.remembers(name, time.now()))
        throw boost::system::system_error(asio::error::host_not_found, "resolve " + name);
    const auto known = open.find(name);
    auto mine = known == open.end() ? nullptr : known->second;
    if (!mine) {
        if (bounds_queue && queue.size() >= most.queued)
            throw refusal(503, "too many names wait to be resolved; try again later");
        if (idle <= queue.size() && threads < most.threads) add_thread();
        mine = open[name] = std::make_shared<lookup>();
        queue.push_back(name);
        work.notify_one();
    }
    mine->waiting.push_back(who);
    return mine;
}

// The system may have no thread left; those that are there then do its work.
void resolver::desk::add_thread() {
    try {
        std::thread([self = shared_from_this()] { self->run(); }).detach();
        ++threads;
    } catch (const std::system_error&) {
        if (threads == 0) throw refusal(503, "no thread is left to resolve names");
    }
}

void resolver::desk::leave(const std::string& name, const std::shared_ptr<lookup>& of,
                           const std::shared_ptr<waiter>& who) {
    const std::lock_guard lock(mutex);
    std::erase(of->waiting, who);
    if (of->begun || !of->waiting.empty()) return;
    std::erase(queue, name);
    open.erase(name);
}

void resolver::desk::run() {
    std::unique_lock lock(mutex);
    for (;;) {
        ++idle;
        // By the system's clock, whatever time was handed in: only threads without work wait here.
        const bool any = work.wait_for(lock, most.linger, [&] { return !queue.empty(); });
        --idle;
        if (!any) break;
        const std::string name = std::move(queue.front());
        queue.pop_front();
        open.at(name)->begun = true;
        lock.unlock();
        auto found = ask(name);
        lock.lock();
        finish(name, std::move(found));
    }
    --threads;
}

void resolver::desk::finish(const std::string& name, addresses found) {
    const auto it = open.find(name);
    auto& done = *it->second;
    if (found.size() > most.addresses) found.resize(most.addresses);
    if (found.empty() && !closed) failed.add(name, time.now());
    done.found = std::move(found);
    done.done = true;
    for (const auto& each : done.waiting) asio::post(each->here, [each] { each->end.stop(); });
    open.erase(it);
}

resolver::resolver(timekeeper& time, const limits& most, question ask)
    : desks_{std::make_shared<desk>(time, most, ask, false), std::make_shared<desk>(time, most, ask, true)} {}

resolver::~resolver() {
    for (const auto& each : desks_) {
        const std::lock_guard lock(each->mutex);
        each->closed = true;
    }
}

task<resolver::addresses> resolver::resolve(asio::io_context& here, std::string name, chosen_by by,
                                            clock::time_point end) {
    // Leaves however the coroutine ends; also when its loop is shut down, and takes the alarm with it.
    struct seat {
        std::shared_ptr<desk> at;
        const std::string& name;
        std::shared_ptr<waiter> self;
        std::shared_ptr<lookup> of;
        ~seat() { at->leave(name, of, self); }
    };
    if (name.size() > longest_name)
        throw boost::system::system_error(asio::error::host_not_found, "resolve a name of that length");
    const auto at = desks_[static_cast<std::size_t>(by)];
    const auto self = std::make_shared<waiter>(at->time, here);
    const seat mine{at, name, self, at->join(name, self)};
    co_await self->end.until(end);
    const std::lock_guard lock(at->mutex);
    if (!mine.of->done) throw boost::system::system_error(asio::error::timed_out, "resolve " + name);
    if (mine.of->found.empty())
        throw boost::system::system_error(asio::error::host_not_found, "resolve " + name);
    co_return mine.of->found;
}

resolver::addresses resolver::ask_system(const std::string& name) {
    addrinfo hints{};
    hints.ai_socktype = SOCK_STREAM;
    addrinfo* first = nullptr;
    if (getaddrinfo(name.c_str(), nullptr, &hints, &first) != 0) return {};
    const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> owner(first, freeaddrinfo);
    addresses found;
    for (const addrinfo* each = first; each; each = each->ai_next) {
        tcp::endpoint at;
        if (each->ai_addrlen > at.capacity()) continue;
        std::memcpy(at.data(), each->ai_addr, each->ai_addrlen);
        at.resize(each->ai_addrlen);
        found.push_back(at.address());
    }
    return found;
}

}  // namespace posy::http
