// A caching HTTP forward proxy whose siblings share summaries: Summary Cache (Fan et al. 1998) with the
// compressed, delta-coded filters of Mitzenmacher (2002), as a working system.
//
// A request is answered from the store if RFC 9111 lets it be (posy/http_cache/policy.hpp); if not, the
// summaries of the siblings say which may have it, the best of those is asked with only-if-cached, and then
// the origin. A false hit costs that one question. Cache-Status (RFC 9211) tells what happened.
//
// Requests of one connection run one after the other on one thread; the store, the set and the flights are
// shared by all. What is on disk is read and written by threads of its own.
#pragma once

#include <array>
#include <atomic>
#include <boost/asio/thread_pool.hpp>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "access_log.hpp"
#include "arrival.hpp"
#include "arriving_part.hpp"
#include "disk_news.hpp"
#include "doorkeeper.hpp"
#include "flights.hpp"
#include "heads.hpp"
#include "http/changing.hpp"
#include "node/node.hpp"
#include "password_checks.hpp"
#include "posy/http_cache/policy.hpp"
#include "posy/http_cache/room.hpp"
#include "posy/http_cache/store.hpp"
#include "renewals.hpp"
#include "tags.hpp"
#include "terms.hpp"
#include "unshared.hpp"
#include "upstream.hpp"

