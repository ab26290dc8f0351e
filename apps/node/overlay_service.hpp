// The overlay of a node: runs the machine, carries its letters, keeps its time and answers lookups.
//
//   POST /overlay ─→ gate ─→ machine ─→ address book ─→ post office ─→ POST /overlay of others
//   changes of keys, lookups, time ──┘
//
// The machine runs on a thread of its own, one step after the other, so that no connection waits for it but
// the one whose letters it reads. Batches of letters are limited before they are read: by size, by what all
// of them hold together, per sender and per address. A batch that is damaged changes nothing; a letter that
// the machine does not take is counted, and the sender is told.
//
// Thread safety: all calls from any thread, but start() comes first and finish() last.
#pragma once

#include <boost/asio/thread_pool.hpp>
#include <map>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <set>

#include "address_book.hpp"
#include "http/server.hpp"
#include "letter_gate.hpp"
#include "letter_seal.hpp"
#include "local_set.hpp"
#include "metrics.hpp"
#include "overlay_machine.hpp"
#include "post_office.hpp"
#include "seal_times.hpp"

namespace posy::node {

class overlay_service {
  public:
    // Throws std::runtime_error.
    overlay_service(const options&, http::server&);

    // Before the server runs: takes all keys, and begins to speak to others.
    void start(const local_set::key_source& all);
    // Tells the neighbours; done when the letters are gone, or after a while.
    http::task<void> leave();
    void finish();

    // A key has come or gone. Called in the order of the changes; they are made later, in the same order.
    void note(std::string_view key, bool enters);
    // When all changes that were noted before are made.
    http::task<void> changes_made(http::worker&);

    // The answer to a batch of letters.
    http::task<http::response> take_letters(http::request&);

    struct found {
        overlay_answer answer;
        std::vector<std::string> addresses;  // of the holders; empty where it is not known
    };
    // Nothing if too many lookups wait.
    http::task<std::optional<found>> look_up(http::worker&, std::string key);

    http::task<nlohmann::json> picture(http::worker&);
    void describe(metrics&) const;

  private:
    // Someone who waits for the answer of a lookup, on the thread of a connection.
    struct waiter {
        explicit waiter(http::worker& w) : here(w), alarm(w.time, w.context) {}
        http::worker& here;
        http::alarm alarm;
        std::optional<found> got;
        bool refused = false;
    };
    struct counts {
        std::uint64_t batches = 0, letters = 0, bytes = 0;  // received
        std::uint64_t malformed = 0, too_large = 0, too_many = 0, misdirected = 0, unsealed = 0, repeated = 0;
        std::uint64_t found = 0, absent = 0, timed_out = 0, hops = 0;
        std::uint64_t homeless = 0;  // letters to nodes whose address is not known
    };
    struct admission;

    // On the thread of the machine.
    template <class Step>
    void step(const Step& one) {
        if (left_) return;
        outbox out;
        one(here_.time.milliseconds(), out);
        stepped(out);
    }
    void stepped(const outbox&);
    void post(const outbox&);
    void deliver_answers();
    http::response read_letters(const std::string& from, std::string_view body);
    nlohmann::json described();
    std::optional<std::string> address_of(node_id);
    // The neighbours, and the contacts that are none yet, by what became of the letters to them.
    std::vector<overlay_neighbour> seen();
    void warn_of_other_filters(const overlay_neighbour&);

    http::task<void> keep_time();
    http::task<http::response> admit(http::request&, const std::string& from);
    http::task<std::string> body_of(http::request&, std::uint64_t most);
    std::optional<http::response> refuse(const http::request&);
    template <class Change>
    void count(const Change& change) {
        const std::lock_guard lock(mutex_);
        change(counts_);
    }

    const options& how_;
    http::server& server_;
    http::worker& here_;
    address_book book_;
    node_id self_;
    std::unique_ptr<overlay_machine> machine_;
    post_office office_;
    letter_gate senders_, addresses_;
    seal_times sealed_;
    std::atomic<std::uint64_t> arriving_{0};  // bytes of batches that are being read
    http::alarm alarm_;
    std::atomic<std::uint64_t> due_{0};  // when the machine wants its next tick
    std::map<std::uint32_t, std::shared_ptr<waiter>> waiting_;
    std::set<node_id> warned_of_;
    bool left_ = false;
    mutable std::mutex mutex_;  // of the next three
    counts counts_;
    overlay_counts of_machine_;
    std::map<std::string, std::uint64_t> relations_;  // how many neighbours of each
    asio::thread_pool running_{1};                    // last: what runs there uses all the others
};

}  // namespace posy::node
