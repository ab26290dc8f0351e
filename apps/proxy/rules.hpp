// Who may go where through the proxy, and how much: an ordered list of rules, each a line of text.
//
//   allow from 10.0.0.0/8 to *.example.org port 80,443 rate 50 connections 20
//   allow group staff tunnel port 22
//   deny
//
// The first rule whose conditions all hold decides; if there is none, the answer is no. Two conditions may
// need something that is not known yet: who the client is, and where a name leads. Then the judgement asks
// for it, and the caller decides again; nothing here waits, reads a clock or a file.
//
// A client that has not said who it is: `allow user …` passes it over, and if nothing else allows the request
// it is asked (challenge). `deny user …` asks it at once, because it might be one of those. Rules about users
// pass over requests for sites, where Authorization is the site's own.
//
// Cost: of a decision, a few comparisons per rule. Thread safety: immutable.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "http/networks.hpp"
#include "posy/result.hpp"

namespace posy::proxy {

// What is allowed of one thing; 0: no limit. A client is a user where the rule is about users, else an
// address (IPv6: a /64).
struct rule_limits {
    double rate = 0;                // requests of one client per second
    std::uint64_t connections = 0;  // its requests and tunnels under way
    std::uint64_t quota = 0;        // bytes of its requests and answers per day
    double total_rate = 0;          // the same of all clients together
    std::uint64_t total_connections = 0, total_quota = 0;
    bool any() const {
        return rate > 0 || connections > 0 || quota > 0 || total_rate > 0 || total_connections > 0 ||
               total_quota > 0;
    }
};

struct port_range {
    std::uint16_t first = 0, last = 0;
};

// Empty lists hold for everything.
struct rule {
    bool allow = false;
    http::networks from;
    bool any_user = false;  // whoever has said who it is
    std::vector<std::string> users, groups;
    std::vector<std::string> hosts;  // in lower case; "*.suffix" is every name below it
    http::networks to;               // beside the hosts: one of either is enough
    std::vector<port_range> ports;
    std::vector<std::string> methods;
    bool tunnel = false;  // CONNECT alone
    rule_limits limits;

    bool about_users() const { return any_user || !users.empty() || !groups.empty(); }
    bool unconditional() const;
};

// Who a client has shown to be.
struct identity {
    std::string name;
    std::vector<std::string> groups;
};

// What is asked, and what is known of it.
struct inquiry {
    http::address from;
    std::string host;  // in lower case, without a final dot
    std::uint16_t port = 0;
    std::string method;
    bool tunnel = false, site = false;
    std::shared_ptr<const identity> who{};  // null: it has not said, or not truthfully
    bool says_who = false;                  // it has, and that was not checked yet
    bool resolved = false;                  // the addresses are known, or cannot be: then there are none
    std::vector<http::address> addresses{};
};

enum class decision : std::uint8_t {
    allow,
    deny,
    challenge,  // denied, unless the client says who it is
    check,      // look at what it says
    resolve,    // look where the name leads
};

struct judgement {
    decision what = decision::deny;
    std::size_t rule = 0;  // its place, from 1; 0: none holds
    friend bool operator==(const judgement&, const judgement&) = default;
};

class rule_list {
  public:
    rule_list() = default;
    // The error says which rule, which word, and what is allowed there.
    static result<rule_list> parse(std::span<const std::string> texts);

    bool empty() const { return rules_.empty(); }
    std::size_t size() const { return rules_.size(); }
    const rule& at(std::size_t place) const { return rules_[place - 1]; }
    const std::vector<std::string>& texts() const { return texts_; }
    bool about_users() const;
    // Does one allow networks by name? Where it does, not all clients may go to the same places.
    bool names_networks() const;

    // For a name with several addresses: yes if one of them may be connected to.
    judgement decide(const inquiry&) const;
    // For one of its addresses; null: not known.
    judgement decide_at(const inquiry&, const http::address* where) const;

  private:
    std::vector<rule> rules_;
    std::vector<std::string> texts_;
};

}  // namespace posy::proxy
