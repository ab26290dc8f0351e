// Answers that are kept in part (posy/http_cache/partial.hpp): ranges of the origin, and what broke off.
//
// A part is collected at the pace of the client that it is for, and stored before that client has the last of
// it; if the client leaves, with what has come. Whoever asks for bytes that are here gets them. When all are
// here they become a whole answer like any other. A range of something small has the whole fetched behind it.
#include <boost/asio/post.hpp>

#include "arriving_part.hpp"
#include "confirmation.hpp"
#include "exchange.hpp"
#include "posy/http_cache/cache_control.hpp"
#include "posy/http_cache/validation.hpp"
#include "proxy.hpp"

namespace posy::proxy {

namespace asio = boost::asio;

namespace {

// Copied where it is; longer ones by a thread of the disk.
constexpr std::uint64_t most_resumed = std::uint64_t{16} << 20;  // is copied
constexpr std::uint64_t quick_copy = std::uint64_t{1} << 20;

}  // namespace

// Nothing when the answer is none, or may not be kept.
std::optional<arriving_part> proxy::begin_part(exchange& e, const upstream& u) {
    const auto& said = u.parsing->head;
    const auto range = http_cache::carried_by(said);
    if (!range || e.request.head.method != "GET" || !e.request.head.fields.has("Range")) return std::nullopt;
    auto whole = http_cache::head_of_whole(said);
    if (!http_cache::storable(e.request.head, whole, u.times.time_of_day())) return std::nullopt;
    if (range->length <= std::min(how_.whole_object, how_.max_object) && range->at.size() < range->length)
        renew_behind(e, nullptr);
    if (!http_cache::strong_validator(said.fields, u.times.time_of_day())) return std::nullopt;
    const auto beside = http_cache::head_cost(whole, http_cache::parts_key(e.to.url));
    const auto largest = store_->largest_in_memory() - std::min(store_->largest_in_memory(), beside);
    http_cache::incoming_body body(store_->room(), std::min(how_.max_object, largest), range->at.size(),
                                   beside);
    if (!body.open()) {
        ++unkept_;
        return std::nullopt;
    }
    return arriving_part{*range, e.to.url, as_sent(e.request.head), said, u.times, std::move(body)};
}

// What has come of it; all of it, if it ended well.
void proxy::end_part(arriving_part& part, bool ended) {
    if (!part.body.open()) return;
    const auto size = part.body.text().size();
    const auto [at, length] = part.range;
    if (size == 0 || size > at.size() || (ended && size < at.size())) return;
    keep_parts(part.url, part.request, part.head, {length, at.first, part.body.take()}, part.times);
}

void proxy::keep_parts(const std::string& url, const http_cache::request_head& request,
                       const http_cache::response_head& head, http_cache::body_parts parts,
                       http_cache::exchange_times times) {
    auto made = http_cache::make_partial(url, request, head, std::move(parts), times);
    if (!made) return;
    if (request.fields.has("If-Range")) {  // the fields of the whole may be missing (RFC 9110, 15.3.7)
        const auto held = store_->find_parts(url, request);
        if (!held || !http_cache::same_version(*held, *made)) return;
        made = http_cache::combined(*held, *made);
    }
    if (!keep(made)) return;
    const auto held = store_->find_parts(url, request);
    if (!held || !held->parts->whole() || held->length() > how_.max_object) return;
    auto complete = [this, held] {
        try {
            if (const auto whole = http_cache::whole_of(*held, store_->room())) keep(whole);
        } catch (const std::exception&) {  // no memory; on a thread of the disk it would end the process
            ++unkept_;
        }
    };
    if (held->length() <= quick_copy) {
        complete();
    } else {
        asio::post(reading_, complete);
    }
}

// A request for all, of which the first bytes are here: the rest is asked for, if it is of the same version.
void proxy::ask_for_rest(exchange& e, http_cache::request_head& question) const {
    const auto& asked = e.request.head;
    const auto kept = std::exchange(e.begun, nullptr);
    const bool whole_is_wanted = asked.method == "GET" && !asked.fields.has("Range") &&
                                 !asked.fields.has("Authorization") &&
                                 !http_cache::request_directives_of(asked.fields).no_store;
    if (!kept || !whole_is_wanted || kept->length() > how_.max_object) return;
    const auto have = kept->parts->beginning();
    const auto validator = http_cache::strong_validator(kept->head.fields, kept->received);
    if (have == 0 || have > most_resumed || !validator) return;
    question.fields.set("Range", "bytes=" + std::to_string(have) + "-");
    question.fields.set("If-Range", *validator);
    e.begun = kept;
}

// The rest came: an answer for everyone, whose first bytes are here already. Null if it is not that rest, or
// cannot be stored; then all of it has to be asked for.
std::shared_ptr<arrival> proxy::resume(exchange& e, upstream& u) {
    const auto range = http_cache::carried_by(u.parsing->head);
    const auto& kept = *e.begun;
    const auto have = kept.parts->beginning();
    if (!range || range->at.first != have || range->at.last + 1 != range->length) return nullptr;
    prepare_head(u);
    auto& head = u.parsing->head;
    if (head.fields.has("Set-Cookie") || head.fields.has("Set-Cookie2")) return nullptr;  // for one client
    const auto rest =
        http_cache::make_partial(e.to.url, as_sent(e.request.head), head,
                                 {range->length, have, std::make_shared<const std::string>("?")}, u.times);
    if (!rest || !http_cache::same_version(*rest, kept)) return nullptr;
    head = http_cache::updated(kept.head, http_cache::head_of_whole(head).fields);
    if (!may_keep(e, u, outcome::origin)) return nullptr;
    auto body = collect(e.to.url, u, range->length);
    if (!body.open()) return nullptr;
    for (const auto slice : kept.slices({0, have - 1})) body.append(slice);
    return collect_for_all(e, u, std::move(body), range->length);
}

// An answer to HEAD tells of what is stored, too (RFC 9111, 4.3.5).
http::task<void> proxy::take_head(exchange& e, const http_cache::stored_response& kept, const upstream& u) {
    const auto sent = as_sent(e.request.head);
    const auto& said = u.parsing->head;
    if (!http_cache::for_everyone(sent, said)) co_return;
    if (!http_cache::head_fits(kept, said)) {
        keep(http_cache::aged(kept, u.times));
        co_return;
    }
    const auto made = confirm(kept, sent, said, u.times);
    if (made.for_all) keep(made.for_all);
    if (made.forget) co_await forget(e.request.here, e.to.url);
}

}  // namespace posy::proxy
