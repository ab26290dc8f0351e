// The paths of a node that is part of an overlay: letters of other nodes, its picture, and who has a key.
#include "answers.hpp"
#include "node.hpp"

namespace posy::node {

namespace {

http::response not_in_an_overlay() {
    return answer(404, "this node is part of no overlay; --overlay makes it one\n");
}

}  // namespace

http::task<void> node::take_letters(const call& c) {
    auto a = not_in_an_overlay();
    if (overlay_) a = co_await overlay_->take_letters(c.request);
    co_await http::reply(c.request, a);
}

http::task<void> node::send_overlay(const call& c) {
    auto a = not_in_an_overlay();
    if (overlay_) a = json(co_await overlay_->picture(c.request.here));
    co_await http::reply(c.request, a);
}

http::task<http::response> node::who_by_overlay(http::worker& here, std::string key) {
    const auto found = co_await overlay_->look_up(here, key);
    if (!found) co_return answer(503, "too many lookups wait for their answers; ask again later\n");
    const auto& [result, addresses] = *found;
    nlohmann::json said{{"key", key},
                        {"local", have(key)},
                        {"peers", nlohmann::json::array()},
                        {"resting", nlohmann::json::array()},
                        {"method", name_of(how_.overlay.kind)},
                        {"hops", result.hops},
                        {"attempts", result.attempts},
                        {"seconds", static_cast<double>(result.took) / 1000},
                        {"timed_out", result.timed_out}};
    for (std::size_t i = 0; i < addresses.size(); ++i) {
        const auto where = http::parse_url(addresses[i]);
        if (!where || addresses[i] == how_.overlay.address) continue;
        said["peers"].push_back({{"name", where->authority.text()},
                                 {"url", addresses[i]},
                                 {"up", true},
                                 {"summary_age_seconds", static_cast<double>(result.holders[i].age) / 1000}});
    }
    co_return json(said, result.timed_out ? 504 : 200);
}

}  // namespace posy::node
