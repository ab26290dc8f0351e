// Things that are kept for a while to be used again, under names: so many of one name, so many in all, none
// for longer than a certain time.
//
// Of one name the newest is taken first; beyond the number in all the oldest goes. Cost: a lookup, and one
// pass over all names when they are too many. Thread safety: none.
#pragma once

#include <algorithm>
#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace posy::http {

template <class T>
class kept {
  public:
    using clock = std::chrono::steady_clock;
    struct limits {
        std::size_t of_one_name, in_all;
        clock::duration time;
    };
    explicit kept(const limits& most) : most_(most) {}

    // False: there are enough of that name, and it was not kept.
    bool put(const std::string& name, T thing, clock::time_point now) {
        const auto same = all_.find(name);
        if (same != all_.end() && same->second.size() >= most_.of_one_name) return false;
        if (size_ >= most_.in_all) drop_oldest();
        all_[name].push_back({std::move(thing), now});
        ++size_;
        return true;
    }

    // The newest of that name, unless it is too old.
    std::optional<T> take(const std::string& name, clock::time_point now) {
        const auto found = all_.find(name);
        if (found == all_.end()) return std::nullopt;
        auto last = std::move(found->second.back());
        found->second.pop_back();
        --size_;
        if (now - last.since > most_.time) {  // and so are the others
            size_ -= found->second.size();
            found->second.clear();
        }
        if (found->second.empty()) all_.erase(found);
        if (now - last.since > most_.time) return std::nullopt;
        return std::move(last.thing);
    }

    // Those that are too old, and those that are of no use any more.
    template <class Useless>
    void drop_old(clock::time_point now, Useless useless) {
        for (auto& [name, things] : all_)
            size_ -= std::erase_if(
                things, [&](const entry& e) { return now - e.since > most_.time || useless(e.thing); });
        std::erase_if(all_, [](const auto& each) { return each.second.empty(); });
    }

    std::size_t size() const { return size_; }

  private:
    struct entry {
        T thing;
        clock::time_point since;
    };

    void drop_oldest() {
        const auto oldest =
            std::ranges::min_element(all_, {}, [](const auto& each) { return each.second.front().since; });
        oldest->second.erase(oldest->second.begin());
        if (oldest->second.empty()) all_.erase(oldest);
        --size_;
    }

    limits most_;
    std::map<std::string, std::vector<entry>> all_;  // of each name the oldest first; none is empty
    std::size_t size_ = 0;
};

}  // namespace posy::http
