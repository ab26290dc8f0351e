// A name that leads elsewhere every time it is asked for: it is known how often a name was resolved, and what
// was said.
#include <gtest/gtest.h>

#include <boost/asio/co_spawn.hpp>
#include <exception>
#include <string>
#include <vector>

#include "http/client.hpp"

namespace posy::http {
namespace {

std::vector<std::vector<const char*>> answers;  // of the first question, the second, …; the last one stays
std::size_t questions = 0;

void answer(const std::string& /*name*/, chosen_by, const resolver::done& tell) {
    name_answer said;
    for (const auto* each : answers[std::min(questions++, answers.size() - 1)])
        said.addresses.push_back(asio::ip::make_address(each));
    tell(said);
}

// Listens on the whole loopback and says which of its addresses was reached; empty: none was.
struct outcome {
    std::string reached, error;
    unsigned status = 0;
};

outcome connect_to(const std::string& name, const networks& allowed, chosen_by who) {
    system_time time;
    asio::io_context context(1);
    watch w(context, time);
    client c(w, std::make_shared<resolver>(time, resolver::limits{}, answer));
    c.confine(destinations(allowed));
    tcp_acceptor listening(context, tcp::endpoint(asio::ip::address_v4::any(), 0));
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