namespace posy::proxy {

struct options {
    http_cache::store_options store;
    bool keep_siblings = false;    // store what came from a sibling, too; else it stays there alone
    std::uint64_t max_object = 0;  // larger answers pass through; 0: 8 MiB, or what the memory takes
    std::uint64_t whole_object = std::uint64_t{1} << 20;  // up to here, a range leads to a fetch of the whole
    std::string access_log;
    proxy::log_format log_format = log_format::common;
    std::vector<std::uint16_t> connect_ports{443};
    site_options sites;              // in front of which it stands
    std::vector<http::url> parents;  // that misses go through
    bool direct = false;             // to origins where no parent can be reached
    bool also_forward = false;       // a forward proxy as well, although there are sites
    http::networks destinations;     // beyond the Internet, where clients may be connected to
    rule_list rules;                 // which of that is allowed to whom; none: all
    user_files users;                // that the rules name
    std::chrono::milliseconds sibling_time{2000};
    std::chrono::milliseconds origin_time{30'000};   // to the head of an origin's answer
    std::chrono::milliseconds silence_time{60'000};  // without a byte of an answer moving, to us or from us
    std::chrono::milliseconds tunnel_time{300'000};  // the same of a tunnel
    double break_siblings = 0;  // this share of the questions to siblings fails: for tests of failure
};

// The largest max_object for that memory: what stays of the largest object beside its head.
std::uint64_t most_of_one_object(const http_cache::store_options&);

// How a request was answered.
enum class outcome {
    hit,          // from the store, fresh
    stale,        // from the store, stale: while it is revalidated, or because the origin fails
    revalidated,  // from the store, after the origin said it still holds
    sibling,
    origin,
    refused,  // only-if-cached and not there
    failed,   // no cache had it and the origin did not answer
    denied,   // it leads where clients may not be connected to
    passed,   // not a matter for a cache: other methods
    tunnel,
    count_
};
std::string_view name_of(outcome);

enum class framing;  // of a body

class proxy : http_cache::observer {
  public:
    proxy(const options&, const node::options&, http::server&);
    ~proxy() override;

    http::task<void> handle(http::request&);
    node::node& node() { return *node_; }
    // "; 12 objects, 3456 bytes on disk", or nothing without a disk.
    std::string holdings() const;
    // From any thread: the file of the log may have been renamed.
    void reopen_log() { log_.reopen(); }
    // What may change while it runs, from options that are checked: files are read and opened, and nothing
    // changes. Throws std::runtime_error. From any thread.
    struct prepared {
        options how;
        doorkeeper doors;
        base::descriptor log;
    };
    prepared prepare(const options&) const;
    // Changes all of it at once, and who may use the proxy to what the node says now. From any thread.
    void take(prepared);

  private:
    struct exchange;  // one request on its way through here
    struct transfer;  // the answer of someone else on its way to the client
    struct fetching;  // the answer of someone else on its way to the store

    // The store's observer.
    void entered(std::string_view url) override;
    void left(std::string_view url) override;
    void damaged(std::string_view file) override { disk_news_.damaged(file); }

    // What siblings say to a purge.
    struct purge_call {
        purge_call(http::timekeeper& time, boost::asio::io_context& here) : done(time, here) {}
        std::vector<std::string> said;  // JSON
        std::size_t open = 0;
        http::alarm done;
    };
    http::task<void> purge(http::request&);
    std::vector<std::string> purged_urls(const http::request&) const;
    struct tagged_urls {
        std::vector<std::string> urls;
        std::uint64_t untold = 0;  // of them, those whose tags are not known
    };
    tagged_urls tagged(const std::vector<tags::number>& wanted) const;
    http::task<std::uint64_t> purge_here(http::worker&, std::vector<std::string> urls);
    void tell_siblings(const http::request&, const std::vector<std::string>& urls,
                       const std::shared_ptr<purge_call>&);
    http::task<void> purge_there(http::worker&, std::shared_ptr<node::peer>, std::vector<http::request_head>,
                                 std::shared_ptr<purge_call>);
    static bool from_sibling(const terms&, const http::request&);
    static bool called_by_name(const terms&, const http::request&);
    static const site* site_of(const terms&, const http::request&);
    http::task<void> visit(std::shared_ptr<const terms>, const site&, http::request&);
    http::task<void> ask_node(std::shared_ptr<const terms>, http::request&);
    http::task<void> forward(std::shared_ptr<const terms>, http::request&);
    static http::task<void> say(http::request&, http::response);
    http::task<void> begin(std::shared_ptr<const terms>, http::request&, target);
    http::task<void> begin_by_rules(std::shared_ptr<const terms>, http::request&, target, inquiry);

    // What the rules give a request: the addresses it may be connected to, and its place among those under
    // way.
    struct leave {
        http::client::allowed to;
        std::unique_ptr<admission> under_way;
        bool any_port = false;  // of a tunnel: the rule has named it
    };
    static inquiry inquiry_of(const terms&, const http::request&, const http::host_port&);
    http::task<std::optional<leave>> admit(const terms&, http::request&, inquiry);
    http::task<bool> recognise(const terms&, http::request&, inquiry&);
    http::task<bool> locate(http::request&, inquiry&, std::size_t rule);
    http::task<std::optional<judgement>> judge_by(const terms&, http::request&, inquiry&);
    http::task<std::optional<std::string>> judge_place(const terms&, rule_book&, http::request&, inquiry&,
                                                       std::size_t rule);
    struct denial;
    static denial denial_of(const terms&, const judgement&, const http::request&);
    http::task<void> turn_away(http::request&, const denial&);
    void tell_doubts() const;
    http::task<void> serve(exchange&);
    http::task<std::optional<http_cache::stored>> serve_from_store(exchange&);
    http::task<bool> fetch_for_all(exchange&, http_cache::stored stale);
    void compose(exchange&, http_cache::stored, outcome, http_cache::seconds now);
    bool answer_at_once(exchange&, http_cache::stored, outcome, http_cache::seconds now);
    http::task<void> finish_answer(exchange&);
    http::task<void> answer_from(exchange&, http_cache::stored, outcome);
    http::task<void> fetch(exchange&, http_cache::stored stale);
    http::task<bool> fetch_from_sibling(exchange&);
    http::task<bool> fetch_from_origin(exchange&, const http_cache::stored& stale);
    struct no_answer {
        unsigned status;  // for the client
        std::string why;
        bool unreachable = false;     // no connection, or it broke: another way may work
        std::string for_client = {};  // in place of why, where clients are not to know all of it
    };
    void tell(const exchange&, const no_answer&) const;
    static outcome outcome_of(const no_answer&);
    http::task<void> give_up(exchange&, const no_answer&);
    http::task<std::variant<upstream, no_answer>> ask_origin(exchange&, const http_cache::stored& stale);
    struct way {
        destination to;
        std::optional<std::size_t> parent;  // its number; nothing: straight to the server
    };
    std::vector<way> ways_to(const terms&, const target&) const;
    void report(const terms&, const way&, no_answer* failed) const;
    static void judge(const terms&, const http::host_port&, const http::client::allowed&);
    http::task<std::variant<upstream, no_answer>> ask_by(exchange&, const http_cache::stored& stale, way);
    http::task<std::variant<http::channel, no_answer>> lead(http::worker&, const terms&, http::host_port to,
                                                            http::client::allowed);
    http::task<std::variant<http::channel, no_answer>> lead_by(http::worker&, const terms&,
                                                               http::host_port to, way);
    http::task<http_cache::stored> take_confirmation(exchange&, const http_cache::stored_response& stale,
                                                     upstream&);
    http::task<void> take_head(exchange&, const http_cache::stored_response& kept, const upstream&);
    http::task<void> invalidate(exchange&, upstream&);
    void ask_for_rest(exchange&, http_cache::request_head& question) const;
    std::shared_ptr<arrival> resume(exchange&, upstream&);
    std::optional<arriving_part> begin_part(exchange&, const upstream&);
    void end_part(arriving_part&, bool ended);
    void keep_parts(const std::string& url, const http_cache::request_head&, const http_cache::response_head&,
                    http_cache::body_parts, http_cache::exchange_times);
    bool may_keep(const exchange&, const upstream&, outcome) const;
    http::task<bool> relay(exchange&, upstream&, outcome);
    static void prepare_head(upstream&);
    std::string head_for_client(const exchange&, const http_cache::response_head&, framing) const;
    http::task<void> pass_on(transfer&);
    // Says in the log if it was silence that cut an answer off.
    void note_silence(std::string_view url, const http::channel& from) const;

    std::shared_ptr<arrival> collect_for_all(exchange&, const upstream&, http_cache::incoming_body,
                                             std::optional<std::uint64_t> length);
    http::task<bool> share(exchange&, upstream&, std::shared_ptr<arrival>, outcome);
    http::task<void> fill(std::shared_ptr<fetching>);
    http::task<void> pass_to_all(fetching&);
    bool store_whole(fetching&);
    void keep_beginning(fetching&);
    void finish(fetching&, bool stored);
    http::task<std::optional<bool>> join(exchange&, std::shared_ptr<arrival>);
    http::task<bool> read(exchange&, arrival::place, outcome);
    http::task<arrival::part> next_part(exchange&, arrival::place&);
    void do_not_share(const exchange&);

    http::task<void> refuse(exchange&, unsigned status, const std::string& why, outcome);
    void renew_behind(exchange&, http_cache::stored stale);
    http::task<void> renew(http::worker&, std::shared_ptr<const terms>, http_cache::request_head, target,
                           http_cache::stored stale, std::shared_ptr<void> place,
                           std::shared_ptr<flights::flight>);
    http::task<void> open_tunnel(std::shared_ptr<const terms>, http::request&);
    http::task<void> switch_protocols(exchange&, upstream&);
    http::task<std::vector<std::shared_ptr<node::peer>>> holders(exchange&);
    http::task<std::vector<std::shared_ptr<node::peer>>> ask_everyone(exchange&);
    http::task<std::optional<upstream>> ask_sibling(http::worker&, const node::peer&, http::request_head);
    http::task<void> drain(http::worker&, upstream&);

    http::task<http_cache::stored> read_from_disk(http::worker&, std::string url, http_cache::request_head);
    http_cache::incoming_body collect(const std::string& url, const upstream&,
                                      std::optional<std::uint64_t> length) const;
    bool keep(const http_cache::stored&);
    void untag(const std::string& url);
    void settle(const std::string& url);
    http::task<http_cache::moment> forget(http::worker&, std::string url,
                                          http_cache::moment = http_cache::next_moment());
    void land(exchange&);
    void land(std::shared_ptr<flights::flight>&);
    void count(const exchange&, outcome, unsigned status, std::uint64_t bytes);
    void note_fields(http::request&) const;
    void note_visit(const terms&, http::request&, const target&) const;
    void record(const http::conclusion&);
    http::task<void> keep_time();
    void describe(node::metrics&) const;
    void describe_durations(node::metrics&) const;
    void describe_rules(node::metrics&) const;

    options how_;
    http::server& server_;
    http::timekeeper& time_;
    heads heads_;
    http::changing<terms> terms_;
    std::shared_ptr<password_checks> passwords_ = std::make_shared<password_checks>();
    std::unique_ptr<node::node> node_;
    disk_news disk_news_;
    tags tags_;  // both outlive the store, which tells of what leaves it to the end
    std::unique_ptr<http_cache::store> store_;
    std::atomic<bool> counting_{false};  // the set is there, and hears of changes
    access_log log_;
    flights flights_;
    unshared unshared_;
    std::shared_ptr<renewals> renewals_ = std::make_shared<renewals>();
    boost::asio::thread_pool reading_{2}, writing_{1};  // of the disk
    std::array<std::atomic<std::uint64_t>, static_cast<std::size_t>(outcome::count_)> outcomes_{},
        outcome_bytes_{};
    // Twice as many: what comes from the store is from memory or from disk.
    std::array<node::durations, 2 * static_cast<std::size_t>(outcome::count_)> took_{};
    std::atomic<std::uint64_t> collapsed_{0}, false_by_filter_{0}, false_by_age_{0}, sibling_failures_{0},
        body_bytes_{0}, unkept_{0};
};

}  // namespace posy::proxy
