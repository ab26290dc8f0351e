// Changes of a node's keys: PUT and DELETE of /keys/KEY; POST of lines "+KEY" and "-KEY" to /keys.
//
// A disk may take its time over a change, so none is made on the thread of a connection. Lines that come
// together are made in pieces: one record of the store and, with --sync, three disk flushes for each. A
// piece is small enough that damage to its record costs few keys, and that stopping the node waits for one
// piece alone.
#include "answers.hpp"
#include "http/elsewhere.hpp"
#include "node.hpp"

namespace posy::node {

using namespace std::chrono_literals;

namespace {

constexpr std::size_t lines_at_once = 256, longest_line = 64 * 1024;

// Lines as they come over the network, cut anywhere.
class change_lines {
  public:
    void take(std::string_view piece) {
        rest_.erase(0, std::exchange(from_, 0));
        rest_ += piece;
    }

    // The next changes; none: more has to come, or `all` has come and was handed out. Throws http::refusal
    // for a line that makes no sense, when all before it were handed out.
    std::vector<key_change> next(bool all) {
        std::vector<key_change> found;
        while (found.size() < lines_at_once && from_ < rest_.size()) {
            const auto feed = rest_.find('\n', from_);
            const bool whole = feed != std::string::npos || all;
            const auto end = std::min(feed, rest_.size());
            auto line = std::string_view(rest_).substr(from_, end - from_);
            if (line.ends_with('\r')) line.remove_suffix(1);
            if (const auto wrong = check(line, whole)) {
                if (found.empty()) throw http::refusal(*wrong);
                break;
            }
            if (!whole) break;
            if (!line.empty()) found.push_back({std::string(line.substr(1)), line[0] == '+'});
            from_ = std::min(end + 1, rest_.size());
        }
        return found;
    }

  private:
    static std::optional<http::refusal> check(std::string_view line, bool whole) {
        if (line.size() > longest_line) return http::refusal(413, "a line of /keys is longer than 64 KiB");
        if (!whole || line.empty()) return std::nullopt;
        if ((line[0] == '+' || line[0] == '-') && line.size() > 1) return std::nullopt;
        return http::refusal(400, "a line of /keys starts with + or -, and a key follows");
    }

    std::string rest_;
    std::size_t from_ = 0;  // of it, what is not handed out
};

}  // namespace

http::task<node::changes> node::change(http::request& r, std::vector<key_change> wanted) {
    auto work = [this, wanted = std::move(wanted)] {
        const auto made = keys_->change(wanted, [this](const key_change& each) {
            each.enters ? set_.insert(each.key) : set_.remove(each.key);
            if (overlay_) overlay_->note(each.key, each.enters);
        });
        changes done{.unchanged = wanted.size() - made.size()};
        for (const key_change* each : made) ++(each->enters ? done.added : done.removed);
        return done;
    };
    const auto done = co_await http::elsewhere(r.here.context, changing_, std::move(work));
    if (overlay_) co_await overlay_->changes_made(r.here);
    r.connection.expires_after(60s);
    co_return done;
}

http::task<http::response> node::changed_listed_keys(http::request& r) {
    change_lines lines;
    changes all;
    for (bool more = true; more;) {
        more = co_await r.reader.more(r.parsing);
        if (more) lines.take(r.parsing.piece);
        r.connection.expires_after(60s);
        for (auto some = lines.next(!more); !some.empty(); some = lines.next(!more)) {
            const auto done = co_await change(r, std::move(some));
            all.added += done.added, all.removed += done.removed, all.unchanged += done.unchanged;
        }
    }
    co_return json({{"added", all.added}, {"removed", all.removed}, {"unchanged", all.unchanged}});
}

http::task<void> node::change_keys(const call& c) {
    const auto a = co_await changed_keys(c.request);
    co_await http::reply(c.request, a);
}

http::task<http::response> node::changed_keys(http::request& r) {
    if (!keys_)
        co_return answer(405, "the keys of a proxy are the URLs in its cache; they cannot be changed\n");
    const std::string_view path = r.head.target;
    const auto& method = r.head.method;
    if (path == "/keys" && method == "POST") co_return co_await changed_listed_keys(r);
    const auto key = path.starts_with("/keys/") ? http::percent_decoded(path.substr(6)) : std::nullopt;
    if (!key || key->empty()) co_return answer(400, "name a key: /keys/KEY, percent-encoded\n");
    if (method == "GET" || method == "HEAD") co_return answer(keys_->has(*key) ? 204 : 404);
    if (method == "PUT" || method == "DELETE") {
        const bool enters = method == "PUT";
        std::vector<key_change> one{{*key, enters}};
        const auto done = co_await change(r, std::move(one));
        if (enters) co_return answer(done.added > 0 ? 201 : 204);
        co_return answer(done.removed > 0 ? 204 : 404);
    }
    auto refused = answer(405, "keys are PUT, DELETEd and asked for with GET\n");
    refused.head.fields.add("Allow", "GET, HEAD, PUT, DELETE");
    co_return refused;
}

}  // namespace posy::node
