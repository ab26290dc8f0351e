#include "overlay_service.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/post.hpp>
#include <random>

#include "http/elsewhere.hpp"

namespace posy::node {

using namespace std::chrono_literals;

namespace {

std::uint64_t drawn_secret() {
    std::random_device random;
    return std::uint64_t{random()} << 32 | random();
}

constexpr auto farewell_time = 1s;
constexpr std::uint64_t longest_sleep = 500;  // ms

}  // namespace

// A node sends one batch at a time; several nodes may share an address.
overlay_service::overlay_service(const options& how, http::server& server)
    : how_(how),
      server_(server),
      here_(server.first()),
      self_(book_.keep(how.overlay.address)),
      machine_(make_machine(how, self_, server.time().milliseconds(), drawn_secret())),
      office_(how, here_),
      senders_({.at_a_time = 1, .burst = 400, .interval = 5}),
      addresses_({.at_a_time = 64, .burst = 4000, .interval = 1}),
      alarm_(server.time(), here_.context) {
    for (const auto& each : how.overlay.contacts) book_.keep(each);
}

// What follows from a step of the machine.
void overlay_service::stepped(const outbox& out) {
    post(out);
    deliver_answers();
    const auto of_machine = machine_->counts();
    {
        const std::lock_guard lock(mutex_);
        of_machine_ = of_machine;
    }
    const auto next = machine_->next_tick();
    if (!next || *next >= due_) return;
    due_ = *next;
    asio::post(here_.context, [this] { alarm_.stop(); });
}

std::optional<std::string> overlay_service::address_of(node_id node) {
    if (const auto* known = book_.find(node)) return *known;
    const auto learnt = machine_->address_of(node);
    if (learnt && book_.learn(*learnt) == node) return learnt;
    return std::nullopt;
}

void overlay_service::post(const outbox& out) {
    for (const auto& each : out) {
        if (each.to == self_) continue;
        const auto to = address_of(each.to);
        if (!to) {
            count([](counts& c) { ++c.homeless; });
            continue;
        }
        std::vector<std::string> named;
        for (const node_id node : machine_->named_in(each.message))
            if (auto where = address_of(node)) named.push_back(std::move(*where));
        asio::post(here_.context, [this, to = *to, named = std::move(named),
                                   message = each.message]() mutable { office_.send(to, named, message); });
    }
}

// Nothing else runs yet.
void overlay_service::start(const local_set::key_source& all) {
    all([this](std::string_view key) {
        step([&](std::uint64_t now, outbox& out) { machine_->insert(key, now, out); });
    });
    step([this](std::uint64_t now, outbox& out) { machine_->start(now, out); });
    asio::co_spawn(here_.context, keep_time(), asio::detached);
}

http::task<void> overlay_service::keep_time() {
    for (;;) {
        due_ = here_.time.milliseconds() + longest_sleep;
        auto work = [this] {
            step([this](std::uint64_t now, outbox& out) { machine_->tick(now, out); });
            if (left_) return true;
            std::map<std::string, std::uint64_t> relations;
            for (const auto& each : seen()) {
                if (each.state == "up") ++relations[std::string(each.relation)];
                if (each.state == other_filters) warn_of_other_filters(each);
            }
            const std::lock_guard lock(mutex_);
            relations_ = std::move(relations);
            return false;
        };
        const bool left = co_await http::elsewhere(here_.context, running_, std::move(work));
        if (left) co_return;
        // A step that wants its tick sooner ends the pause, or has changed the time before it began.
        const std::uint64_t now = here_.time.milliseconds(), due = due_;
        if (due > now) co_await alarm_.pause(std::chrono::milliseconds(due - now));
    }
}

http::task<void> overlay_service::leave() {
    auto work = [this] {
        step([this](std::uint64_t now, outbox& out) { machine_->leave(now, out); });
        return left_ = true;
    };
    co_await http::elsewhere(here_.context, running_, std::move(work));
    http::alarm pause(here_.time, here_.context);
    const auto end = here_.time.now() + farewell_time;
    while (!office_.empty() && here_.time.now() < end) co_await pause.pause(10ms);
}

void overlay_service::finish() {
    running_.stop();
    running_.join();
}

void overlay_service::note(std::string_view key, bool enters) {
    asio::post(running_, [this, key = std::string(key), enters] {
        step([&](std::uint64_t now, outbox& out) {
            enters ? machine_->insert(key, now, out) : machine_->remove(key, now, out);
        });
    });
}

http::task<void> overlay_service::changes_made(http::worker& here) {
    co_await http::elsewhere(here.context, running_, [] { return true; });
}

// ---- Lookups ----------------------------------------------------------------------------------------------

http::task<std::optional<overlay_service::found>> overlay_service::look_up(http::worker& here,
                                                                           std::string key) {
    const auto w = std::make_shared<waiter>(here);
    asio::post(running_, [this, w, key = std::move(key)] {
        std::optional<std::uint32_t> id;
        step([&](std::uint64_t now, outbox& out) {
            id = machine_->look_up(key, now, out);
            if (id) waiting_[*id] = w;
        });
        if (id) return;
        asio::post(w->here.context, [w] { w->refused = true, w->alarm.stop(); });
    });
    // The machine gives up by itself; this is for one that is very busy.
    co_await w->alarm.pause(2 * how_.overlay.lookup_time + 1s);
    if (w->refused) co_return std::nullopt;
    if (!w->got) w->got = found{.answer = {.timed_out = true}, .addresses = {}};
    co_return std::move(w->got);
}

void overlay_service::deliver_answers() {
    for (auto& answer : machine_->take_answers()) {
        count([&](counts& c) {
            ++(answer.timed_out ? c.timed_out : answer.holders.empty() ? c.absent : c.found);
            c.hops += answer.hops;
        });
        const auto waits = waiting_.find(answer.id);
        if (waits == waiting_.end()) continue;
        found got{.answer = std::move(answer), .addresses = {}};
        for (const auto& each : got.answer.holders)
            got.addresses.push_back(address_of(each.node).value_or(""));
        const auto w = waits->second;
        waiting_.erase(waits);
        asio::post(w->here.context, [w, got = std::move(got)]() mutable {
            w->got = std::move(got);
            w->alarm.stop();
        });
    }
}

}  // namespace posy::node
