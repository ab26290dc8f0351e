// The rumours that a node still spreads: members about which something changed.
//
// A rumour is mentioned in every exchange until `patience` contacts knew it already (rumour mongering with
// feedback and a counter: Demers et al. 1987). One entry per member at most. Thread safety: none.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "posy/overlay/mail.hpp"

namespace posy::overlay {

class gossip_news {
  public:
    // Something changed: the rumour is fresh again.
    void add(node_id about) {
        drop(about);
        rumours_[about] = {0, ++last_};
        by_age_[last_] = about;
    }
    bool has(node_id about) const { return rumours_.contains(about); }
    // A contact knew it.
    void known(node_id about, unsigned patience) {
        const auto found = rumours_.find(about);
        if (found != rumours_.end() && ++found->second.knew >= patience) drop(about);
    }
    void drop(node_id about) {
        const auto found = rumours_.find(about);
        if (found == rumours_.end()) return;
        by_age_.erase(found->second.number);
        rumours_.erase(found);
    }
    // The newest ones.
    std::vector<node_id> newest(std::size_t most) const {
        std::vector<node_id> about;
        for (auto r = by_age_.rbegin(); r != by_age_.rend() && about.size() < most; ++r)
            about.push_back(r->second);
        return about;
    }
    std::size_t size() const { return rumours_.size(); }

  private:
    struct rumour {
        unsigned knew;
        std::uint64_t number;
    };
    std::map<node_id, rumour> rumours_;
    std::map<std::uint64_t, node_id> by_age_;
    std::uint64_t last_ = 0;
};

}  // namespace posy::overlay
