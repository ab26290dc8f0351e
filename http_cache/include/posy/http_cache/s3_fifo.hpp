// S3-FIFO eviction (Yang, Zhang, Qiu, Yue, Rashmi 2023): three first-in-first-out queues, and no list is ever
// reordered by a hit.
//
// What is new enters the small queue, a tenth of the budget; most objects are never asked for again, and
// leave from there soon. Those asked for meanwhile go on to the main queue; at its end, too, an object that
// was asked for gets another round, as many as it was asked for, up to three. (The paper wants two uses
// before it promotes; on a trace of three proxies, Zipf 0.8, 11 MB each, one hits 41.9 %, two 40.5 %.)
// What left the small queue is remembered by fingerprint in the ghost queue, as many bytes' worth as the main
// queue has: if it comes back it enters the main queue at once. All three are shares of the budget by bytes.
// Cost: a hit is one counter; an insertion amortised constant; about 100 bytes per entry, 60 per ghost.
// Invariant: the sizes of the entries add up to at most the budget after every call.
// Thread safety: as of any container.
#pragma once

#include <cstdint>
#include <deque>
#include <list>
#include <unordered_map>
#include <utility>

namespace posy::http_cache {

template <class Value>
class s3_fifo {
  public:
    struct entry {
        Value value;
        std::uint64_t fingerprint;
        std::uint64_t bytes;
        std::uint8_t uses = 0;  // up to most_uses
        bool in_main = false;
    };
    using handle = typename std::list<entry>::iterator;  // valid until the entry is evicted or erased

    static constexpr std::uint64_t small_divisor = 10;
    static constexpr std::uint8_t most_uses = 3;

    explicit s3_fifo(std::uint64_t budget) : budget_(budget) {}

    std::uint64_t bytes() const { return small_.bytes + main_.bytes; }
    std::size_t size() const { return small_.entries.size() + main_.entries.size(); }

    // evicted(handle) is called for each entry that has to go, while it is still there. It must not call this
    // object. Precondition: bytes <= the budget.
    template <class Evicted>
    handle insert(std::uint64_t fingerprint, std::uint64_t bytes, Value value, const Evicted& evicted) {
        make_room(bytes, evicted);
        const bool returned = ghosts_.take(fingerprint);
        queue& to = returned ? main_ : small_;
        to.entries.push_front({std::move(value), fingerprint, bytes, 0, returned});
        to.bytes += bytes;
        return to.entries.begin();
    }

    // Another value and size in the same place; with a larger size even the entry itself may be evicted.
    template <class Evicted>
    void replace(handle at, std::uint64_t bytes, Value value, const Evicted& evicted) {
        queue& in = queue_of(at);
        in.bytes = in.bytes - at->bytes + bytes;
        at->bytes = bytes;
        at->value = std::move(value);
        make_room(0, evicted);
    }

    // The next entry that has to go, although there is room. False: there is none.
    template <class Evicted>
    bool evict_one(const Evicted& evicted) {
        const auto before = size();
        while (before > 0 && size() == before) step(evicted);
        return before > 0;
    }

    void use(handle at) {
        if (at->uses < most_uses) ++at->uses;
    }

    void erase(handle at) {
        queue& in = queue_of(at);
        in.bytes -= at->bytes;
        in.entries.erase(at);
    }

  private:
    struct queue {
        std::list<entry> entries;  // newest in front
        std::uint64_t bytes = 0;
    };

    // What was evicted from the small queue lately, oldest first.
    class ghost_queue {
      public:
        void add(std::uint64_t fingerprint, std::uint64_t bytes, std::uint64_t budget) {
            order_.push_back({fingerprint, bytes, ++last_});
            latest_[fingerprint] = last_;
            bytes_ += bytes;
            while (bytes_ > budget) {
                const ghost& oldest = order_.front();
                const auto found = latest_.find(oldest.fingerprint);
                if (found != latest_.end() && found->second == oldest.number) latest_.erase(found);
                bytes_ -= oldest.bytes;
                order_.pop_front();
            }
        }
        // Was it here? Then it is no more; its place in the order passes by in time.
        bool take(std::uint64_t fingerprint) { return latest_.erase(fingerprint) > 0; }

      private:
        struct ghost {
            std::uint64_t fingerprint, bytes, number;
        };
        std::deque<ghost> order_;
        std::unordered_map<std::uint64_t, std::uint64_t> latest_;  // fingerprint → number of its last ghost
        std::uint64_t bytes_ = 0;
        std::uint64_t last_ = 0;
    };

    queue& queue_of(handle at) { return at->in_main ? main_ : small_; }

    template <class Evicted>
    void make_room(std::uint64_t wanted, const Evicted& evicted) {
        while (bytes() + wanted > budget_) step(evicted);
    }

    // The oldest entry of the queue whose turn it is moves on or is evicted. Ends: each entry is promoted
    // once and has at most three more rounds.
    template <class Evicted>
    void step(const Evicted& evicted) {
        const bool from_main =
            small_.entries.empty() || (small_.bytes < budget_ / small_divisor && !main_.entries.empty());
        queue& from = from_main ? main_ : small_;
        const auto oldest = std::prev(from.entries.end());
        if (oldest->uses > 0) {
            --oldest->uses;
            oldest->in_main = true;
            from.bytes -= oldest->bytes;
            main_.bytes += oldest->bytes;
            main_.entries.splice(main_.entries.begin(), from.entries, oldest);
            return;
        }
        if (!from_main) ghosts_.add(oldest->fingerprint, oldest->bytes, budget_ - budget_ / small_divisor);
        evicted(oldest);
        erase(oldest);
    }

    std::uint64_t budget_;
    queue small_, main_;
    ghost_queue ghosts_;
};

}  // namespace posy::http_cache
