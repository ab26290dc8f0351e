// Siblings: which may have an object, and what becomes of asking one of them.
#include <algorithm>
#include <array>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <random>

#include "exchange.hpp"
#include "posy/http_cache/policy.hpp"
#include "posy/http_cache/variant.hpp"
#include "proxy.hpp"

namespace posy::proxy {

namespace asio = boost::asio;
using namespace std::chrono_literals;

namespace {

constexpr auto rest = 5s;  // of a sibling that failed
constexpr std::uint64_t most_drained =
    16 * 1024;  // to use a connection again; a new one costs less than more

enum class reply {
    answer,         // a whole one, for this client
    other_variant,  // it chose without knowing a field of the client's that matters
    not_here,
    no,       // it does not like the question, which is the client's doing as likely as its own
    failure,  // not what a sibling says: a wrong token, too many questions, an answer to something else
};

reply kind_of(const http_cache::response_head& said, const http_cache::fields& sent,
              const http_cache::fields& of_client) {
    const bool hit = said.fields.combined("Cache-Status").value_or("").find("; hit") != std::string::npos;
    // A whole answer that it had: no 304 and no 206, which it was not asked for.
    if (said.status == 200 || (hit && said.status < 500 && http_cache::answers_plain_get(said.status))) {
        const bool same =
            !http_cache::varies_on_everything(said.fields) &&
            http_cache::variant_of(sent, said.fields) == http_cache::variant_of(of_client, said.fields);
        return same ? reply::answer : reply::other_variant;
    }
    if (said.status == 504) return reply::not_here;
    constexpr std::array<unsigned, 6> about_us{401, 403, 407, 412, 416, 429};
    const bool refused = (said.status >= 400 && said.status < 500) || said.status == 508;
    return refused && std::ranges::count(about_us, said.status) == 0 ? reply::no : reply::failure;
}

}  // namespace

// Those whose summaries name the URL, the quickest first.
http::task<std::vector<std::shared_ptr<node::peer>>> proxy::holders(exchange& e) {
    if (node_->how().sharing == node::sharing::ask) co_return co_await ask_everyone(e);
    std::vector<std::shared_ptr<node::peer>> found;
    node_->mesh().looked_up();
    const auto now = time_.now();
    for (const auto& holder : node_->directory().who(e.to.url, time_.milliseconds())) {
        auto peer = node_->mesh().find(holder.peer);
        if (peer && peer->up && peer->rests_until.load() < now && !peer->distrusted(now))
            found.push_back(std::move(peer));
    }
    std::ranges::sort(found, {}, [](const auto& p) { return p->delay.load(); });
    co_return found;
}

// As ICP does: a question to each at the same time, and the first that says yes is taken.
http::task<std::vector<std::shared_ptr<node::peer>>> proxy::ask_everyone(exchange& e) {
    struct poll {
        explicit poll(asio::io_context& here) : timer(here, http::steady_timer::time_point::max()) {}
        std::vector<std::shared_ptr<node::peer>> yes;
        std::size_t open = 0;
        http::steady_timer timer;
    };
    auto& here = e.request.here;
    auto asked = std::make_shared<poll>(here.context);
    const auto key = http::percent_encoded(e.to.url);
    for (const auto& peer : node_->mesh().all()) {
        ++asked->open;
        auto question = [](proxy& self, http::worker& w, std::shared_ptr<node::peer> p, std::string target,
                           std::shared_ptr<poll> all) -> http::task<void> {
            try {
                const auto head = self.node_->mesh().request_to(*p, "GET", std::move(target));
                const auto got = co_await w.client.ask(p->address.where.authority, p->address.where.secure,
                                                       head, {}, http::short_answer, self.how_.sibling_time);
                self.node_->bytes().questions += got.sent + got.received;
                p->up = true;
                if (got.head.status == 204) all->yes.push_back(p);
            } catch (const std::exception&) {
                p->up = false;
                ++p->failures;
            }
            if (--all->open == 0 || all->yes.size() == 1) all->timer.cancel();
        };
        asio::co_spawn(here.context, question(*this, here, peer, "/have?key=" + key, asked), asio::detached);
    }
    boost::system::error_code done;
    if (asked->open > 0) co_await asked->timer.async_wait(asio::redirect_error(http::use_awaitable, done));
    co_return asked->yes;
}

// Reads the rest of a short answer, so that the connection can be used again.
http::task<void> proxy::drain(http::worker& here, upstream& u) {
    if (u.parsing->content_length().value_or(~0ULL) > most_drained) co_return;
    try {
        for (bool more = true; more;) more = co_await u.more();
        if (u.reusable()) here.client.keep(std::move(u.channel));
    } catch (const std::exception&) {  // it has said what we need
    }
}

// The head of its answer, or nothing when there is none.
http::task<std::optional<upstream>> proxy::ask_sibling(http::worker& here, const node::peer& sibling,
                                                       http::request_head question) {
    std::optional<upstream> u;
    try {
        if (how_.break_siblings > 0) {
            thread_local std::minstd_rand random{std::random_device{}()};
            if (std::uniform_real_distribution<>()(random) < how_.break_siblings)
                throw http::refusal(502, "broken on purpose");
        }
        const auto token = node_->how().token.get();
        if (!token->empty() && sibling.address.kind == node::peer_kind::posy)
            question.fields.set("Proxy-Authorization", "Bearer " + *token);
        const auto& where = sibling.address.where;
        const destination to{where.authority, where.secure, http::chosen_by::us};
        u = co_await send(here.client, to, std::move(question), nullptr, how_.sibling_time);
    } catch (const std::exception&) {
        u.reset();
    }
    co_return u;
}

// One sibling is asked, the best. True when the client has its answer.
http::task<bool> proxy::fetch_from_sibling(exchange& e) {
    auto found = co_await holders(e);
    if (found.empty()) co_return false;
    node::peer& sibling = *found.front();
    auto& here = e.request.here;
    auto question = heads_.to_sibling(e.request.head, e.to);
    const auto told_of_client = question.fields;
    const auto start = time_.now();
    auto u = co_await ask_sibling(here, sibling, std::move(question));
    const auto kind = u ? kind_of(u->parsing->head, told_of_client, e.request.head.fields) : reply::failure;
    if (u) sibling.took(time_.now() - start);
    switch (kind) {
        case reply::answer: {
            e.status.detail = sibling.address.name;
            const bool done = co_await relay(e, *u, outcome::sibling);
            done ? node_->mesh().was_there(sibling) : void(++sibling.failures);
            if (!done) e.status.detail.clear();
            co_return done;
        }
        case reply::failure:
            ++sibling_failures_;
            ++sibling.failures;
            if (how_.break_siblings == 0) sibling.rests_until = time_.now() + rest;
            co_return false;
        case reply::no:
            co_await drain(here, *u);
            co_return false;
        case reply::other_variant:  // it has the URL: its summary did not mislead us
            ++false_by_age_;
            break;
        case reply::not_here: {
            const auto said = u->parsing->head.fields.combined("Cache-Status").value_or("");
            node_->mesh().was_not_there(sibling, e.to.url);
            ++(said.find("detail=filter") != std::string::npos ? false_by_filter_ : false_by_age_);
            break;
        }
    }
    e.status.detail = "false-hit";
    co_await drain(here, *u);
    co_return false;
}

}  // namespace posy::proxy
