// PURGE: stored answers are removed at once, by URL or by tag, here and at the siblings.
//
// An administrator says it, by an address of --allow-admin or the token. A browser at such an address sends
// what a page makes it send, with Origin: that needs the token, which a page does not have. Siblings are told
// with Max-Forwards: 0, so that none of them tells others. The answer says how many URLs were removed, and
// what each sibling said. What is on its way from the origin meanwhile is outdated, too, if its URL is purged
// (forget()); its tags are known only when it is stored, so that a purge by tag misses it.
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <nlohmann/json.hpp>

#include "exchange.hpp"
#include "http/elsewhere.hpp"
#include "posy/http_cache/partial.hpp"
#include "posy/http_cache/url.hpp"
#include "proxy.hpp"

namespace posy::proxy {

namespace asio = boost::asio;

namespace {

constexpr std::array<const char*, 2> tag_fields{"Cache-Tag", "Surrogate-Key"};

// By a site's host both schemes, whose usual ports differ: who purges seldom comes the way that visitors do.
std::vector<std::string> both_schemes(const http::request& r) {
    std::vector<std::string> urls;
    for (const std::string scheme : {"http://", "https://"}) {
        if (auto url = http_cache::normal_url(scheme + authority_of(r) + r.head.target))
            urls.push_back(std::move(*url));
    }
    return urls;
}

}  // namespace

// What a request names; nothing: tags alone.
std::vector<std::string> proxy::purged_urls(const http::request& r) const {
    if (!r.head.target.starts_with('/')) {
        if (auto url = http_cache::normal_url(r.head.target)) return {std::move(*url)};
        throw http::refusal(400, "PURGE needs an absolute URL, the path of a site with its Host, or tags");
    }
    const auto on = terms_.get();
    if (!site_of(*on, r))
        throw http::refusal(421,
                            "PURGE of a path needs the Host of a site (--origin); or name the whole URL");
    return both_schemes(r);
}

http::task<std::uint64_t> proxy::purge_here(http::worker& here, std::vector<std::string> urls) {
    std::uint64_t removed = 0;
    for (const auto& url : urls) {
        removed += store_->has(url) || store_->has_parts(url);
        co_await forget(here, url);
    }
    co_return removed;
}

// All that carry one of these tags, or may.
proxy::tagged_urls proxy::tagged(const std::vector<tags::number>& wanted) const {
    tagged_urls found;
    auto& urls = found.urls;
    store_->for_each_url([&](std::string_view url) {
        const auto said = tags_.carries(url, wanted);
        if (said != tags::answer::no) urls.emplace_back(url);
        found.untold += said == tags::answer::perhaps;
    });
    store_->for_each_parts([&](const http_cache::stored_response& parts) {
        const auto its = tags::of(parts.head.fields);
        const auto url = http_cache::url_of_key(parts.url);
        if (std::ranges::find_first_of(its, wanted) != its.end()) urls.emplace_back(url);
    });
    // A URL may have parts of several variants, and a whole answer beside them. Sorted here, where the store
    // is not locked.
    std::ranges::sort(urls);
    urls.erase(std::ranges::unique(urls).begin(), urls.end());
    return found;
}

// One sibling: how many it removed in all, or why that is not known.
http::task<void> proxy::purge_there(http::worker& here, std::shared_ptr<node::peer> sibling,
                                    std::vector<http::request_head> heads, std::shared_ptr<purge_call> call) {
    nlohmann::json said{{"name", sibling->address.name}, {"purged", 0}};
    try {
        const auto& where = sibling->address.where;
        for (auto& head : heads) {
            head.fields.set("Host", where.authority.text());
            if (const auto token = node_->how().token.get(); !token->empty())
                head.fields.set("Proxy-Authorization", "Bearer " + *token);
            const auto got = co_await here.client.ask(where.authority, where.secure, head, {},
                                                      http::short_answer, how_.sibling_time);
            const auto answer = nlohmann::json::parse(got.body, nullptr, false);
            if (got.head.status != 200 || !answer.is_object() || !answer.contains("purged"))
                throw std::runtime_error("it answered " + std::to_string(got.head.status));
            said["purged"] = said["purged"].get<std::uint64_t>() + answer["purged"].get<std::uint64_t>();
        }
    } catch (const std::exception& x) {
        said.erase("purged");
        said["error"] = x.what();
        const auto& name = sibling->address.name;
        node_->how().log->sparingly(http::log_level::warning, "purge " + name,
                                    "PURGE at sibling {}: {}; its objects stay until they expire", name,
                                    x.what());
    }
    call->said.push_back(said.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
    if (--call->open == 0) call->done.stop();
}

// A sibling may stand in front of sites, or not: it is told whole URLs. By tags, the URL does not matter.
void proxy::tell_siblings(const http::request& r, const std::vector<std::string>& urls,
                          const std::shared_ptr<purge_call>& call) {
    std::vector<http::request_head> heads;
    for (const auto& url : urls) {
        http::request_head head{"PURGE", url, {}};
        for (const auto* name : tag_fields)
            if (const auto list = r.head.fields.combined(name)) head.fields.add(name, *list);
        head.fields.add("Max-Forwards", "0");
        heads.push_back(std::move(head));
    }
    for (const auto& sibling : node_->mesh().all()) {
        if (sibling->address.kind != node::peer_kind::posy) continue;
        ++call->open;
        asio::co_spawn(r.here.context, purge_there(r.here, sibling, heads, call), asio::detached);
    }
}

http::task<void> proxy::purge(http::request& r) {
    const auto rights = node_->rights();
    if (!rights->is(node::role::administrator, r))
        throw http::refusal(403, rights->denial(node::role::administrator, r));
    if (r.head.fields.has("Origin") && !rights->has_token(r))
        throw http::refusal(403,
                            "access denied: a web page (Origin) may not purge; use another client, or send "
                            "the token of --token-file");
    const auto wanted = tags::of(r.head.fields);
    auto urls = wanted.empty() ? purged_urls(r) : std::vector<std::string>{"http://siblings.invalid/"};
    const auto call = std::make_shared<purge_call>(time_, r.here.context);
    if (r.head.fields.find("Max-Forwards").value_or("") != "0") tell_siblings(r, urls, call);
    std::uint64_t untold = 0;
    if (!wanted.empty()) {
        auto search = [this, wanted] { return tagged(wanted); };
        auto found = co_await http::elsewhere(r.here.context, reading_, std::move(search));
        urls = std::move(found.urls);
        untold = found.untold;
    }
    const auto removed = co_await purge_here(r.here, std::move(urls));
    if (untold > 0)
        node_->how().log->info(
            "PURGE by tag: {} objects removed, {} of them because their tags are not known", removed, untold);
    if (call->open > 0) co_await call->done.pause(how_.sibling_time + std::chrono::seconds(1));
    std::string text = "{\"purged\":" + std::to_string(removed);
    if (!wanted.empty()) text += ",\"tags_unknown\":" + std::to_string(untold);
    text += ",\"siblings\":[";
    for (std::size_t i = 0; i < call->said.size(); ++i) text += (i > 0 ? "," : "") + call->said[i];
    http::response answer{{200, {}, {}}, text + "]}\n"};
    answer.head.fields.add("Content-Type", "application/json");
    co_await http::reply(r, answer);
}

}  // namespace posy::proxy
