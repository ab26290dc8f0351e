#include "confirmation.hpp"

#include "posy/http_cache/policy.hpp"
#include "posy/http_cache/validation.hpp"

namespace posy::proxy {

namespace {

// May it be stored? The client that happened to ask does not decide that. Parts need a strong validator: else
// nobody can tell what belongs to them.
bool may_stay(http_cache::request_head request, const http_cache::stored_response& fresh,
              std::int64_t received) {
    request.method = "GET";
    for (const auto* own : {"Cache-Control", "Pragma", "Authorization", "Cookie"}) request.fields.erase(own);
    if (fresh.parts && !http_cache::strong_validator(fresh.head.fields, received)) return false;
    return http_cache::storable(request, fresh.head, received);
}

}  // namespace

confirmation confirm(const http_cache::stored_response& stale, const http_cache::request_head& sent,
                     const http_cache::response_head& said, http_cache::exchange_times times) {
    confirmation made;
    made.answer = http_cache::freshened(stale, sent, said, times);
    if (made.answer && !http_cache::for_everyone(sent, said)) return made;
    if (made.answer && may_stay(sent, *made.answer, times.time_of_day())) {
        made.for_all = sent.fields.has("Cookie")
                           ? http_cache::freshened(stale, sent, http_cache::impersonal(said), times)
                           : made.answer;
    }
    made.forget = !made.for_all;
    return made;
}

}  // namespace posy::proxy
