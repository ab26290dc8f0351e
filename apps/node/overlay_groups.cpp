// Groups (posy/overlay/group_node.hpp) as a node runs them. With a leader to turn to it is a member; without
// one it leads, and its contacts are other leaders.
#include <stdexcept>

#include "address_book.hpp"
#include "overlay_machine.hpp"
#include "posy/overlay/group_node.hpp"
#include "posy/overlay/letter_batch.hpp"

namespace posy::node {

namespace {

overlay::group_settings group_settings_of(const options& how, std::uint64_t now) {
    overlay::group_settings settings;
    settings.terms = link_terms_of(how, 1);
    settings.mesh = gossip_settings_of(how, now);
    settings.mesh.incarnation = settings.mesh.publish.first_generation = 0;  // a leader adds the time
    settings.beat = static_cast<std::uint64_t>(how.overlay.beat.count());
    settings.lookups = lookup_terms_of(how);
    return settings;
}

overlay::group_node make_node(const options& how, node_id self, std::uint64_t now, std::uint64_t secret) {
    const auto contacts = contacts_of(how);
    const auto leader = how.overlay.leads ? std::nullopt : std::optional(contacts.front());
    auto made = overlay::group_node::make(self, how.overlay.address, group_settings_of(how, now), leader,
                                          static_cast<std::uint32_t>(now / 1000), secret, now);
    if (!made) throw std::runtime_error("the filters of the group: " + made.error().text());
    for (const node_id each : contacts) made->add_contact(each);
    return std::move(*made);
}

class groups_machine final : public overlay_machine {
  public:
    groups_machine(const options& how, node_id self, std::uint64_t now, std::uint64_t secret)
        : hash_(how.hash, how.seed),
          bits_(link_terms_of(how, 1).geometry.bits),
          node_(make_node(how, self, now, secret)) {}

    void start(std::uint64_t, outbox&) override {}  // at the first tick
    void leave(std::uint64_t now, outbox& out) override { node_.leave(now, out); }

    void insert(std::string_view key, std::uint64_t now, outbox&) override {
        const digest d = hash_(key);
        if (twins_.enters(d, node_.has(d))) node_.insert(d, now);
    }
    void remove(std::string_view key, std::uint64_t now, outbox&) override {
        const digest d = hash_(key);
        if (twins_.leaves(d)) node_.remove(d, now);
    }
    std::optional<std::uint32_t> look_up(std::string_view key, std::uint64_t now, outbox& out) override {
        return node_.look_up(hash_(key), now, out);
    }
    std::vector<overlay_answer> take_answers() override { return shown(node_.take_answers()); }

    void receive(node_id from, byte_view message, std::uint64_t now, outbox& out) override {
        node_.receive(from, message, now, out);
    }
    void tick(std::uint64_t now, outbox& out) override { node_.tick(now, out); }
    std::optional<std::uint64_t> next_tick() const override { return node_.next_tick(); }
    std::vector<node_id> named_in(byte_view message) const override {
        return overlay::named_in_groups(message);
    }
    std::optional<std::string> address_of(node_id node) const override {
        const auto* leader = node_.leads() ? node_.mesh().directory().find(node) : nullptr;
        return leader ? std::optional(leader->address) : std::nullopt;
    }

    std::vector<overlay_neighbour> neighbours() const override {
        std::vector<overlay_neighbour> all;
        if (const auto leader = node_.leader()) all.push_back({*leader, "leader", state_of_leader()});
        for (const node_id each : node_.member_ids())
            all.push_back({each, "member", node_.differs(each) ? other_filters : "up"});
        if (!node_.leads()) return all;
        for (const node_id each : node_.mesh().directory().live())
            if (each != node_.mesh().self()) all.push_back({each, "other leader", "up", true});
        return all;
    }
    overlay_filters filters_of(const overlay_neighbour& n) const override {
        if (n.relation == "leader") return {};
        if (n.relation == "member") return {bits_, node_.ones_of(n.node)};
        const auto* filter = node_.mesh().directory().find(n.node)->summary.filter();
        return filter ? overlay_filters{filter->geometry().bits, filter->bits().ones()} : overlay_filters{};
    }
    overlay_counts counts() const override {
        const auto& c = node_.counted();
        overlay_counts all{c.bad_messages, c.strangers, c.refused + c.throttled, c.misled, c.lost};
        if (!node_.leads()) return all;
        const auto& m = node_.mesh().counts();
        all.damaged += m.bad_messages;
        all.strangers += m.unsolicited;
        all.refused += m.refused + m.throttled;
        all.lost += m.suspicions;
        return all;
    }

  private:
    // Its answer names an heir.
    std::string_view state_of_leader() const {
        if (node_.link().other_terms()) return other_filters;
        return node_.heir() ? "up" : "joining";
    }

    hasher hash_;
    std::uint64_t bits_;
    overlay::group_node node_;
    twin_counts twins_;
};

}  // namespace

std::unique_ptr<overlay_machine> make_groups(const options& how, node_id self, std::uint64_t now,
                                             std::uint64_t secret) {
    return std::make_unique<groups_machine>(how, self, now, secret);
}

}  // namespace posy::node
