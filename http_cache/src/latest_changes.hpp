// What happened last to URLs and their variants, for objects that come late: an answer that was on its way
// while a newer one was stored, or while the URL was erased, must not be stored after it.
//
// Remembers the last `remembered` changes. An erasure that is forgotten leaves its moment behind as the
// floor: what was asked for before that is refused for every URL, because it may have been this one. A put
// that is forgotten leaves nothing: the stores still have it, unless they evicted it meanwhile. Cost: 24
// bytes per change that is remembered; a put compares with all of them. Thread safety: the owner's lock.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "posy/http_cache/stored_response.hpp"

namespace posy::http_cache {

class latest_changes {
  public:
    static constexpr std::size_t remembered = 128;

    // `url` and `name` are digests, the name of URL and variant.
    void erased(std::uint64_t url, moment when) { add({url, when, true}); }
    void put(std::uint64_t name, moment answered) { add({name, answered, false}); }

    // May something that was asked for then be stored now? Not after an erasure, nor, if what was put is not
    // there any more to be compared with, after a put: its answer came later than this question.
    bool erased_since(std::uint64_t url, moment asked) const {
        return asked < floor_ || std::ranges::any_of(all_, [&](const change& each) {
                   return each.erasure && each.of == url && each.when > asked;
               });
    }
    // When that was, or the floor.
    moment last_erased(std::uint64_t url) const {
        auto last = floor_;
        for (const auto& each : all_) {
            if (each.erasure && each.of == url) last = std::max(last, each.when);
        }
        return last;
    }
    bool put_since(std::uint64_t name, moment asked) const {
        return std::ranges::any_of(
            all_, [&](const change& each) { return !each.erasure && each.of == name && each.when > asked; });
    }

  private:
    struct change {
        std::uint64_t of = 0;
        moment when = 0;
        bool erasure = false;
    };

    void add(change made) {
        change& oldest = all_[next_++ % remembered];
        if (oldest.erasure) floor_ = std::max(floor_, oldest.when);
        oldest = made;
    }

    std::array<change, remembered> all_{};
    std::size_t next_ = 0;
    moment floor_ = 0;
};

}  // namespace posy::http_cache
