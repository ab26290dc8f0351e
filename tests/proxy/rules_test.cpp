#include "proxy/rules.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <functional>
#include <random>
#include <set>

namespace posy::proxy {
namespace {

using boost::asio::ip::make_address;

rule_list list_of(std::initializer_list<const char*> texts) {
    return *rule_list::parse(std::vector<std::string>(texts.begin(), texts.end()));
}

std::shared_ptr<const identity> person(std::string name, std::vector<std::string> groups = {}) {
    return std::make_shared<const identity>(identity{std::move(name), std::move(groups)});
}

inquiry get(const char* from, const char* host, std::uint16_t port = 80) {
    return {make_address(from), host, port, "GET"};
}

inquiry tunnel_to(const char* host, std::uint16_t port) {
    auto q = get("10.0.0.1", host, port);
    q.method = "CONNECT";
    q.tunnel = true;
    return q;
}

inquiry by(std::shared_ptr<const identity> who, inquiry q) {
    q.who = std::move(who);
    return q;
}

inquiry at(std::initializer_list<const char*> addresses, inquiry q) {
    for (const auto* each : addresses) q.addresses.push_back(make_address(each));
    q.resolved = true;
    return q;
}

constexpr auto yes = decision::allow, no = decision::deny, who = decision::challenge;

TEST(Rules, TheFirstThatHoldsDecides) {
    const auto rules =
        list_of({"deny to *.ads.example", "allow from 10.0.0.0/8 to *.example.org port 80,443 rate 50",
                 "allow user alice,bob method GET,HEAD", "allow group staff to * tunnel port 443", "deny"});
    auto post = by(person("alice"), get("11.0.0.1", "x"));
    post.method = "POST";
    const auto staff = person("carol", {"staff"});
    const std::vector<std::pair<inquiry, judgement>> table{
        {get("10.1.2.3", "a.ads.example"), {no, 1}},
        {get("10.1.2.3", "www.example.org"), {yes, 2}},
        {get("::ffff:10.1.2.3", "www.example.org", 443), {yes, 2}},
        {get("10.1.2.3", "example.org"), {who, 3}},  // not below itself
        {get("10.1.2.3", "www.example.org", 81), {who, 3}},
        {get("11.1.2.3", "www.example.org"), {who, 3}},
        {get("10.1.2.3", "www.example.org.evil"), {who, 3}},
        {get("10.1.2.3", "wwwexample.org"), {who, 3}},
        {by(person("alice"), get("11.0.0.1", "anything")), {yes, 3}},
        {by(person("eve"), get("11.0.0.1", "anything")), {no, 5}},
        {post, {no, 5}},
        {by(staff, tunnel_to("x", 443)), {yes, 4}},
        {by(staff, tunnel_to("x", 444)), {no, 5}},
        {by(staff, get("10.0.0.1", "x", 443)), {no, 5}},
        {by(person("alice", {"staff"}), tunnel_to("x", 443)), {yes, 4}},
        {tunnel_to("x", 443), {who, 4}},
        {tunnel_to("x", 22), {no, 5}},
    };
    for (const auto& [q, wanted] : table)
        EXPECT_EQ(rules.decide(q), wanted) << q.from << " " << q.method << " " << q.host << ":" << q.port
                                           << " by " << (q.who ? q.who->name : "nobody");
}

TEST(Rules, DenyWhatNoneAllows) {
    EXPECT_EQ(list_of({"allow from 10.0.0.0/8"}).decide(get("11.0.0.1", "x")), (judgement{no, 0}));
    EXPECT_TRUE(rule_list::parse({})->empty());
}

TEST(Rules, AskWhoOnlyWhereItMatters) {
    auto asked = get("10.0.0.1", "x");
    EXPECT_EQ(list_of({"allow user *", "allow from 10.0.0.0/8"}).decide(asked), (judgement{yes, 2}));
    EXPECT_EQ(list_of({"allow user *", "deny"}).decide(asked), (judgement{who, 1}));
    EXPECT_EQ(list_of({"allow user *"}).decide(asked), (judgement{who, 1}));
    // It might be that one.
    EXPECT_EQ(list_of({"deny user bob", "allow"}).decide(asked), (judgement{who, 1}));
    EXPECT_EQ(list_of({"deny user bob", "allow"}).decide(by(person("bob"), asked)), (judgement{no, 1}));
    EXPECT_EQ(list_of({"deny user bob", "allow"}).decide(by(person("eve"), asked)), (judgement{yes, 2}));
    EXPECT_EQ(list_of({
                          "deny",
                      })
                  .decide(asked),
              (judgement{no, 1}));
    // What it says is looked at first, and only if a rule is about it.
    asked.says_who = true;
    EXPECT_EQ(list_of({"allow user *"}).decide(asked), (judgement{decision::check, 1}));
    EXPECT_EQ(list_of({"allow from 10.0.0.0/8", "allow user *"}).decide(asked), (judgement{yes, 1}));
    EXPECT_EQ(list_of({"allow user * to 10.0.0.0/8"}).decide(asked), (judgement{decision::check, 1}));
    // A site's Authorization is its own.
    asked.site = true;
    EXPECT_EQ(list_of({"deny user *", "allow user *", "allow to x"}).decide(asked), (judgement{yes, 3}));
    EXPECT_EQ(list_of({"allow user *"}).decide(asked), (judgement{no, 0}));
}

TEST(Rules, LookAtAddressesAfterNames) {
    const auto rules = list_of({"allow to intranet.example,10.0.0.0/8", "deny to private,loopback", "allow"});
    EXPECT_EQ(rules.decide(get("1.1.1.1", "intranet.example")), (judgement{yes, 1}));
    EXPECT_EQ(rules.decide(get("1.1.1.1", "x")), (judgement{decision::resolve, 1}));
    EXPECT_EQ(rules.decide(at({"10.1.1.1"}, get("1.1.1.1", "x"))), (judgement{yes, 1}));
    EXPECT_EQ(rules.decide(at({"192.168.1.1"}, get("1.1.1.1", "x"))), (judgement{no, 2}));
    EXPECT_EQ(rules.decide(at({"8.8.8.8"}, get("1.1.1.1", "x"))), (judgement{yes, 3}));
    EXPECT_EQ(rules.decide(at({"::ffff:192.168.1.1"}, get("1.1.1.1", "x"))), (judgement{no, 2}));
    EXPECT_EQ(rules.decide(at({"2002:c0a8:101::1"}, get("1.1.1.1", "x"))), (judgement{no, 2}));
    EXPECT_EQ(rules.decide(at({"::1"}, get("1.1.1.1", "x"))), (judgement{no, 2}));
    // Of several, one that may be connected to is enough; the others are not.
    EXPECT_EQ(rules.decide(at({"192.168.1.1", "8.8.8.8"}, get("1.1.1.1", "x"))), (judgement{yes, 3}));
    const auto far = make_address("192.168.1.1");
    EXPECT_EQ(rules.decide_at(get("1.1.1.1", "x"), &far), (judgement{no, 2}));
    // They cannot be known: a parent looks the name up.
    EXPECT_EQ(rules.decide(at({}, get("1.1.1.1", "x"))), (judgement{yes, 3}));
    // No name server is asked for strangers.
    EXPECT_EQ(list_of({"allow user alice to 10.0.0.0/8"}).decide(get("1.1.1.1", "x")), (judgement{who, 1}));
    EXPECT_TRUE(rules.names_networks());
    EXPECT_FALSE(list_of({"deny to private", "allow"}).names_networks());
}

TEST(Rules, HoldForAddressesThatLeadToTheSamePlace) {
    const auto decide = [](const char* rule, const char* where) {
        return list_of({rule, "allow"}).decide(at({where}, get("1.1.1.1", "x"))).what;
    };
    for (const auto* rule : {"deny to 127.0.0.0/8", "deny to 127.0.0.1", "deny to ::ffff:127.0.0.1",
                             "deny to [::ffff:127.0.0.1]", "deny to ::ffff:127.0.0.0/104"}) {
        for (const auto* where : {"127.0.0.1", "0.0.0.0", "::ffff:127.0.0.1", "::ffff:0.0.0.0"})
            EXPECT_EQ(decide(rule, where), no) << rule << " " << where;
        EXPECT_EQ(decide(rule, "8.8.8.8"), yes) << rule;
    }
    EXPECT_EQ(decide("deny to ::1", "::"), no);
    EXPECT_EQ(list_of({"deny from ::ffff:10.0.0.0/104", "allow"}).decide(get("10.0.0.1", "x")).what, no);
}

TEST(Rules, TakeListsWithBlanks) {
    const auto rules =
        list_of({"allow from 10.0.0.0/8, 192.168.0.0/16 ,::1 to A.Example., *.B.example port 80, 8000-8010"});
    EXPECT_EQ(rules.at(1).from.size(), 3U);
    EXPECT_EQ(rules.at(1).hosts, (std::vector<std::string>{"a.example", "*.b.example"}));
    EXPECT_EQ(rules.decide(get("192.168.1.1", "a.example", 8005)).what, yes);
    EXPECT_EQ(rules.decide(get("::1", "x.b.example", 8011)).what, no);
    const auto limits =
        list_of(
            {"allow rate 0.5 connections 3 quota 2GiB total-rate 9 total-connections 8 total-quota 1.5kB"})
            .at(1)
            .limits;
    EXPECT_EQ(limits.rate, 0.5);
    EXPECT_EQ(limits.connections, 3U);
    EXPECT_EQ(limits.quota, std::uint64_t{2} << 30);
    EXPECT_EQ(limits.total_rate, 9);
    EXPECT_EQ(limits.total_connections, 8U);
    EXPECT_EQ(limits.total_quota, 1500U);
}

TEST(Rules, SayWhatIsWrong) {
    const std::vector<std::pair<std::vector<std::string>, std::string>> table{
        {{""}, "1: it is empty"},
        {{"allow", "deny"}, "2: it is never reached: rule 1 holds"},
        {{"permit"}, "1: 'permit' is not a decision; write allow or deny"},
        {{"deny to x", "allow form 10.0.0.0/8"},
         "2: 'form' is not a condition or a limit; write from, user, group"},
        {{"allow from 10.0.0.0/33"}, "'10.0.0.0/33' is not a network; write 10.0.0.0/8, loopback"},
        {{"allow from"}, "'from' needs a value"},
        {{"allow from a,,b"}, "'a,,b' has an empty place"},
        {{"allow from 10.0.0.0/8,"}, "has an empty place"},
        {{"allow from 10.0.0.0/8 from 11.0.0.0/8"}, "'from' is there twice"},
        {{"allow to *ads*"}, "'*ads*' is not a destination; write example.org, *.example.org"},
        {{"allow to http://a/"}, "'http://a/' is not a destination"},
        {{"allow to a..b"}, "is not a destination"},
        {{"allow", "permit x"}, "2: 'permit' is not a decision"},
        {{"deny to 10.1"}, "'10.1' is neither an address nor a name; write four numbers"},
        {{"deny to 010.0.0.1"}, "'010.0.0.1' is neither an address nor a name"},
        {{"deny to x.example,1.2.3.4.5"}, "'1.2.3.4.5' is neither"},
        {{"deny to *.10"}, "'*.10' is neither"},
        {{"allow port 0"}, "'0' is not a port; write 443"},
        {{"allow port 65536"}, "is not a port"},
        {{"allow port 90-80"}, "'90-80' ends before it begins"},
        {{"allow port 80x"}, "is not a port"},
        {{"allow user alice,*"}, "has * beside names"},
        {{"allow method get"}, "'get' is not a method"},
        {{"allow tunnel method GET"}, "do not go together"},
        {{"allow rate 0"}, "'0' is not a number of requests per second"},
        {{"allow rate fast"}, "'fast' is not a number of requests per second"},
        {{"allow rate nan"}, "is not a number of requests"},
        {{"allow connections -1"}, "'-1' is not a number of requests"},
        {{"allow quota 10furlongs"}, "'10furlongs' is not a number of bytes"},
        {{"allow quota 0"}, "is not a number of bytes"},
        {{"allow quota ib"}, "is not a number of bytes"},
        {{"deny rate 5"}, "'rate' is a limit, and this rule denies"},
    };
    for (const auto& [texts, wanted] : table) {
        const auto made = rule_list::parse(texts);
        ASSERT_FALSE(made) << texts.back();
        EXPECT_NE(made.error().message.find(wanted), std::string::npos) << made.error().message << "\n"
                                                                        << wanted;
    }
}

// The same rules, decided slowly and in another way: every condition by itself, over sets.
struct plain_rule {
    bool allow = false;
    std::set<std::string> from, users, groups, hosts, nets, ports, methods;
    bool tunnel = false;
};

struct plain_request {
    std::string from, user, host, address, method;
    std::set<std::string> groups;
    int port = 0;
};

// Networks of the test are /8, so that a prefix of the text decides.
bool in_net(const std::string& address, const std::string& net) {
    return address.substr(0, address.find('.')) == net.substr(0, net.find('.'));
}

bool under(const std::string& host, const std::string& pattern) {
    for (std::string rest = host;;) {
        const auto dot = rest.find('.');
        if (dot == std::string::npos) return host == pattern;
        rest = rest.substr(dot + 1);
        if ("*." + rest == pattern || host == pattern) return true;
    }
}

bool some(const std::set<std::string>& all, const std::function<bool(const std::string&)>& holds) {
    return all.empty() || std::any_of(all.begin(), all.end(), holds);
}

judgement slow_decide(const std::vector<plain_rule>& rules, const plain_request& q) {
    std::vector<std::pair<std::size_t, const plain_rule*>> holding;  // but for the user
    for (std::size_t i = 0; i < rules.size(); ++i) {
        const auto& r = rules[i];
        const bool there = (r.hosts.empty() && r.nets.empty()) ||
                           (!r.hosts.empty() && some(r.hosts, [&](auto& h) { return under(q.host, h); })) ||
                           (!r.nets.empty() && some(r.nets, [&](auto& n) { return in_net(q.address, n); }));
        if (there && some(r.from, [&](auto& n) { return in_net(q.from, n); }) &&
            some(r.ports, [&](auto& p) { return std::to_string(q.port) == p; }) &&
            some(r.methods, [&](auto& m) { return m == q.method; }) && (!r.tunnel || q.method == "CONNECT"))
            holding.emplace_back(i + 1, &r);
    }
    std::size_t asked = 0;
    for (const auto& [place, r] : holding) {
        const bool personal = !r->users.empty() || !r->groups.empty();
        if (personal && q.user.empty()) {
            if (!r->allow) return {decision::challenge, place};
            if (asked == 0) asked = place;
            continue;
        }
        if (personal && !(some(r->users, [&](auto& u) { return u == "*" || u == q.user; }) &&
                          some(r->groups, [&](auto& g) { return q.groups.contains(g); })))
            continue;
        if (r->allow) return {decision::allow, place};
        return asked ? judgement{decision::challenge, asked} : judgement{decision::deny, place};
    }
    return asked ? judgement{decision::challenge, asked} : judgement{decision::deny, 0};
}

class made_up {
  public:
    plain_rule rule() {
        plain_rule r{.allow = coin()};
        r.from = pick({"10.0.0.0/8", "11.0.0.0/8", "12.0.0.0/8"});
        r.users = coin() ? std::set<std::string>() : pick({"alice", "bob", "carol"});
        if (below(9) == 0) r.users = {"*"};
        if (below(3) == 0) r.groups = pick({"staff", "guests"});
        r.hosts = pick({"a.example", "*.example", "*.b.example", "c.b.example"});
        r.nets = pick({"20.0.0.0/8", "21.0.0.0/8"});
        r.ports = pick({"80", "443", "8080"});
        r.tunnel = below(6) == 0;
        if (!r.tunnel) r.methods = pick({"GET", "POST", "CONNECT"});
        if (r.from.empty() && r.users.empty() && r.groups.empty() && r.hosts.empty() && r.nets.empty() &&
            r.ports.empty() && r.methods.empty() && !r.tunnel)
            r.ports = {"80"};  // one without conditions would end the list
        return r;
    }
    plain_request request() {
        plain_request q;
        q.from = one({"10.1.2.3", "11.1.2.3", "12.1.2.3", "13.1.2.3"});
        q.user = one({"", "alice", "bob", "eve"});
        if (!q.user.empty()) q.groups = pick({"staff", "guests"});
        q.host = one({"a.example", "example", "c.b.example", "b.example", "d.c.b.example", "other"});
        q.address = one({"20.1.2.3", "21.1.2.3", "22.1.2.3"});
        q.method = one({"GET", "POST", "CONNECT"});
        q.port = std::stoi(one({"80", "443", "8080", "22"}));
        return q;
    }
    std::size_t below(std::size_t n) { return random_() % n; }

