// What is known of names: their addresses, or that they have none, for as long as their servers said.
//
// A lifetime is kept to within limits: a server that says 0 is asked once per second, and one that says a
// year is asked again after an hour. Where no server answers for a name whose addresses were known within the
// last day, those are used on (RFC 8767): an outage of name servers does not stop what works. Of too many
// names those go that were not asked for longest.
//
// Cost: a list and a table, constant time. Thread safety: none; the owner has a lock.
#pragma once

#include <algorithm>
#include <boost/asio/ip/address.hpp>
#include <chrono>
#include <list>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace posy::http {

struct name_answer {
    std::vector<boost::asio::ip::address> addresses;  // none: the name has none, or no server answered
    std::optional<std::chrono::seconds> lifetime;     // as the servers said it
    bool answered = true;                             // that there are these and no others is known
};

class name_cache {
  public:
    using clock = std::chrono::steady_clock;
    struct limits {
        std::size_t names = 4096;
        std::chrono::seconds shortest{1}, longest{3600};  // of addresses
        std::chrono::seconds longest_no{60};              // that there are none
        std::chrono::seconds unstated{5};                 // where no server said how long, or none answered
        std::chrono::seconds outage{24 * 3600};           // old addresses are used while no server answers
    };
    explicit name_cache(const limits& most) : most_(most) {}

    // What holds now; null: it has to be looked up.
    const name_answer* find(const std::string& name, clock::time_point now) {
        const auto found = used(name);
        return found && now < found->until ? &found->said : nullptr;
    }
    // The last that was known, if that is not too long ago and had addresses: when no better can be had.
    const name_answer* last(const std::string& name, clock::time_point now) {
        const auto found = used(name);
        const bool usable = found && !found->said.addresses.empty() && now < found->true_until + most_.outage;
        return usable ? &found->said : nullptr;
    }
    // What is to be used from now on: the answer, or what was known before if nobody answered.
    const name_answer& put(const std::string& name, name_answer said, clock::time_point now) {
        if (!said.answered && said.addresses.empty() && last(name, now)) {
            auto& old = *places_.at(name);
            old.until = now + most_.unstated;
            return old.said;
        }
        auto* place = used(name);
        if (!place) {
            if (entries_.size() >= most_.names) drop_oldest();
            entries_.push_front({name, {}, {}, {}});
            places_[name] = entries_.begin();
            place = &entries_.front();
        }
        place->until = place->true_until = now + kept_for(said);
        place->said = std::move(said);
        return place->said;
    }
    std::size_t size() const { return entries_.size(); }

  private:
    struct entry {
        std::string name;
        name_answer said;
        clock::time_point until, true_until;  // the first is later while old addresses are used on
    };
    using list = std::list<entry>;

    std::chrono::seconds kept_for(const name_answer& said) const {
        if (!said.answered || !said.lifetime) return most_.unstated;
        return std::clamp(*said.lifetime, most_.shortest,
                          said.addresses.empty() ? most_.longest_no : most_.longest);
    }
    entry* used(const std::string& name) {
        const auto found = places_.find(name);
        if (found == places_.end()) return nullptr;
        entries_.splice(entries_.begin(), entries_, found->second);
        return &*found->second;
    }
    void drop_oldest() {
        places_.erase(entries_.back().name);
        entries_.pop_back();
    }

    limits most_;
    list entries_;  // the one used last is the first
    std::unordered_map<std::string, list::iterator> places_;
};

}  // namespace posy::http
