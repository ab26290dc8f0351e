#include "terms.hpp"

#include <boost/asio/post.hpp>

#include "proxy.hpp"

namespace posy::proxy {

terms::terms(const options& how, doorkeeper keeper, std::shared_ptr<const node::access> who)
    : doors(std::move(keeper)),
      rights(std::move(who)),
      connect_ports(how.connect_ports),
      destinations(how.destinations),
      sites(how.sites),
      parents(how.parents),
      direct(how.direct),
      also_forward(how.also_forward),
      keep_siblings(how.keep_siblings) {}

// All that may fail.
proxy::prepared proxy::prepare(const options& next) const {
    return {next, doorkeeper(next.rules, next.users, &terms_.get()->doors),
            access_log::open(next.access_log)};
}

void proxy::take(prepared next) {
    const bool had_rules = terms_.get()->doors.book() != nullptr;
    terms_.set(std::make_shared<const terms>(next.how, std::move(next.doors), node_->rights()));
    if (had_rules && next.how.rules.empty())
        node_->how().log->warning(
            "there are no rules any more: everyone whom --allow-client admits may use the proxy");
    tell_doubts();
    for (const auto& each : server_.workers())
        boost::asio::post(each->context,
                          [each = each.get(), where = http::destinations(next.how.destinations)] {
                              each->client.confine(where);
                          });
    log_.use(next.how.access_log, next.how.log_format, std::move(next.log));
}

}  // namespace posy::proxy
