// A name that leads elsewhere every time it is asked for. The resolver of this program is the one below, in
// place of the system's, so that it is known how often a name was resolved and what was said. It knows one
// name, and that addresses stand for themselves.
#include <gtest/gtest.h>
#include <netdb.h>

#include <boost/asio/co_spawn.hpp>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <string>
#include <vector>

#include "http/client.hpp"

namespace {

std::vector<std::vector<const char*>> answers;  // of the first question, the second, …; the last one stays
std::size_t questions = 0;

}  // namespace

extern "C" int getaddrinfo(const char* name, const char* port, const addrinfo*, addrinfo** found) {
    boost::system::error_code none;
    boost::asio::ip::make_address_v4(name, none);
    if (none && std::string(name) != "rebound.example") return EAI_NONAME;
    const auto said = none ? answers[std::min(questions++, answers.size() - 1)] : std::vector{name};
    *found = nullptr;
    for (auto each = said.rbegin(); each != said.rend(); ++each) {
        auto* info = static_cast<addrinfo*>(std::calloc(1, sizeof(addrinfo) + sizeof(sockaddr_in)));
        auto* where = reinterpret_cast<sockaddr_in*>(info + 1);
        where->sin_family = AF_INET;
        where->sin_port = htons(static_cast<std::uint16_t>(port ? std::atoi(port) : 0));
        where->sin_addr.s_addr = htonl(boost::asio::ip::make_address_v4(*each).to_uint());
        info->ai_family = AF_INET;
        info->ai_socktype = SOCK_STREAM;
        info->ai_addrlen = sizeof(sockaddr_in);
        info->ai_addr = reinterpret_cast<sockaddr*>(where);
        info->ai_next = *found;
        *found = info;
    }
    return 0;
}

extern "C" void freeaddrinfo(addrinfo* all) {
    while (all) std::free(std::exchange(all, all->ai_next));
}

namespace posy::http {
namespace {

// Listens on the whole loopback and says which of its addresses was reached; empty: none was.
struct outcome {
    std::string reached, error;
    unsigned status = 0;
};

outcome connect_to(const std::string& name, const networks& allowed, chosen_by who) {
    system_time time;
    asio::io_context context(1);
    watch w(context, time);
    client c(w, std::make_shared<resolver>(time));
    c.confine(destinations(allowed));
    tcp::acceptor listening(context, tcp::endpoint(asio::ip::address_v4::any(), 0));
    const host_port to{name, listening.local_endpoint().port()};
    outcome o;
    const auto work = [&]() -> task<void> {
        auto made = co_await c.connect(to, false, 5s, who);
        o.reached = made.connection->remote().address().to_string();
    };
    asio::co_spawn(context, work(), [&](const std::exception_ptr& failed) {
        try {
            if (failed) std::rethrow_exception(failed);
        } catch (const refusal& r) {
            o.status = r.status;
            o.error = r.what();
        } catch (const std::exception& e) {
            o.error = e.what();
        }
        context.stop();
    });
    questions = 0;
    context.run();
    return o;
}

const networks second{*parse_network("127.0.0.2")};

TEST(Rebinding, WhatWasJudgedIsWhatIsConnectedTo) {
    answers = {{"127.0.0.2"}, {"127.0.0.1"}};
    const auto o = connect_to("rebound.example", second, chosen_by::client);
    EXPECT_EQ(o.reached, "127.0.0.2") << o.error;
    EXPECT_EQ(questions, 1U);
}

TEST(Rebinding, AClosedAddressAmongOthersIsLeftOut) {
    answers = {{"127.0.0.1", "127.0.0.3", "127.0.0.2"}};
    EXPECT_EQ(connect_to("rebound.example", second, chosen_by::client).reached, "127.0.0.2");
}

TEST(Rebinding, NothingIsConnectedToWhenAllAreClosed) {
    answers = {{"127.0.0.1", "10.0.0.1"}, {"127.0.0.2"}};
    const auto o = connect_to("rebound.example", second, chosen_by::client);
    EXPECT_EQ(o.reached, "");
    EXPECT_EQ(o.status, 403U);
    EXPECT_NE(o.error.find("rebound.example"), std::string::npos) << o.error;
    EXPECT_EQ(questions, 1U);
}

TEST(Rebinding, OurOwnConfigurationGoesAnywhere) {
    answers = {{"127.0.0.1"}};
    EXPECT_EQ(connect_to("rebound.example", {}, chosen_by::us).reached, "127.0.0.1");
    EXPECT_EQ(connect_to("127.0.0.1", {}, chosen_by::us).reached, "127.0.0.1");
    EXPECT_EQ(connect_to("127.0.0.1", {}, chosen_by::client).status, 403U);
}

}  // namespace
}  // namespace posy::http