  private:
    bool coin() { return below(2) == 0; }
    std::string one(const std::vector<std::string>& from) { return from[below(from.size())]; }
    std::set<std::string> pick(const std::vector<std::string>& from) {
        std::set<std::string> some;
        if (below(3) == 0)
            for (const auto& each : from)
                if (coin()) some.insert(each);
        return some;
    }
    std::mt19937_64 random_{11};
};

std::string list_text(std::string_view word, std::set<std::string> all) {
    return all.empty() ? "" : fmt::format(" {} {}", word, fmt::join(all, ","));
}

std::string text_of(const plain_rule& r) {
    auto to = r.hosts;
    to.insert(r.nets.begin(), r.nets.end());
    return (r.allow ? "allow" : "deny") + list_text("from", r.from) + list_text("user", r.users) +
           list_text("group", r.groups) + list_text("to", to) + list_text("port", r.ports) +
           list_text("method", r.methods) + (r.tunnel ? " tunnel" : "");
}

// What is unknown is found out when it is asked for, as the proxy does.
judgement decide_in_steps(const rule_list& rules, const plain_request& of) {
    inquiry q{make_address(of.from), of.host, static_cast<std::uint16_t>(of.port), of.method};
    q.tunnel = of.method == "CONNECT";
    q.says_who = true;
    for (;;) {
        const auto found = rules.decide(q);
        if (found.what == decision::check) {
            q.says_who = false;
            if (!of.user.empty()) q.who = person(of.user, {of.groups.begin(), of.groups.end()});
        } else if (found.what == decision::resolve) {
            q.resolved = true;
            q.addresses = {make_address(of.address)};
        } else {
            return found;
        }
    }
}

TEST(Rules, AgreeWithASlowReading) {
    made_up world;
    std::array<std::size_t, 3> seen{};
    for (int lists = 0; lists < 2000; ++lists) {
        std::vector<plain_rule> plain(1 + world.below(8));
        std::vector<std::string> texts;
        for (auto& each : plain) texts.push_back(text_of(each = world.rule()));
        const auto rules = *rule_list::parse(texts);
        for (int i = 0; i < 50; ++i) {
            const auto q = world.request();
            auto wanted = slow_decide(plain, q);
            const auto got = decide_in_steps(rules, q);
            // A stranger is asked who it is before anyone looks where the name leads.
            if (got.what == decision::challenge && wanted != got) {
                ASSERT_TRUE(q.user.empty());
                ASSERT_FALSE(plain[got.rule - 1].nets.empty()) << fmt::format("{}", fmt::join(texts, "\n"));
                ASSERT_NE(wanted.what, decision::allow);
                continue;
            }
            ASSERT_EQ(got, wanted) << fmt::format("{}\n{} {} {} {}:{} at {}", fmt::join(texts, "\n"), q.from,
                                                  q.user, q.method, q.host, q.port, q.address);
            ++seen[static_cast<std::size_t>(got.what)];
        }
    }
    for (const auto each : seen) EXPECT_GT(each, 5000U);
}

}  // namespace
}  // namespace posy::proxy
