#include "posy/packet/multicast_router.hpp"

#include "posy/plan.hpp"

namespace posy::packets {

result<multicast_router> multicast_router::make(const settings& s) {
    if (s.interfaces == 0 || (s.upstream && *s.upstream >= s.interfaces))
        return error::invalid("a router needs an interface, and upstream must be one of them");
    const auto plan = choose({.items = s.groups, .rate = s.rate, .layout = layout_id::spread});
    if (!plan) return plan.error();
    std::vector<counting_filter> filters;
    for (std::size_t i = 0; i < s.interfaces; ++i) {
        auto filter = counting_filter::make(plan->geometry(hash_family::fold64, {s.hash}), s.counter_bits);
        if (!filter) return filter.error();
        filters.push_back(std::move(*filter));
    }
    return multicast_router(s, std::move(filters));
}

bool multicast_router::join(std::size_t interface, byte_view group) {
    if (interface >= filters_.size()) return refuse();
    counting_filter& filter = filters_[interface];
    if (static_cast<double>(filter.items()) >= settings_.most_joins * static_cast<double>(settings_.groups))
        return refuse();
    filter.insert(filter.hash()(group));
    return true;
}

bool multicast_router::leave(std::size_t interface, byte_view group) {
    if (interface >= filters_.size()) return refuse();
    counting_filter& filter = filters_[interface];
    return filter.remove(filter.hash()(group)) || refuse();
}

std::vector<std::size_t> multicast_router::forward(byte_view group,
                                                   std::optional<std::size_t> arrived) const {
    const digest d = filters_[0].hash()(group);
    std::vector<std::size_t> leaves;
    for (std::size_t i = 0; i < filters_.size(); ++i) {
        if (i != arrived && (i == settings_.upstream || filters_[i].may_contain(d))) leaves.push_back(i);
    }
    return leaves;
}

}  // namespace posy::packets
