#include "node/history.hpp"

#include <gtest/gtest.h>

namespace posy::node {
namespace {

metrics figures(double a, std::optional<double> b = {}) {
    metrics m;
    m.gauge("a", "Always there", a);
    if (b) m.gauge("b", "Now and then", *b, metrics::label("peer", "p"));
    return m;
}

TEST(history, a_figure_that_was_not_there_is_null) {
    history h;
    h.sample(1000, figures(1));
    h.sample(3000, figures(2, 5));
    h.sample(5000, figures(3));
    EXPECT_EQ(h.json(),
              R"({"at":[1000,3000,5000],"series":{"a":[1.0,2.0,3.0],"b{peer=\"p\"}":[null,5.0,null]}})");
}

TEST(history, forgets_the_oldest_and_series_that_ended) {
    history h;
    h.sample(0, figures(0, 1));
    for (std::uint64_t i = 1; i < history::length; ++i) h.sample(i, figures(static_cast<double>(i)));
    EXPECT_NE(h.json().find("b{"), std::string::npos);
    h.sample(history::length, figures(7));
    EXPECT_EQ(h.json().find("b{"), std::string::npos);
    EXPECT_TRUE(h.json().starts_with(R"({"at":[1,2,)"));
}

TEST(history, goes_on_after_a_restart_with_a_gap) {
    history before, after;
    before.sample(10'000, figures(1, 5));
    before.sample(12'000, figures(2));
    ASSERT_TRUE(after.resume(before.json(), 20'000));
    after.sample(20'000, figures(3));
    EXPECT_EQ(after.json(), R"({"at":[10000,12000,12001,20000],"series":{"a":[1.0,2.0,null,3.0],)"
                            R"("b{peer=\"p\"}":[5.0,null,null,null]}})");
}

TEST(history, what_is_old_or_of_the_future_is_not_taken) {
    history before, later, earlier;
    before.sample(10'000, figures(1));
    before.sample(12'000, figures(2));
    ASSERT_TRUE(later.resume(before.json(), 10'001 + history::oldest_kept));
    EXPECT_TRUE(later.json().starts_with(R"({"at":[12000,12001])"));
    ASSERT_TRUE(earlier.resume(before.json(), 11'000));
    EXPECT_TRUE(earlier.json().starts_with(R"({"at":[])"));
}

TEST(history, a_damaged_one_changes_nothing) {
    history h;
    h.sample(5, figures(1));
    const auto kept = h.json();
    for (const auto* text : {"", "{", "[]", "{}", R"({"at":[1],"series":[]})", R"({"at":1,"series":{}})",
                             R"({"at":[2,1],"series":{}})", R"({"at":[-1],"series":{}})",
                             R"({"at":["x"],"series":{}})", R"({"at":[1],"series":{"a":[1,2]}})",
                             R"({"at":[1],"series":{"a":["x"]}})", R"({"at":[1],"series":{"a":7}})"})
        EXPECT_FALSE(h.resume(text, 10)) << text;
    std::string many = R"({"at":[0)";
    for (std::size_t i = 0; i <= history::length + 1; ++i) many += ",1";
    EXPECT_FALSE(h.resume(many + R"(],"series":{}})", 10));
    EXPECT_EQ(h.json(), kept);
}

}  // namespace
}  // namespace posy::node
