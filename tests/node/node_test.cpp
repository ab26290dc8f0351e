// A node on a clock that is moved by hand: what it does after minutes and hours, at once. It is its own peer,
// and the test stands between its questions and its answers.
#include "node/node.hpp"

#include <gtest/gtest.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

#include "manual_time.hpp"

namespace posy::node {
namespace {

using namespace std::chrono_literals;
using http::clock;

class Node : public testing::Test {
  protected:
    Node() {
        here_.port = server_.listen({"127.0.0.1", 0});
        how_.name = "self";
        how_.listen = {here_};
        how_.allow_peers = {*http::parse_network("127.0.0.1")};
        how_.items = 1000;
    }
    void TearDown() override {
        if (node_) node_->finish();
    }

    void start() {
        node_ = std::make_unique<node>(how_, server_);
        node_->start();
        run_until([this] { return time_.sleepers() == 1; });
    }
    template <class Condition>
    void run_until(Condition met) {
        while (!met()) server_.first().context.run_one();
    }
    // Time passes, and what was to be done by then is: as many wait again as before.
    void pass(clock::duration time) {
        const auto sleepers = time_.sleepers();
        time_.advance(time);
        run_until([&] { return time_.sleepers() == sleepers; });
    }
    // Up to the next moment that anyone waits for.
    void step() { pass(time_.next() - time_.now()); }

    // The answer of the node, once it is there.
    std::shared_ptr<http::answer> ask_summary(const question& asked) {
        auto into = std::make_shared<http::answer>();
        auto work = [](Node& self, question q, std::shared_ptr<http::answer> got) -> http::task<void> {
            http::request_head head{"GET", "/summary", {}};
            head.fields.add("Host", self.here_.text());
            add_to(head.fields, q);
            const http::limits most;
            *got = co_await self.server_.first().client.ask(self.here_, false, head, {}, most, 600s);
        };
        into->head.status = 0;
        asio::co_spawn(server_.first().context, work(*this, asked, into), asio::detached);
        return into;
    }
    static bool there(const std::shared_ptr<http::answer>& a) { return a->head.status != 0; }

    http::task<void> answer(http::request& r) {
        if (asked_status_ != 0 && r.head.target == "/summary") {
            asked_.push_back(time_.now());
            http::response said;
            said.head.status = asked_status_;
            co_await http::reply(r, said);
        } else {
            co_await node_->handle(r);
        }
    }
    // The node follows itself, and gets this for an answer.
    void answer_itself(unsigned status) {
        asked_status_ = status;
        how_.peers = {*parse_peer("self=http://" + here_.text())};
        node_ = std::make_unique<node>(how_, server_);
        node_->start();
        run_until([this] { return !asked_.empty() && time_.sleepers() == 2; });
    }

    manual_time time_;
    http::server server_{time_, {}, [this](http::request& r) { return answer(r); }};
    http::host_port here_{"127.0.0.1", 0};
    options how_;
    std::unique_ptr<node> node_;
    unsigned asked_status_ = 0;
    std::vector<clock::time_point> asked_;
};

TEST_F(Node, PublishesAfterItsInterval) {
    how_.change = 1;
    how_.interval = 60s;
    start();
    const auto first = node_->set().generation();
    node_->set().insert("key");
    pass(60s - 250ms);
    EXPECT_EQ(node_->set().generation(), first);
    pass(250ms);
    EXPECT_EQ(node_->set().generation(), first + 1);
    pass(1h);  // nothing has changed
    EXPECT_EQ(node_->set().generation(), first + 1);
}

TEST_F(Node, IsHashedAnewWithEveryPeriod) {
    how_.rehash = 1h;
    start();
    const auto first = node_->set().generation();
    const auto next = 1h - manual_time::start % 1h;
    pass(next - 250ms);
    EXPECT_EQ(node_->set().describe().rehashed, 0U);
    pass(250ms);
    EXPECT_EQ(node_->set().describe().rehashed, 1U);
    EXPECT_GT(node_->set().generation(), first);
    pass(1h);
    EXPECT_EQ(node_->set().describe().rehashed, 2U);
}

TEST_F(Node, AnswersALongPollAtItsEndOrWithNews) {
    how_.change = 1;
    how_.interval = 90s;
    start();
    for (int i = 0; i < 500; ++i)
        node_->set().insert(std::to_string(i));  // else a whole is as short as a delta
    pass(90s);
    const auto whole = ask_summary({"", true, 0s});
    run_until([&] { return there(whole) && time_.sleepers() == 1; });
    EXPECT_EQ(whole->head.status, 200U);
    const question held{std::string(*whole->head.fields.find("ETag")), true, 60s};

    const auto unchanged = ask_summary(held);
    run_until([this] { return time_.sleepers() == 2; });
    pass(60s - 250ms);
    EXPECT_FALSE(there(unchanged));
    time_.advance(250ms);
    run_until([&] { return there(unchanged) && time_.sleepers() == 1; });
    EXPECT_EQ(unchanged->head.status, 304U);

    const auto news = ask_summary(held);
    run_until([this] { return time_.sleepers() == 2; });
    node_->set().insert("key");
    pass(30s - 250ms);
    EXPECT_FALSE(there(news));
    time_.advance(250ms);
    run_until([&] { return there(news); });
    EXPECT_EQ(news->head.status, 226U);
}

TEST_F(Node, AsksAPeerThatFailsLessAndLessOften) {
    answer_itself(404);
    while (asked_.size() < 10) step();
    clock::duration most = 500ms;
    for (std::size_t i = 1; i < asked_.size(); ++i) {
        EXPECT_GE(asked_[i] - asked_[i - 1], most / 2) << i;
        EXPECT_LE(asked_[i] - asked_[i - 1], most) << i;
        most = std::min<clock::duration>(2 * most, 16s);
    }
    EXPECT_FALSE(node_->mesh().find("self")->up);
}

TEST_F(Node, AsksAtIntervalsAndAtHints) {
    how_.poll = 7s;
    answer_itself(304);
    while (asked_.size() < 4) step();
    for (std::size_t i = 1; i < asked_.size(); ++i) EXPECT_EQ(asked_[i] - asked_[i - 1], 7s) << i;
    EXPECT_TRUE(node_->mesh().find("self")->up);
    pass(3s);
    EXPECT_EQ(asked_.size(), 4U);
    node_->mesh().wake("self");
    run_until([this] { return asked_.size() == 5 && time_.sleepers() == 2; });
    EXPECT_EQ(asked_[4] - asked_[3], 3s);
}

}  // namespace
}  // namespace posy::node
