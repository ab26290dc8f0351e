#include "posy/overlay/keywords.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>

#include "overlay/keyword_lists.hpp"
#include "posy/message.hpp"
#include "simulate/network.hpp"
#include "statistics.hpp"

namespace posy::overlay {
namespace {

namespace mail = keyword_mail;

constexpr std::uint64_t nodes = 10;
constexpr std::uint32_t documents = 2000;

std::string word(unsigned i) { return "word" + std::to_string(i); }

// Word i is in every (i + 2)-th document, and in some others.
class index_of_words {
  public:
    explicit index_of_words(double loss = 0, bool filters = true)
        : net({.latency = {}, .loss = loss, .open = {}}, 1) {
        about->filters = filters;
        for (node_id i = 0; i < nodes; ++i) about->nodes.push_back(i);
        for (const node_id i : about->nodes) net.join(i, keyword_node(about, i));
        std::mt19937_64 random(1);
        for (std::uint32_t d = 0; d < documents; ++d) {
            std::vector<std::string> words;
            for (unsigned i = 0; i < 12; ++i) {
                if (d % (i + 2) == 0 || random() % 50 == 0) words.push_back(word(i));
            }
            for (const auto& each : words) truth[each].insert(d);
            outbox out;
            net.find(0)->publish(id(d), words, out);
            outbox none;
            for (const letter& each : out) net.find(each.to)->receive(0, each.message, 0, none);
        }
    }
    static digest id(std::uint32_t d) { return hasher()(d); }

    std::vector<digest> central(const std::vector<std::string>& words) const {
        std::vector<digest> all;
        for (std::uint32_t d = 0; d < documents; ++d) {
            if (std::ranges::all_of(words, [&](const auto& w) {
                    const auto found = truth.find(w);
                    return found != truth.end() && found->second.contains(d);
                }))
                all.push_back(id(d));
        }
        std::ranges::sort(all, before);
        return all;
    }
    keyword_node::answer ask(const std::vector<std::string>& words, std::uint64_t most) {
        net.at(3, [&](auto& n, auto now, auto& out) { n.ask(words, most, now, out); });
        net.run_to_rest(net.now() + 1'000'000);
        auto all = net.find(3)->take_answers();
        EXPECT_EQ(all.size(), 1U);
        return all.empty() ? keyword_node::answer{} : all[0];
    }

