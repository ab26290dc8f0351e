#include "posy/http_cache/hop_by_hop.hpp"

#include <gtest/gtest.h>

#include "heads.hpp"

namespace posy::http_cache {
namespace {

fields without(fields all) {
    remove_hop_by_hop(all);
    return all;
}

TEST(hop_by_hop, removes_what_is_for_the_next_hop) {
    EXPECT_EQ(without(with({{"Host", "a"},
                            {"connection", "keep-alive"},
                            {"Keep-Alive", "timeout=5"},
                            {"Proxy-Connection", "close"},
                            {"Proxy-Authenticate", "Basic"},
                            {"Proxy-Authentication-Info", "x"},
                            {"Proxy-Authorization", "Basic x"},
                            {"TE", "trailers"},
                            {"Trailer", "X"},
                            {"Transfer-Encoding", "chunked"},
                            {"Upgrade", "h2c"},
                            {"Accept", "b"}})),
              with({{"Host", "a"}, {"Accept", "b"}}));
}

TEST(hop_by_hop, removes_what_connection_names) {
    EXPECT_EQ(without(with({{"X-One", "1"},
                            {"Connection", "x-one, close,, X-Missing"},
                            {"X-Two", "2"},
                            {"X-Three", "3"},
                            {"Connection", "X-TWO"},
                            {"x-one", "4"}})),
              with({{"X-Three", "3"}}));
}

TEST(hop_by_hop, some_fields_are_for_everyone) {
    const auto everyone = with({{"Host", "a"}, {"Content-Length", "5"}, {"Cache-Control", "private"}});
    auto named = everyone;
    named.add("Connection", "host, content-length, cache-control, authorization");
    named.add("Authorization", "x");
    EXPECT_EQ(without(named), everyone);
    EXPECT_EQ(without(everyone), everyone);
}

}  // namespace
}  // namespace posy::http_cache
