#include "resolver.hpp"

#include <arpa/inet.h>

#include <algorithm>
#include <boost/asio/post.hpp>
#include <mutex>
#include <optional>
#include <unordered_map>

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
    std::optional<name_answer> found;  // when it is done
};

// Numbers that are no addresses to HTTP but are to the system's resolver, as 127.1 or 2130706433.
std::optional<asio::ip::address> number_of(const std::string& name) {
    in_addr at{};
    if (inet_aton(name.c_str(), &at) == 0) return std::nullopt;
    return asio::ip::address_v4(ntohl(at.s_addr));
}

resolver::addresses addresses_in(const name_answer& said, const std::string& name) {
    if (!said.addresses.empty()) return said.addresses;
    if (said.answered) throw boost::system::system_error(asio::error::host_not_found, "resolve " + name);
    throw boost::system::system_error(asio::error::host_not_found_try_again, "resolve " + name);
}

// Two threads, which start when they are needed.
resolver::question by_dns(timekeeper& time, const dns::servers& from) {
    struct sides {
        std::array<std::unique_ptr<dns>, 2> made;
        std::mutex mutex;
    };
    return [&time, from, both = std::make_shared<sides>()](const std::string& name, chosen_by who,
                                                           const resolver::done& tell) {
        const std::lock_guard lock(both->mutex);
        auto& mine = both->made[static_cast<std::size_t>(who)];
        if (!mine) mine = std::make_unique<dns>(time, from);
        mine->ask(name, tell);
    };
}

}  // namespace

// Answers share it with the resolver, so that it outlives both.
struct resolver::desk : std::enable_shared_from_this<desk> {
    desk(timekeeper& t, const limits& l, question q, chosen_by w, std::shared_ptr<counts> c)
        : time(t), most(l), ask(std::move(q)), who(w), counted(std::move(c)), known(l.known) {}

    timekeeper& time;
    const limits most;
    question ask;
    const chosen_by who;
    const std::shared_ptr<counts> counted;

    std::mutex mutex;  // of everything below
    name_cache known;
    std::unordered_map<std::string, std::shared_ptr<lookup>> open;

    std::shared_ptr<lookup> join(const std::string& name, const std::shared_ptr<waiter>&);
    std::shared_ptr<lookup> find(const std::string& name, const std::shared_ptr<waiter>&, bool& begins);
    void leave(const std::shared_ptr<lookup>&, const std::shared_ptr<waiter>&);
    void finish(const std::string& name, name_answer);
};

std::shared_ptr<lookup> resolver::desk::join(const std::string& name, const std::shared_ptr<waiter>& self) {
    bool begins = false;
    auto mine = find(name, self, begins);
    if (begins) {
        ++counted->asked;
        ask(name, who,
            [at = shared_from_this(), name](name_answer said) { at->finish(name, std::move(said)); });
    }
    return mine;
}

std::shared_ptr<lookup> resolver::desk::find(const std::string& name, const std::shared_ptr<waiter>& self,
                                             bool& begins) {
    const std::lock_guard lock(mutex);
    const auto now = time.now();
    const auto done = [&](const name_answer& said) {
        ++counted->known;
        auto over = std::make_shared<lookup>();
        over->found = said;
        return over;
    };
    if (const auto* said = known.find(name, now)) return done(*said);
    auto under = open.find(name);
    if (under == open.end()) {
        if (who == chosen_by::client && open.size() >= most.under_way) {
            if (const auto* old = known.last(name, now)) return done(*old);
            ++counted->refused;
            throw refusal(503, "too many names are being looked up; try again later");
        }
        under = open.emplace(name, std::make_shared<lookup>()).first;
        begins = true;
    }
    under->second->waiting.push_back(self);
    return under->second;
}

void resolver::desk::leave(const std::shared_ptr<lookup>& of, const std::shared_ptr<waiter>& self) {
    const std::lock_guard lock(mutex);
    std::erase(of->waiting, self);
}

void resolver::desk::finish(const std::string& name, name_answer said) {
    const std::lock_guard lock(mutex);
    if (!said.answered && said.addresses.empty()) ++counted->failed;
    const auto& holds = known.put(name, std::move(said), time.now());
    const auto mine = open.extract(name);
    if (mine.empty()) return;
    mine.mapped()->found = holds;
    for (const auto& each : mine.mapped()->waiting) asio::post(each->here, [each] { each->end.stop(); });
}

resolver::resolver(timekeeper& time, const limits& most, question ask)
    : desks_{std::make_shared<desk>(time, most, ask, chosen_by::us, counts_),
             std::make_shared<desk>(time, most, ask, chosen_by::client, counts_)} {}

resolver::resolver(timekeeper& time, dns::servers from) : resolver(time, limits{}, by_dns(time, from)) {}

// Questions end first: what they still say comes to desks that are there.
resolver::~resolver() {
    for (const auto& each : desks_) each->ask = nullptr;
}

std::size_t resolver::under_way() const {
    std::size_t sum = 0;
    for (const auto& each : desks_) {
        const std::lock_guard lock(each->mutex);
        sum += each->open.size();
    }
    return sum;
}

task<resolver::addresses> resolver::resolve(asio::io_context& here, std::string name, chosen_by by,
                                            clock::time_point end) {
    // Leaves however the coroutine ends; also when its loop is shut down, and takes the alarm with it.
    struct seat {
        std::shared_ptr<desk> at;
        std::shared_ptr<waiter> self;
        std::shared_ptr<lookup> of;
        ~seat() { at->leave(of, self); }
    };
    if (name.size() > longest_name)
        throw boost::system::system_error(asio::error::host_not_found, "resolve a name of that length");
    if (const auto number = number_of(name)) co_return addresses{*number};
    std::ranges::transform(name, name.begin(), [](char c) { return c >= 'A' && c <= 'Z' ? c + 32 : c; });
    const auto at = desks_[static_cast<std::size_t>(by)];
    const auto self = std::make_shared<waiter>(at->time, here);
    const seat mine{at, self, at->join(name, self)};
    const auto is_over = [&] {
        const std::lock_guard lock(at->mutex);
        return mine.of->found.has_value();
    };
    if (!is_over()) co_await self->end.until(end);
    if (!is_over()) throw boost::system::system_error(asio::error::timed_out, "resolve " + name);
    co_return addresses_in(*mine.of->found, name);
}

}  // namespace posy::http
