#include "proxy/renewals.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace posy::proxy {
namespace {

renewals::address at(const std::string& text) { return boost::asio::ip::make_address(text); }

TEST(renewals, few_for_one_address_and_few_in_all) {
    const auto all = std::make_shared<renewals>();
    std::vector<std::shared_ptr<void>> places;
    for (std::size_t i = 0; i < renewals::most_of_one; ++i) places.push_back(all->enter(at("10.0.0.1")));
    for (const auto& each : places) EXPECT_TRUE(each);
    EXPECT_FALSE(all->enter(at("10.0.0.1")));
    EXPECT_TRUE(all->enter(at("10.0.0.2")));  // and given back at once
    for (std::size_t i = places.size(); i < renewals::most; ++i)
        places.push_back(all->enter(at("10.0.1." + std::to_string(i))));
    EXPECT_FALSE(all->enter(at("10.0.0.2")));
    places.pop_back();
    EXPECT_TRUE(all->enter(at("10.0.0.2")));
    places.clear();
    EXPECT_TRUE(all->enter(at("10.0.0.1")));
}

TEST(renewals, a_network_of_ipv6_is_one_address) {
    const auto all = std::make_shared<renewals>();
    std::vector<std::shared_ptr<void>> places;
    for (std::size_t i = 1; i <= renewals::most_of_one; ++i)
        places.push_back(all->enter(at("2001:db8::" + std::to_string(i))));
    EXPECT_FALSE(all->enter(at("2001:db8::ffff")));
    EXPECT_TRUE(all->enter(at("2001:db8:0:1::1")));
}

}  // namespace
}  // namespace posy::proxy
