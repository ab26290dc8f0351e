#include "forwards.hpp"

#include <charconv>

namespace posy::proxy {

using namespace std::string_view_literals;

namespace {

// What the sender said, without what it would not want to see in a log (RFC 9110, 9.3.8).
http::response echo(http::request_head head) {
    for (const auto* secret : {"Authorization", "Proxy-Authorization", "Cookie"}) head.fields.erase(secret);
    http::response r{{200, {}, {}}, http::to_text(head) + "\r\n"};
    r.head.fields.add("Content-Type", "message/http");
    return r;
}

http::response abilities() {
    http::response r;
    r.head.fields.add("Allow", "GET, HEAD, POST, PUT, DELETE, PATCH, OPTIONS, TRACE, CONNECT");
    return r;
}

}  // namespace

std::optional<http::response> last_answer(http::request_head& head) {
    const bool trace = head.method == "TRACE"sv;
    if (!trace && head.method != "OPTIONS"sv) return std::nullopt;
    if (!trace && head.target == "*") return abilities();
    const auto field = head.fields.combined("Max-Forwards");
    if (!field) return std::nullopt;
    unsigned left = 0;
    const auto [end, failed] = std::from_chars(field->data(), field->data() + field->size(), left);
    if (failed != std::errc{} || end != field->data() + field->size())
        throw http::refusal(400, "Max-Forwards has to be one whole number");
    if (left > 0) {
        head.fields.set("Max-Forwards", std::to_string(left - 1));
        return std::nullopt;
    }
    return trace ? echo(head) : abilities();
}

}  // namespace posy::proxy
