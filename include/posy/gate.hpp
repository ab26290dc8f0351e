// A gate before an expensive lookup: a database, a disk, another machine. A filter of the store's keys
// answers most questions about absent keys at once. All others wait in a buffer and are asked together
// (Miner & Shook 2012, app. A), when `batch` of them wait or the first has waited for `patience`.
//
//   posy::gate<std::string, std::string>::store users{ask, each_key};      // posy/gates/ has some
//   auto gate = *posy::gate<std::string, std::string>::open(users, {.items = 1'000'000, .rate = 0.01});
//   gate.find(name, now, [](const std::optional<std::string>& found) { … });
//   gate.tick(now);                                                        // whenever there is nothing to do
//
// Invariant: a key is never said to be absent after it has been written to the store and insert() has
// returned. False positives are learned, so that they are asked once: exactly (posy/store/absent_keys.hpp).
// What is removed from the store becomes a false positive. The filter is rebuilt from the store when it holds
// more keys than it has room for, or when there is evidence that its rate has risen
// (posy/store/rate_watch.hpp). Neither costs more than two keys read per call: the room doubles, and evidence
// counts only after as many calls as the last reading had keys.
//
// Thread safety: none. Time is handed in.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "posy/filter.hpp"
#include "posy/store/absent_keys.hpp"
#include "posy/store/filter_of.hpp"
#include "posy/store/rate_watch.hpp"

namespace posy {

struct gate_options {
    std::uint64_t items = 1'000'000;  // of the store; the filter grows if there are more
    double rate = 0.01;               // of false positives
    std::size_t batch = 256;          // most keys per query
    std::chrono::microseconds patience{1000};
    std::size_t most_waiting = 65'536;  // different keys, while queries fail; further ones are refused
    std::size_t learned = 16'384;       // most false positives to remember
    double drift = 2;              // the filter is rebuilt if its rate seems to be this many times `rate`
    std::optional<hasher> hash{};  // a secret one, if somebody hostile chooses the keys
};

struct gate_counters {
    std::uint64_t asked = 0;            // by find(), and of these:
    std::uint64_t absent_at_once = 0;   //   the filter knew
    std::uint64_t learned = 0;          //   known to be absent from an earlier query
    std::uint64_t shared = 0;           //   the same key was waiting already
    std::uint64_t refused = 0;          //   too many were waiting
    std::uint64_t queries = 0;          // of the store, failed ones too
    std::uint64_t failed_queries = 0;   //
    std::uint64_t keys_in_queries = 0;  // failed ones too
    std::uint64_t found = 0;            // keys that the store had
    std::uint64_t false_positives = 0;  // and had not
    std::uint64_t rebuilds = 0;
};

template <class Key, class Value>
class gate {
  public:
    using argument = key_argument<Key>;
    using time = std::chrono::steady_clock::time_point;
    using answer = std::optional<Value>;
    using receiver = std::function<void(const answer&)>;

    struct store {
        // Looks up different keys: writes the value of each key that is there to its place among the answers.
        // There are as many of these as keys, all empty.
        std::function<result<void>(std::span<const Key>, std::span<answer>)> ask;
        posy::store::key_source<Key> each_key;
    };

    // Reads all keys of the store.
    static result<gate> open(store behind, const gate_options& options = {}) {
        if (options.batch == 0 || options.most_waiting < options.batch)
            return error::invalid("a gate needs a batch of at least 1, and room for a batch to wait");
        auto watch = posy::store::rate_watch::make(options.rate, options.drift);
        if (!watch) return watch.error();
        auto made = posy::store::filter_of<Key>(behind.each_key, options.items, options.rate, options.hash);
        if (!made) return made.error();
        return gate(std::move(behind), options, *watch, std::move(*made));
    }

    // Calls then(answer) once: at once if the key is known to be absent, otherwise when the store has been
    // asked, in a later call or in this one. An error is of a query that was due, or of a rebuild: all keys
    // that waited still wait, and the query is made again after `patience`. Only if too many wait is the key
    // itself refused, an error of the kind busy, and then() is never called.
    template <class Then>
    result<void> find(argument key, time now, Then&& then) {
        ++counters_.asked;
        if (!filter_.may_contain(key)) {
            ++counters_.absent_at_once;
            watch_.right();
            then(answer());
            return tick(now);
        }
        if (Key own = owned(key); absent_.contains(own)) {
            ++counters_.learned;
            then(answer());
        } else if (!wait(std::move(own), now, std::forward<Then>(then))) {
            auto tried = tick(now);
            return error::busy("too many keys wait for the store behind the gate; try again later" +
                               (tried ? std::string() : ": " + tried.error().text()));
        }
        return tick(now);
    }

    // To be called after the key has been written to the store. An error is of a rebuild; the key is
    // inserted.
    result<void> insert(argument key) {
        ++inserted_;
        absent_.erase(owned(key));
        if (!filter_.may_contain(key)) filter_.insert(key);
        auto done = rebuild_if_due();
        if (!filter_.may_contain(key)) filter_.insert(key);  // if the store did not show it yet
        return done;
    }

