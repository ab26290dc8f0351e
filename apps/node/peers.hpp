// The peers of a node: follows the summary of each, one coroutine per peer, all on the first thread.
//
// A peer is asked for a stream: one answer that carries all news as they come. One that does not know streams
// is asked with a request that it holds open until it has something new (long poll), or at intervals
// (question_schedule.hpp). What makes no sense is counted and dropped; the last summary that did make sense
// stays in use, and its age is known.
//
// Peers are strangers: what one sends costs the others nothing. Messages are decoded by a thread of their
// own, one after the other, and of the time of that thread no peer gets more than the share 1/(2n) of n
// peers: after an answer that was expensive, the peer is not asked for a while, whatever hints say. The
// memory for all summaries, and for messages on their way, is bounded (options.peer_memory). A peer whose
// summary or whose false hits are absurd is rested.
#pragma once

#include <atomic>
#include <boost/asio/thread_pool.hpp>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "http/server.hpp"
#include "metrics.hpp"
#include "options.hpp"
#include "posy/overlay/mesh_directory.hpp"
#include "posy/overlay/reputation.hpp"
#include "question_schedule.hpp"

namespace posy::node {

// Bytes that were sent to keep summaries up to date, everything counted: messages by kind, and all that HTTP
// puts around them. Who adds up the nodes of a mesh has what went over its wires.
struct traffic {
    std::atomic<std::uint64_t> whole{0}, changes{0}, squid{0}, questions{0}, framing{0}, hints{0};
};

struct peer {
    peer_address address;
    std::atomic<bool> up{false}, gone{false};
    std::atomic<std::uint64_t> wholes{0}, changes{0}, unchanged{0}, failures{0}, dropped{0};
    std::atomic<std::uint64_t> hits{0}, false_hits{0};  // of requests that were sent there, by a proxy
    std::atomic<double> delay{0};                       // seconds to an answer, smoothed
    std::atomic<http::clock::time_point> rests_until{http::clock::time_point::min()};  // it failed a proxy
    std::atomic<double> decoding{0},
        held_back{0};  // seconds: that its messages took, and that it had to wait

    peer(peer_address a, const options& how, http::worker& here)
        : address(std::move(a)), schedule(how, address.kind), pause(here.time, here.context) {}
    void took(std::chrono::duration<double> time) {
        const double before = delay;
        delay = before == 0 ? time.count() : 0.9 * before + 0.1 * time.count();
    }
    // Its summary has misled us more often than it explains.
    bool distrusted(http::clock::time_point now) const {
        const std::lock_guard lock(judging);
        return judged.resting(now);
    }

    mutable std::mutex judging;
    overlay::reputation judged;

    // On the thread that follows it:
    question_schedule schedule;
    http::alarm pause;                         // between two questions
    bool hinting = false, hint_again = false;  // a hint to it is on its way; another is due after it
};

class peers {
  public:
    peers(const options&, http::worker&, overlay::mesh_directory&, traffic&);
    ~peers();

    // On the worker's thread: from now on these, and no others. They are followed, unless summaries are not
    // what is shared here.
    void know_only(const std::vector<peer_address>&);
    // From any thread: the peer has news.
    void wake(const std::string& name);
    // On the worker's thread: we have news. Every peer that is up is told, all at the same time; those that
    // do not hear it find out when they ask.
    void tell_all();

    std::vector<std::shared_ptr<peer>> all() const;
    std::shared_ptr<peer> find(const std::string& name) const;
    void describe(metrics&) const;

    // What came of summaries, from any thread: a key was looked up in all of them; a peer that was named had
    // it or did not.
    void looked_up() { ++lookups_; }
    void was_there(peer&);
    void was_not_there(peer&, std::string_view key);
    // Those that are not asked: their summaries say yes to nearly everything, or have misled us.
    std::vector<std::string> resting() const;

    // A request to a peer, with what all of them need.
    http::request_head request_to(const peer&, std::string method, std::string target) const;

  private:
    using outcome = question_schedule::outcome;
    http::task<void> follow(std::shared_ptr<peer>);
    http::task<std::string> try_asking(peer&, outcome&);  // what went wrong
    http::task<outcome> ask(peer&);
    http::task<outcome> take(peer&, std::string message, sequence);
    http::task<outcome> take_stream(peer&, http::begun, http::clock::duration silence);
    http::task<void> rest(peer&, http::transport&, http::clock::duration silence);
    void answers(peer&);
    void confirm(peer&);
    http::task<outcome> ask_squid(peer&);
    http::task<void> tell(std::shared_ptr<peer>);
    template <class Function>
    http::task<std::invoke_result_t<Function&>> decode(peer&, std::size_t bytes, Function);
    void drop(peer&, const std::string& why);
    http::limits summary_limits() const;
    bool rests(const peer&, bool absurd) const;

    const options& how_;
    http::worker& here_;
    overlay::mesh_directory& directory_;
    traffic& traffic_;
    mutable std::mutex mutex_;
    std::map<std::string, std::shared_ptr<peer>> peers_;
    std::atomic<std::size_t> count_{0};
    std::atomic<std::uint64_t> lookups_{0};
    asio::thread_pool decoding_{1};
};

// The memory for summaries, of options.peer_memory. One half is for those that are held; a quarter for the
// one that is being decoded, so that no summary is larger; a quarter for messages on their way, which double
// while they grow.
struct peer_budget {
    std::uint64_t held, largest, messages;
    explicit peer_budget(std::uint64_t all) : held(all / 2), largest(all / 4), messages(all / 8) {}
};

}  // namespace posy::node
