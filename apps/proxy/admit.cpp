// Whether the rules let a request through (rules.hpp), and what it is answered if not.
//
// A denial names the rule by its place and nothing of it. The connection stays open: a client that is asked
// who it is answers on the same one.
#include <fmt/format.h>

#include "exchange.hpp"
#include "http/crowd.hpp"
#include "proxy.hpp"

namespace posy::proxy {

namespace {

constexpr std::size_t most_of_a_name = 64;  // of a user whom nobody knows, in logs

std::string no_rule_for(const judgement& found, const http::address& where) {
    return found.rule ? fmt::format("rule {} does not allow {}", found.rule, where.to_string())
                      : fmt::format("no rule allows {}", where.to_string());
}

// What applies to the addresses of one request, for as long as something is fetched for it.
http::permit permit_of(const std::shared_ptr<rule_book>& book, const inquiry& asked,
                       const http::networks& everyones) {
    return [book, asked, everyones](const http::address& where) {
        const auto found = book->rules().decide_at(asked, &where);
        return found.what == decision::allow ? book->refusal(found.rule, where, everyones)
                                             : no_rule_for(found, where);
    };
}

std::string rule_name(std::size_t place) {
    return place ? fmt::format("rule {} of this proxy", place) : "no rule of this proxy";
}

}  // namespace

inquiry proxy::inquiry_of(const terms& on, const http::request& r, const http::host_port& to) {
    inquiry q{r.connection.remote().address(), to.host, to.port, r.head.method};
    for (char& c : q.host)
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    if (q.host.ends_with('.')) q.host.pop_back();
    q.tunnel = r.head.method == "CONNECT";
    q.says_who = r.head.fields.has("Proxy-Authorization");
    if (const auto written = written_address(to.host)) q.addresses = {*written};
    // A parent looks names up itself.
    q.resolved = !q.addresses.empty() || on.parents.any();
    return q;
}

// Named before it is handed on: GCC 12 destroys a braced temporary in a co_await expression twice.
struct proxy::denial {
    unsigned status;
    std::string why;
    std::int64_t retry = 0;                 // seconds; 0: nothing is said of it
    std::vector<std::string> challenges{};  // how to say who one is
};

http::task<void> proxy::turn_away(http::request& r, const denial& d) {
    http::response answer{{d.status, {}, {}}, d.why + "\n"};
    answer.head.fields.add("Content-Type", "text/plain");
    if (d.retry > 0) answer.head.fields.add("Retry-After", std::to_string(d.retry));
    for (const auto& each : d.challenges) answer.head.fields.add("Proxy-Authenticate", each);
    r.said.result = "denied";
    r.said.why = d.why;
    // To be asked is the beginning of every visit, not a refusal.
    if (d.status != 407) {
        ++(d.status == 403 ? server_.counts().ruled : server_.counts().too_many);
        if (server_.on_refusal)
            server_.on_refusal(r.connection.remote().address().to_string(), d.status, d.why);
    }
    co_await http::reply(r, answer);
}

// Who the client is, if what it says is true; false: it was answered.
http::task<bool> proxy::recognise(const terms& on, http::request& r, inquiry& asked) {
    asked.says_who = false;
    const auto said = r.head.fields.combined("Proxy-Authorization");
    const auto shown = parse_credentials(said.value_or(""));
    const auto known = on.doors.users();
    const auto& from = r.connection.remote().address();
    auto& log = *node_->how().log;
    if (shown.how == credentials::scheme::bearer) {
        asked.who = known->by_token(shown.secret);
        if (!asked.who) log.sparingly(http::log_level::info, "token", "{}: wrong token", from.to_string());
    }
    if (shown.how == credentials::scheme::basic) {
        using finding = password_checks::finding;
        const auto found = co_await passwords_->check(r, known, shown.name, shown.secret);
        if (found == finding::right) asked.who = known->find(shown.name);
        if (found == finding::wrong) {
            r.said.user = shown.name.substr(0, most_of_a_name);
            // Each costs a hash, which limits them.
            log.info("{}: wrong password for user '{}'", from.to_string(), r.said.user);
        }
        denial busy{429, "too many wrong passwords, or checks of them at a time, from this address", 2};
        if (found == finding::too_many) busy = {503, "too many passwords wait to be checked", 2};
        if (found == finding::too_many_here || found == finding::too_many) {
            co_await turn_away(r, busy);
            co_return false;
        }
    }
    if (asked.who) r.said.user = asked.who->name;
    co_return true;
}

proxy::denial proxy::denial_of(const terms& on, const judgement& found, const http::request& r) {
    if (found.what != decision::challenge)
        return {403, found.rule ? "access denied by " + rule_name(found.rule)
                                : "access denied: " + rule_name(0) + " allows this"};
    const bool tried = r.head.fields.has("Proxy-Authorization");
    return {407,
            rule_name(found.rule) + (tried ? " needs to know who you are, and what you say is not right"
                                           : " needs to know who you are"),
            0, on.doors.challenges()};
}

// Until nothing is unknown that a rule needs. Nothing: it was answered.
http::task<std::optional<judgement>> proxy::judge_by(const terms& on, http::request& r, inquiry& asked) {
    for (;;) {
        const auto found = on.doors.book()->rules().decide(asked);
        bool go_on = true;
        if (found.what == decision::check) {
            go_on = co_await recognise(on, r, asked);
        } else if (found.what == decision::resolve) {
            go_on = co_await locate(r, asked, found.rule);
        } else {
            co_return found;
        }
        if (!go_on) co_return std::nullopt;
    }
}

// Where rules allow some clients more places than others, what is stored of these is not for everyone: then
// the addresses count before anything is served. Empty: one of them may be connected to.
http::task<std::optional<std::string>> proxy::judge_place(const terms& on, rule_book& book, http::request& r,
                                                          inquiry& asked, std::size_t rule) {
    if (!book.rules().names_networks() || asked.site) co_return std::string();
    if (!asked.resolved) {
        const bool found = co_await locate(r, asked, rule);
        if (!found) co_return std::nullopt;
    }
    std::string why;
    for (const auto& each : asked.addresses) {
        const auto found = book.rules().decide_at(asked, &each);
        why = found.what == decision::allow
                  ? book.recent_refusal(found.rule, each, on.destinations, time_.now())
                  : no_rule_for(found, each);
        if (why.empty()) break;
    }
    co_return why;
}

http::task<std::optional<proxy::leave>> proxy::admit(const terms& on, http::request& r, inquiry asked) {
    leave given;
    const auto book = on.doors.book();
    if (!book || (!asked.site && on.rights->has_token(r))) co_return std::move(given);
    const auto found = co_await judge_by(on, r, asked);
    if (!found) co_return std::nullopt;
    std::optional<std::string> closed("");
    if (found->what == decision::allow) closed = co_await judge_place(on, *book, r, asked, found->rule);
    if (!closed) co_return std::nullopt;
    denial no = denial_of(on, *found, r);
    auto counted = ruling::deny;
    std::string client;
    if (found->what == decision::challenge) {
        counted = ruling::authenticate;
    } else if (!closed->empty()) {
        no.why = "this proxy does not connect to " + asked.host + ": " + *closed;
    } else if (found->what == decision::allow) {
        counted = ruling::allow;
        client = book->rules().at(found->rule).about_users() ? "user " + asked.who->name
                                                             : http::crowd::party_of(asked.from).to_string();
        if (const auto over = book->usage(found->rule).enter(client, {time_.now(), time_.seconds()})) {
            counted = ruling::limit;
            no = {429, rule_name(found->rule) + ": " + over->why, over->retry};
        }
    }
    book->count(found->rule, counted);
    if (counted != ruling::allow) {
        co_await turn_away(r, no);
        co_return std::nullopt;
    }
    const auto& rule = book->rules().at(found->rule);
    given.under_way = std::make_unique<admission>(book, found->rule, std::move(client), r);
    given.any_port = rule.tunnel && !rule.ports.empty();
    given.to = std::make_shared<const http::permit>(permit_of(book, asked, on.destinations));
    co_return std::move(given);
}

// Where the name leads, because a rule needs to know; false: nowhere, and that was the answer.
http::task<bool> proxy::locate(http::request& r, inquiry& asked, std::size_t rule) {
    std::string why;
    try {
        r.connection.expires_after(how_.origin_time + std::chrono::seconds(10));
        asked.addresses = co_await r.here.client.look_up(asked.host, http::chosen_by::client,
                                                         time_.now() + how_.origin_time);
    } catch (const boost::system::system_error& e) {
        why = e.what();
    }
    asked.resolved = true;
    if (!asked.addresses.empty()) co_return true;
    http::response answer{{502, {}, {}}, {}};
    answer.body = fmt::format("{} needs the address of {}: {}\n", rule_name(rule), asked.host, why);
    answer.head.fields.add("Content-Type", "text/plain");
    r.said.result = name_of(outcome::failed);
    r.said.why = fmt::format("{}: {}", asked.host, why);
    co_await http::reply(r, answer);
    co_return false;
}

void proxy::tell_doubts() const {
    for (const auto& each : terms_.get()->doors.doubts()) node_->how().log->warning("{}", each);
}

}  // namespace posy::proxy