    // Asks the store if that is due.
    result<void> tick(time now) {
        const bool full = waiting_.size() >= options_.batch && !failed_;
        if (waiting_.empty() || (!full && now < due_)) return {};
        return flush(now);
    }
    // When tick() will have something to do even if no more keys come; nothing if none wait.
    std::optional<time> deadline() const { return waiting_.empty() ? std::nullopt : std::optional(due_); }
    std::size_t waiting() const { return waiting_.size(); }
    // Asks the store for all keys that wait.
    result<void> flush(time now) {
        while (!waiting_.empty()) {
            if (auto done = ask_batch(); !done) {
                failed_ = true;
                due_ = now + options_.patience;
                return done;
            }
            failed_ = false;
        }
        return rebuild_if_due();
    }

    // Reads all keys of the store again. After an error the filter is as it was.
    result<void> rebuild() {
        const std::uint64_t held = filter_.items().value_or(0), room = planned();
        auto fresh = posy::store::filter_of<Key>(behind_.each_key, held > room ? 2 * held : room,
                                                 options_.rate, options_.hash, counters_.rebuilds + 1);
        if (!fresh) {
            growth_from_ = drift_from_ = calls() + held;
            return fresh.error().behind("the filter of the gate could not be rebuilt");
        }
        filter_ = std::move(*fresh);
        watch_.restart();
        growth_from_ = 0;
        drift_from_ = calls() + filter_.items().value_or(0);
        ++counters_.rebuilds;
        return {};
    }

    const gate_counters& counters() const { return counters_; }
    const filter<Key>& keys() const { return filter_; }

  private:
    gate(store behind, const gate_options& options, const posy::store::rate_watch& watch, filter<Key> keys)
        : behind_(std::move(behind)),
          options_(options),
          filter_(std::move(keys)),
          watch_(watch),
          absent_(options.learned),
          drift_from_(filter_.items().value_or(0)) {}

    static Key owned(argument key) {
        if constexpr (std::constructible_from<Key, argument>) {
            return Key(key);
        } else {
            return Key(key.begin(), key.end());
        }
    }
    std::uint64_t planned() const { return filter_.untyped().provenance().planned->items; }
    std::uint64_t calls() const { return counters_.asked + inserted_; }

    // False if too many wait.
    template <class Then>
    bool wait(Key key, time now, Then&& then) {
        if (const auto same = receivers_.find(key); same != receivers_.end()) {
            ++counters_.shared;
            same->second.emplace_back(std::forward<Then>(then));
            return true;
        }
        if (waiting_.size() >= options_.most_waiting) {
            ++counters_.refused;
            return false;
        }
        if (waiting_.empty()) due_ = now + options_.patience;
        receivers_[key].emplace_back(std::forward<Then>(then));
        waiting_.push_back(std::move(key));
        return true;
    }

    result<void> ask_batch() {
        const std::size_t count = std::min(waiting_.size(), options_.batch);
        std::vector<answer> answers(count);
        ++counters_.queries;
        counters_.keys_in_queries += count;
        if (auto done = behind_.ask(std::span<const Key>(waiting_).first(count), answers); !done) {
            ++counters_.failed_queries;
            return done;
        }
        deliver(answers);
        return {};
    }
    // All is learned before anybody is told: a receiver may write one of these keys to the store, and
    // insert() must find nothing to be learned after it.
    void deliver(std::span<const answer> answers) {
        std::vector<std::vector<receiver>> told;
        for (std::size_t i = 0; i < answers.size(); ++i) {
            told.push_back(std::move(receivers_.extract(waiting_[i]).mapped()));
            if (answers[i]) {
                ++counters_.found;
            } else {
                ++counters_.false_positives;
                watch_.wrong();
                absent_.insert(waiting_[i]);
            }
        }
        waiting_.erase(waiting_.begin(), waiting_.begin() + static_cast<std::ptrdiff_t>(answers.size()));
        for (std::size_t i = 0; i < answers.size(); ++i)
            for (const receiver& then : told[i]) then(answers[i]);
    }

    result<void> rebuild_if_due() {
        const bool full = filter_.items().value_or(0) > planned() && calls() >= growth_from_;
        if (!full && !(watch_.evident() && calls() >= drift_from_)) return {};
        return rebuild();
    }

    store behind_;
    gate_options options_;
    filter<Key> filter_;
    posy::store::rate_watch watch_;
    posy::store::absent_keys<Key> absent_;
    std::vector<Key> waiting_;  // different keys, the first first; all of them are in
    std::unordered_map<Key, std::vector<receiver>, posy::store::secret_key_hash<Key>> receivers_;
    time due_{};           // of the next query; of no meaning if nothing waits
    bool failed_ = false;  // the last query
    std::uint64_t inserted_ = 0;
    std::uint64_t growth_from_ = 0, drift_from_;  // calls() from which there is a rebuild for that reason
    gate_counters counters_;
};

}  // namespace posy
