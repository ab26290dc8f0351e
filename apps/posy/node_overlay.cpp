// The options of `posy node` for an overlay.
#include <fmt/format.h>

#include <algorithm>
#include <boost/asio/ip/address.hpp>

#include "command_line.hpp"
#include "node/address_book.hpp"
#include "node_options.hpp"
#include "tool.hpp"

namespace posy::tool {

namespace {

using node::overlay_kind;

std::string address_of(std::string_view option, std::string_view text) {
    const auto address = node::canonical_address(text);
    if (!address)
        throw failure(fmt::format("{} {}: not the URL of a node; write http://HOST:PORT", option, text));
    return *address;
}

void need(overlay_kind wanted, overlay_kind given, std::string_view option, bool used) {
    if (used && wanted != given)
        throw failure(fmt::format("{} is for --overlay {}", option, name_of(wanted)));
}

void check_peers(const node::options& how) {
    const auto kind = how.overlay.kind;
    if (kind == overlay_kind::attenuated) {
        if (!how.peers_file.empty()) throw failure("--peers does not go with --overlay; use --peer");
        const auto foreign = [](const auto& each) { return each.kind == node::peer_kind::squid; };
        if (std::ranges::any_of(how.peers, foreign)) throw failure("a Squid cannot be part of an overlay");
    } else if (!how.peers.empty() || !how.peers_file.empty()) {
        throw failure(fmt::format("--peer does not go with --overlay {}; use {}", name_of(kind),
                                  kind == overlay_kind::tree     ? "--parent"
                                  : kind == overlay_kind::groups ? "--leader or --join"
                                                                 : "--join"));
    }
}

// By default the first address it listens on; one that stands for all addresses is nobody's.
std::string own_address(const node::options& how, const std::string& given) {
    if (!given.empty()) return address_of("--url", given);
    const bool plain = !how.listen.empty();
    const auto& at = plain ? how.listen.front() : how.listen_tls.front();
    boost::system::error_code failed;
    const auto address = boost::asio::ip::make_address(at.host, failed);
    if (!failed && address.is_unspecified())
        throw failure("--overlay needs the URL by which other nodes reach this one; name it with --url");
    return address_of("--listen", (plain ? "http://" : "https://") + at.text());
}

}  // namespace

void add_overlay_options(command_line& command, overlay_arguments& a) {
    command
        .add_option(
            "--overlay KIND", a.kind,
            "How nodes find out together who has a key: mesh, every node keeps every other node's "
            "summary; groups, leaders keep those of their members; tree, filters of what is below each "
            "child; attenuated, filters by distance for each --peer; none: follow the summaries of each "
            "--peer")
        .one_of(names_of<overlay_kind>())
        .shows_default();
    command.add_option("--url URL", a.url,
                       "URL by which the other nodes of the overlay reach this one, http://HOST:PORT "
                       "(default: its first address)");
    command.add_option("--parent URL", a.parents,
                       "Parent in the tree; further ones are asked when the parent is gone; may be repeated "
                       "(default: none; this node is the root)");
    command.add_option("--leader URL", a.leader,
                       "Leader of the group that this node joins (default: none; this node leads a group)");
    command.add_option(
        "--join URL", a.joins,
        "A member of the mesh to join, or for the leader of a group another leader; may be repeated "
        "(default: none; others join this one)");
    command
        .add_option(
            "--beat SECONDS", a.beat,
            "Seconds between two signs of life to a neighbour, or between two exchanges of gossip in "
            "the mean; a tree and attenuated filters give up a neighbour after four, a group after three")
        .between(0.05, 3600.0)
        .shows_default();
    command
        .add_option("--levels N", a.levels,
                    "Distance in hops that attenuated filters see; equal at all nodes")
        .between(1, 8)
        .shows_default();
    command
        .add_option("--lookup-time SECONDS", a.lookup_time,
                    "Seconds after which a lookup in groups, in a tree or by attenuated filters is given up")
        .between(0.1, 300.0)
        .shows_default();
}

void take_overlay(const overlay_arguments& a, node::options& how) {
    auto& overlay = how.overlay;
    overlay.kind = *named<overlay_kind>(a.kind);
    need(overlay_kind::tree, overlay.kind, "--parent", !a.parents.empty());
    need(overlay_kind::groups, overlay.kind, "--leader", !a.leader.empty());
    if (overlay.kind != overlay_kind::groups)
        need(overlay_kind::mesh, overlay.kind, "--join", !a.joins.empty());
    if (!a.leader.empty() && !a.joins.empty())
        throw failure(
            "--join is for leaders of groups; a member has a --leader, and hears of others from it");
    if (overlay.kind == overlay_kind::none) {
        if (!a.url.empty()) throw failure("--url is for nodes of an --overlay");
        return;
    }
    check_peers(how);
    if (how.rehash.count() > 0) throw failure("--rehash does not go with --overlay");
    overlay.address = own_address(how, a.url);
    for (const auto& each : a.parents) overlay.contacts.push_back(address_of("--parent", each));
    overlay.leads = a.leader.empty();
    if (!overlay.leads) overlay.contacts.push_back(address_of("--leader", a.leader));
    for (const auto& each : a.joins) overlay.contacts.push_back(address_of("--join", each));
    for (const auto& each : how.peers)
        overlay.contacts.push_back(
            address_of("--peer", (each.where.secure ? "https://" : "http://") + each.where.authority.text()));
    if (std::ranges::find(overlay.contacts, overlay.address) != overlay.contacts.end())
        throw failure(overlay.address + " is this node itself; name another");
    overlay.beat = milliseconds(a.beat);
    overlay.lookup_time = milliseconds(a.lookup_time);
    overlay.levels = a.levels;
}

}  // namespace posy::tool