    std::shared_ptr<keyword_network> about = std::make_shared<keyword_network>();
    simulate::network<keyword_node> net;
    std::map<std::string, std::set<std::uint32_t>> truth;
};

std::vector<std::vector<std::string>> queries() {
    std::vector<std::vector<std::string>> all{{word(3)}, {word(0), word(0)}, {"nowhere", word(1)}};
    for (unsigned i = 0; i < 12; ++i) {
        for (unsigned j = 0; j < i; ++j) {
            all.push_back({word(i), word(j)});
            all.push_back({word(i), word(j), word((i + j) % 12)});
        }
    }
    return all;
}

TEST(Keywords, AnswersAreThoseOfACentralIndex) {
    index_of_words index;
    at_least checked(100);
    for (const auto& words : queries()) {
        const auto a = index.ask(words, keyword_node::whole);
        EXPECT_TRUE(a.complete);
        EXPECT_EQ(a.documents, index.central(words));
        ++checked;
    }
    EXPECT_GT(index.net.sent().messages_of_kind[static_cast<int>(mail::kind::verdict)], 50U);
    index.net.each([](node_id, keyword_node& n) { EXPECT_EQ(n.refused(), 0U); });
}

TEST(Keywords, AnswersAreExactOverANetworkThatLosesMessages) {
    index_of_words index(0.1);
    at_least checked(100);
    for (const auto& words : queries()) {
        const auto a = index.ask(words, keyword_node::whole);
        ASSERT_FALSE(a.failed);
        EXPECT_EQ(a.documents, index.central(words));
        ++checked;
    }
}

TEST(Keywords, StopsWhenThereAreEnough) {
    index_of_words index, lists(0, false);
    const std::vector<std::string> words{word(0), word(1)};
    const auto few = index.ask(words, 10);
    const std::uint64_t bytes_for_few = index.net.sent().bytes;
    EXPECT_GE(few.documents.size(), 10U);
    EXPECT_FALSE(few.complete);
    EXPECT_TRUE(std::ranges::includes(index.central(words), few.documents, before));
    index.ask(words, keyword_node::whole);
    EXPECT_LT(4 * bytes_for_few, index.net.sent().bytes);
    lists.ask(words, keyword_node::whole);
    const auto carried = [](const simulate::traffic& t) {
        return t.bytes - t.bytes_of_kind[static_cast<int>(mail::kind::part)];
    };
    EXPECT_LT(2 * (carried(index.net.sent()) - bytes_for_few), carried(lists.net.sent()));
}

TEST(Keywords, PlansAStepByItsBytes) {
    EXPECT_EQ(plan_keyword_step(3, 1000).filter.bits, 0U);
    EXPECT_EQ(plan_keyword_step(3, 1000).bits, 3 * 128);
    const auto step = plan_keyword_step(1000, 5000, 500);
    EXPECT_GT(step.filter.bits, 0U);
    EXPECT_LT(step.bits, 1000 * 128 / 3.0);
}

// A document at one node with the short name of another at the other: the sum tells, and digests follow.
TEST(Keywords, AmbiguousNamesAreResolved) {
    index_of_words index;
    std::vector<digest> left, right;
    for (std::uint64_t i = 0; i < 200; ++i) left.push_back(hasher()(1'000'000 + i));
    for (std::uint64_t i = 0; i < 399; ++i) right.push_back(hasher()(1'000'100 + i));
    std::erase(right, left[150]);
    right.push_back(hasher()(2'000'000));
    // Another with the short name of left[150], such that the filter of the left lets it through.
    const auto plan = plan_keyword_step(200, 400).filter;
    auto filter = *bloom_filter::make({plan.bits, plan.hashes, layout_id::spread});
    filter.insert(left);
    std::uint64_t tried = 0;
    digest twin;
    do {
        twin = {left[150].low ^ ++tried << 40, hasher()(tried).high};
    } while (!filter.may_contain(twin));
    right.push_back(twin);
    outbox out;
    for (const digest& each : left) index.net.find(0)->publish(each, {"left"}, out);
    for (const digest& each : right) index.net.find(0)->publish(each, {"second"}, out);
    outbox none;
    for (const letter& each : out) index.net.find(each.to)->receive(0, each.message, 0, none);
    ASSERT_NE(index.about->home_of("left"), index.about->home_of("second"));
    const auto a = index.ask({"left", "second"}, keyword_node::whole);
    EXPECT_EQ(a.documents.size(), 99U);
    EXPECT_FALSE(std::ranges::count(a.documents, left[150]) || std::ranges::count(a.documents, twin));
    std::uint64_t ambiguous = 0;
    index.net.each([&](node_id, keyword_node& n) { ambiguous += n.ambiguous(); });
    EXPECT_EQ(ambiguous, 1U);
}

TEST(Keywords, ChangesNothingForBadMessages) {
    index_of_words index;
    const auto here = index.about->home_of(word(0));
    keyword_node& victim = *index.net.find(here);
    const std::size_t had = victim.documents_with(word(0));
    auto filled = *bloom_filter::make({640, 1, layout_id::spread});
    for (std::uint64_t i = 0; i < 10'000; ++i) filled.insert(hasher()(i));
    mail::context c{.asker = 1, .ticket = 1, .part = 10, .words = {word(0)}, .sizes = {5}};
    std::vector<std::vector<std::byte>> bad{{}, {std::byte{0}}, {std::byte{99}}};
    auto all_ones = begin(mail::kind::filter);
    mail::put(all_ones, c);
    all_ones.push_back(std::byte{5});
    std::ranges::copy(to_bytes(filled), std::back_inserter(all_ones));
    bad.push_back(all_ones);
    auto cut = all_ones;
    cut.resize(cut.size() - 5);
    bad.push_back(cut);
    for (const auto kind : {mail::kind::names, mail::kind::verdict, mail::kind::doubt}) {
        auto unasked = begin(kind);
        mail::put(unasked, mail::step{1, 2, 3, 0});
        unasked.resize(unasked.size() + 17);
        bad.push_back(unasked);
    }
    auto foreign = begin(mail::kind::posting);
    mail::put(foreign, hasher()(1));
    foreign.push_back(std::byte{1});
    unsigned i = 0;
    while (index.about->home_of(word(i)) == here) ++i;
    mail::put(foreign, word(i));
    bad.push_back(foreign);
    c.word = 1;
    auto beyond = begin(mail::kind::start);
    mail::put(beyond, c);
    bad.push_back(beyond);
    for (const auto& message : bad) {
        const auto before_it = victim.refused();
        outbox out;
        victim.receive(1, message, 0, out);
        EXPECT_EQ(victim.refused(), before_it + 1) << &message - bad.data();
        EXPECT_TRUE(out.empty());
    }
    EXPECT_EQ(victim.documents_with(word(0)), had);
}

}  // namespace
}  // namespace posy::overlay
