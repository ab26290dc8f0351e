// What is written down of each request at its end: a line of the access log.
#include "proxy.hpp"

namespace posy::proxy {

namespace {

// The client left before there was an answer; nginx has this number for it, and the tools know it.
constexpr unsigned client_left = 499;

std::string_view result_of(const http::conclusion& c) {
    if (c.why.empty()) return c.said.status == 0 ? "aborted" : c.said.result;
    switch (c.said.status) {
        case 401:
        case 403:
        case 407:
        case 421:
        case 429:
        case 503:
            return "denied";
        case 500:
            return "error";
        default:
            return c.said.result.empty() ? "malformed" : c.said.result;
    }
}

}  // namespace

// A head is let go before a long answer ends: what the log needs of it is kept.
void proxy::note_fields(http::request& r) const {
    if (!log_.on()) return;
    r.said.referer = r.head.fields.find("Referer").value_or("");
    r.said.agent = r.head.fields.find("User-Agent").value_or("");
}

// A path alone does not say which site it is of, nor a load balancer's address whose visit it is.
void proxy::note_visit(const terms& on, http::request& r, const target& to) const {
    if (!log_.on()) return;
    r.said.url = to.url;
    r.said.visitor = on.sites.visitor_of(r);
}

void proxy::record(const http::conclusion& c) {
    if (c.said.kind > 0) took_[c.said.kind - 1U].add(c.took);
    if (!log_.on()) return;
    const auto took = std::chrono::duration_cast<std::chrono::milliseconds>(c.took);
    log_entry e{.who = {}, .version = c.version};
    const std::string who = http::unmapped(c.said.visitor.value_or(c.who)).to_string();
    e.who = who;
    e.user = c.said.user;
    e.referer = c.said.referer;
    e.agent = c.said.agent;
    if (c.head) {
        e.method = c.head->method;
        e.target = c.said.url.empty() ? c.head->target : c.said.url;
        if (e.referer.empty()) e.referer = c.head->fields.find("Referer").value_or("");
        if (e.agent.empty()) e.agent = c.head->fields.find("User-Agent").value_or("");
    }
    e.status = c.said.status ? c.said.status : client_left;
    e.bytes = c.body;
    e.result = result_of(c);
    e.why = c.why.empty() ? std::string_view(c.said.why) : c.why;
    e.at = time_.wall_time() - took;
    e.took = std::chrono::duration_cast<std::chrono::microseconds>(c.took);
    log_.write(e);
}

}  // namespace posy::proxy
