// Requests that go on as another protocol: WebSocket and the like (RFC 9110, 7.8).
//
// They go to the origin and to nobody else. Its 101 makes a tunnel of both connections; any other answer is
// an answer like all others.
#include "exchange.hpp"
#include "proxy.hpp"

namespace posy::proxy {

http::task<void> proxy::switch_protocols(exchange& e, upstream& u) {
    e.request.keep_alive = false;
    auto answer = heads_.switching(u.parsing->head, e.status);
    count(e, outcome::tunnel, 101, 0);
    e.request.said.body = ~std::uint64_t{0};  // whatever goes through it
    co_await tunnel(e.request, std::move(u.channel), std::move(answer), e.request.reader.rest(),
                    how_.tunnel_time);
}

}  // namespace posy::proxy
