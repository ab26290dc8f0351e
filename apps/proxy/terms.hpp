// The terms on which requests are served: all settings of the proxy that may change while it runs.
//
// They are one value, replaced as a whole when the configuration is read again (proxy::take). A request
// keeps the terms that it began with to its end, so that it never sees half of a change: who may use the
// proxy and what the rules allow them belong together. What else should be reloaded belongs here: give it a
// member, made from the options by the constructor, and read it by `e.on`.
//
// Thread safety: immutable, but for what is remembered of parents that fail, which has its own.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "doorkeeper.hpp"
#include "http/networks.hpp"
#include "node/access.hpp"
#include "parents.hpp"
#include "sites.hpp"

namespace posy::proxy {

struct options;

struct terms {
    terms(const options&, doorkeeper, std::shared_ptr<const node::access>);

    doorkeeper doors;
    std::shared_ptr<const node::access> rights;  // of the node, which has the same configuration
    std::vector<std::uint16_t> connect_ports;
    http::networks destinations;
    proxy::sites sites;
    mutable proxy::parents parents;
    bool direct, also_forward, keep_siblings;
};

}  // namespace posy::proxy
