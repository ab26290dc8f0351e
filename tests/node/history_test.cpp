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

}  // namespace
}  // namespace posy::node
