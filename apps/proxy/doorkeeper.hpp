// The rules and users of one configuration, and what the clients of each rule have used.
//
// A doorkeeper never changes: another configuration has another, and a request keeps to the one that it began
// with (terms.hpp). Where the text of the rules stays the same, the next one takes over what was used.
// Without rules nothing is decided here. Thread safety: all calls from any thread.
#pragma once

#include <array>
#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "http/client.hpp"
#include "http/server.hpp"
#include "rule_usage.hpp"
#include "rules.hpp"
#include "users.hpp"

namespace posy::proxy {

// What became of a request by a rule.
enum class ruling : std::uint8_t { allow, deny, authenticate, limit };
constexpr std::string_view name_of(ruling member) {
    switch (member) {
        case ruling::allow:
            return "allow";
        case ruling::deny:
            return "deny";
        case ruling::authenticate:
            return "authenticate";
        case ruling::limit:
            return "limit";
    }
    return {};
}

// A list of rules in use.
class rule_book {
  public:
    explicit rule_book(rule_list);

    const rule_list& rules() const { return rules_; }
    rule_usage& usage(std::size_t place) { return *usage_[place - 1]; }
    // Place 0: no rule held.
    void count(std::size_t place, ruling r) { ++counts_[place][static_cast<std::size_t>(r)]; }
    std::uint64_t counted(std::size_t place, ruling r) const {
        return counts_[place][static_cast<std::size_t>(r)];
    }

    // Why clients of a rule are not connected to that address, although the rule holds; empty: they are. What
    // the rule names as a network, it opens, beside what is open to everyone.
    std::string refusal(std::size_t place, const http::address&, const http::networks& everyones) const;
    // The same as it was at most a second ago: asking the system for its addresses costs 40 microseconds,
    // more than answering from memory.
    std::string recent_refusal(std::size_t place, const http::address&, const http::networks& everyones,
                               http::clock::time_point now);

  private:
    struct remembered {
        std::string why;
        http::clock::time_point until;
    };
    rule_list rules_;
    std::mutex mutex_;
    std::map<std::pair<std::size_t, http::address>, remembered> refusals_;
    std::vector<std::unique_ptr<rule_usage>> usage_;
    std::vector<std::array<std::atomic<std::uint64_t>, 4>> counts_;
};

class doorkeeper {
  public:
    // The one that comes after `before`, if there is one. Throws std::runtime_error when the files cannot be
    // read.
    doorkeeper(rule_list, user_files, const doorkeeper* before = nullptr);

    // Null: there are no rules.
    const std::shared_ptr<rule_book>& book() const { return book_; }
    const std::shared_ptr<const proxy::users>& users() const { return users_; }

    // Users and groups that rules name and files do not: a sentence for each.
    std::vector<std::string> doubts() const;
    // The ways in which a client can say who it is.
    std::vector<std::string> challenges() const;

  private:
    user_files files_;
    std::shared_ptr<const proxy::users> users_;
    std::shared_ptr<rule_book> book_;
};

// A request that a rule allowed: it counts as under way as long as this exists.
class admission {
  public:
    admission(std::shared_ptr<rule_book>, std::size_t place, std::string client, http::request&);
    admission(const admission&) = delete;
    admission& operator=(const admission&) = delete;
    ~admission();

  private:
    std::shared_ptr<rule_book> book_;
    std::size_t place_;
    std::string client_;
    http::request& request_;
    std::uint64_t before_;  // bytes of the connection
};

}  // namespace posy::proxy
